/** The leaf by which this client stands in a group (RFC 9420 section 7.2). */
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import { type Capabilities } from '../structs/capabilities.ts';
import { CredentialTypeValue } from '../structs/credential.ts';
import type { Extension } from '../structs/extension.ts';
import { type LeafNode, type LeafNodeContent, type LeafPosition, leafNodeTBS } from '../structs/leafNode.ts';
import { MLS10 } from '../structs/protocolVersion.ts';
import { signWithLabel } from '../suite/labels.ts';
import type { CipherSuite, CipherSuiteId } from '../suite/suites.ts';
import { areReadable } from './components.ts';

/** The choices of an application for its own leaves. */
export interface LeafOptions {
  /**
   * IANA numbers of what the application understands beyond this implementation: types of extensions, of proposals and
   * of credentials.
   */
  readonly capabilities?: Partial<Pick<Capabilities, 'extensions' | 'proposals' | 'credentials'>>;
  /** The leaf's extensions, such as `applicationIdExtension`. Their types are added to the capabilities. */
  readonly extensions?: readonly Extension[];
  /** Puts a GREASE extension beside them (RFC 9420 section 13.5), and one into the KeyPackage that brings the leaf. */
  readonly grease?: boolean;
}

const SUPPORTED_SUITES: readonly CipherSuiteId[] = [0xf04d, 0x004d, 0x0003];

/** Draws a value that section 13.5 reserves, so that peers keep on ignoring values they don't know. */
function grease(env: Env): number {
  const nibble = (env.random(1)[0] ?? 0) % 15;
  return (nibble << 12) | 0x0a00 | (nibble << 4) | 0x0a;
}

/** Makes an extension that everybody has to ignore, for the extensions of a GroupInfo (RFC 9420 section 13.5). */
export function greaseExtension(env: Env): Extension {
  const type = grease(env);
  const length = (env.random(1)[0] ?? 0) % 16;
  return { type, data: env.random(length) };
}

/** The capabilities of this implementation and its application, with a GREASE value in each list that takes one. */
export function ownCapabilities(
  env: Env,
  { capabilities = {}, extensions = [] }: LeafOptions = {},
): Capabilities {
  const own = new Set([...(capabilities.extensions ?? []), ...extensions.map(({ type }) => type)]);
  return {
    versions: [MLS10],
    cipherSuites: [...SUPPORTED_SUITES, grease(env)],
    extensions: [...own, grease(env)],
    proposals: [...(capabilities.proposals ?? []), grease(env)],
    credentials: [CredentialTypeValue.basic, ...(capabilities.credentials ?? []), grease(env)],
  };
}

/** Returns the fields of an own leaf that the application chooses. */
export function ownLeafContent(
  env: Env,
  options: LeafOptions = {},
): Pick<LeafNodeContent, 'capabilities' | 'extensions'> {
  const extensions = ownExtensions(env, options.extensions, options);
  return { capabilities: ownCapabilities(env, { ...options, extensions }), extensions };
}

/**
 * Returns the extensions that an own leaf or KeyPackage is to have.
 * @throws CryptoError 'usage' for one that others would refuse (LEAF-12, KP-05)
 */
export function ownExtensions(
  env: Env,
  given: readonly Extension[] = [],
  options?: LeafOptions,
): readonly Extension[] {
  if (!areReadable(given)) throw new CryptoError('usage', 'an extension that nobody could read');
  return [...given, ...greaseOf(env, options)];
}

/** Returns a GREASE extension where the application wants one. */
function greaseOf(env: Env, options: LeafOptions = {}): Extension[] {
  return options.grease === true ? [greaseExtension(env)] : [];
}

export function signLeaf(
  suite: CipherSuite,
  content: LeafNodeContent,
  position: LeafPosition | null,
  signaturePrivateKey: Uint8Array,
): LeafNode {
  const tbs = leafNodeTBS(content, position);
  return { ...content, signature: signWithLabel(suite, signaturePrivateKey, 'LeafNodeTBS', tbs) };
}
