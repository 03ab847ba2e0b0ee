import { randomBytes } from 'node:crypto';
import { Proof, proofNonceLifetime } from '../../contract/index.ts';
import type { Db } from '../db/tables.ts';
import { ApiError } from '../errors.ts';
import { opaque } from '../opaque.ts';
import { findProofKeys, insertNonce, takeNonce } from '../repositories/proofs.ts';
import type { LoginThrottle } from './loginThrottle.ts';
import type { Session } from './session.ts';
import { isSignedBy, signContent } from './signedContent.ts';

/** A request as far as a proof signs it. */
export interface ProvenRequest {
  /** See operationOf of the contract. */
  readonly operation: string;
  /** SHA-256 of the body. */
  readonly bodyHash: Buffer;
  /** The header's value; undefined without one. */
  readonly header: string | undefined;
  /** The client's address as rate limits count it. */
  readonly address: string;
}

export interface ProofNonce {
  readonly nonce: Buffer;
  readonly version: number;
  readonly passwordKey: boolean;
}

/**
 * Proofs, which an operation on the account takes beside the session: signatures by a key that only the password or the
 * recovery key gives, so that a stolen token doesn't move the account.
 */
export interface Proofs {
  issueNonce(session: Session): Promise<ProofNonce>;
  /**
   * Uses up the nonce, whether or not the proof is good.
   * @throws ApiError proof-required (none was sent, or the account has no such key), proof-refused, rate-limited
   */
  check(session: Session, request: ProvenRequest): Promise<void>;
}

export interface ProofDependencies {
  readonly db: Db;
  readonly clock: () => number;
  readonly loginThrottle: LoginThrottle;
}

export function createProofs({ db, clock, loginThrottle }: ProofDependencies): Proofs {
  return {
    async issueNonce(session) {
      const nonce = randomBytes(32);
      const { password, version } = await findProofKeys(db, session.userId);
      const now = clock();
      await insertNonce(db, { nonce, sessionId: session.id, expiresAt: now + proofNonceLifetime, now });
      return { nonce, version, passwordKey: password !== null };
    },

    async check(session, { operation, bodyHash, header, address }) {
      if (header === undefined) throw proofRequired();
      const proof = readProof(header);
      if (proof === null) throw proofRefused();
      const nonce = Buffer.from(proof.nonce, 'base64url');
      if (!(await takeNonce(db, { nonce, sessionId: session.id, now: clock() }))) throw proofRefused();
      const keys = await findProofKeys(db, session.userId);
      const proofKey = keys[proof.key];
      if (proofKey === null) throw proofRequired();
      if (proof.replaces !== keys.version) throw proofRefused();
      const claims = { operation, bodyHash, replaces: proof.replaces, session: session.id, nonce };
      const signature = Buffer.from(proof.signature, 'base64url');
      // Counted like log-ins, so that whoever holds a token can't guess the password by proofs; and by session, so that
      // their guesses don't keep the person from removing them. A session of one's own takes the password.
      const attempt = { subject: session.id, kind: 'proof', address, loginProof: undefined } as const;
      const matches = await loginThrottle.attempt(attempt, async () =>
        isSignedBy(proofKey, proofMessage(claims), signature),
      );
      if (!matches) throw proofRefused();
    },
  };
}

interface ProofClaims {
  readonly operation: string;
  readonly bodyHash: Uint8Array;
  readonly replaces: number;
  readonly session: string;
  readonly nonce: Uint8Array;
}

const label = 'SinettiAccountProof';
const version = 1;

/** The bytes that a proof signs: see Proof of the contract. */
export function proofMessage({ operation, bodyHash, replaces, session, nonce }: ProofClaims): Buffer {
  const replaced = Buffer.alloc(4);
  replaced.writeUInt32BE(replaces);
  const content = Buffer.concat([
    Buffer.of(version),
    opaque(Buffer.from(operation)),
    opaque(bodyHash),
    replaced,
    opaque(Buffer.from(session)),
    opaque(nonce),
  ]);
  return signContent(label, content);
}

function readProof(header: string): Proof | null {
  try {
    const parsed = Proof.safeParse(JSON.parse(Buffer.from(header, 'base64url').toString()));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

const proofRequired = () => new ApiError('proof-required', 'Confirm this with your password.');
const proofRefused = () => new ApiError('proof-refused', 'The password was not confirmed. Please try again.');
