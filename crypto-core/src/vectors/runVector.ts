import { CryptoError } from '../errors.ts';
import * as mls from './mls.ts';
import * as primitives from './primitives.ts';
import { Differs, VectorCase } from './vectorCase.ts';

const runners = {
  'chacha20-poly1305': primitives.chacha20Poly1305Case,
  'xchacha20-poly1305': primitives.xchacha20Poly1305Case,
  x25519: primitives.x25519Case,
  ed25519: primitives.ed25519Case,
  'hmac-sha256': primitives.hmacCase,
  'hkdf-sha256': primitives.hkdfCase,
  'x-wing': primitives.xwingCase,
  hpke: primitives.hpkeCase,
  'crypto-basics': mls.cryptoBasicsCase,
  deserialization: mls.deserializationCase,
  'tree-math': mls.treeMathCase,
  'tree-validation': mls.treeValidationCase,
  'key-schedule': mls.keyScheduleCase,
  'psk-secret': mls.pskSecretCase,
  'transcript-hashes': mls.transcriptHashesCase,
  'secret-tree': mls.secretTreeCase,
  'message-protection': mls.messageProtectionCase,
  welcome: mls.welcomeCase,
  'passive-client': mls.passiveClientCase,
} as const;

/**
 * The formats of cases that are run: those of C2SP's Wycheproof, whose case has the fields of its group too, of the
 * X-Wing draft, of HPKE (RFC 9180) with X-Wing, and of the MLS working group (RFC 9420), from `crypto-basics` on.
 */
export type VectorFormat = keyof typeof runners;

/** Every format, in the order from what is simple to what is made of it. */
export const vectorFormats = Object.keys(runners) as readonly VectorFormat[];

/**
 * Runs one published case: whatever it names is computed, and compared with what was published; what has to be refused is.
 * @param vector the case as its file has it, parsed from JSON
 * @returns null where everything is as it was published; otherwise the field that differs, or the code of a refusal that
 * was not due: 'malformed', too, where the case is not of its format
 */
export function runVector(format: VectorFormat, vector: unknown): string | null {
  try {
    runners[format](new VectorCase(vector));
    return null;
  } catch (error) {
    if (error instanceof Differs) return error.message;
    if (error instanceof CryptoError) return error.code;
    throw error;
  }
}
