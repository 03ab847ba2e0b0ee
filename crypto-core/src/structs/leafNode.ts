import type { Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Capabilities, readCapabilities, writeCapabilities } from './capabilities.ts';
import { type Credential, readCredential, writeCredential } from './credential.ts';
import { type Extension, readExtensions, writeExtensions } from './extension.ts';
import type { LeafIndex } from './indices.ts';

/** Seconds since the Unix epoch, both ends included (RFC 9420 section 7.2). */
export interface Lifetime {
  readonly notBefore: bigint;
  readonly notAfter: bigint;
}

export type LeafNodeSource =
  | { readonly type: 'key-package'; readonly lifetime: Lifetime }
  | { readonly type: 'update' }
  | { readonly type: 'commit'; readonly parentHash: Uint8Array };

const SourceValue = { 'key-package': 1, update: 2, commit: 3 } as const;

/** The part of a leaf that its owner chooses: LeafNodeTBS without the place in the tree. */
export interface LeafNodeContent {
  readonly encryptionKey: Uint8Array;
  readonly signatureKey: Uint8Array;
  readonly credential: Credential;
  readonly capabilities: Capabilities;
  readonly source: LeafNodeSource;
  readonly extensions: readonly Extension[];
}

/** RFC 9420 section 7.2. */
export interface LeafNode extends LeafNodeContent {
  readonly signature: Uint8Array;
}

export function readLifetime(r: Reader): Lifetime {
  return { notBefore: r.u64(), notAfter: r.u64() };
}

export function writeLifetime(w: Writer, lifetime: Lifetime): void {
  w.u64(lifetime.notBefore);
  w.u64(lifetime.notAfter);
}

function readSource(r: Reader): LeafNodeSource {
  const type = r.u8();
  switch (type) {
    case SourceValue['key-package']:
      return { type: 'key-package', lifetime: readLifetime(r) };
    case SourceValue.update:
      return { type: 'update' };
    case SourceValue.commit:
      return { type: 'commit', parentHash: r.opaque() };
    default:
      throw new CryptoError('malformed', `leaf node source ${type}`);
  }
}

function writeSource(w: Writer, source: LeafNodeSource): void {
  w.u8(SourceValue[source.type]);
  if (source.type === 'key-package') writeLifetime(w, source.lifetime);
  else if (source.type === 'commit') w.opaque(source.parentHash);
}

export function readLeafNode(r: Reader): LeafNode {
  return {
    encryptionKey: r.opaque(),
    signatureKey: r.opaque(),
    credential: readCredential(r),
    capabilities: readCapabilities(r),
    source: readSource(r),
    extensions: readExtensions(r),
    signature: r.opaque(),
  };
}

function writeLeafNodeContent(w: Writer, leaf: LeafNodeContent): void {
  w.opaque(leaf.encryptionKey);
  w.opaque(leaf.signatureKey);
  writeCredential(w, leaf.credential);
  writeCapabilities(w, leaf.capabilities);
  writeSource(w, leaf.source);
  writeExtensions(w, leaf.extensions);
}

export function writeLeafNode(w: Writer, leaf: LeafNode): void {
  writeLeafNodeContent(w, leaf);
  w.opaque(leaf.signature);
}

/** The place of an `update` or `commit` leaf, which such a leaf signs too. */
export interface LeafPosition {
  readonly groupId: Uint8Array;
  readonly leafIndex: LeafIndex;
}

/**
 * Encodes LeafNodeTBS, the bytes a leaf's signature covers under the label "LeafNodeTBS".
 * @param position ignored for a `key-package` leaf, which belongs to no group yet.
 */
export function leafNodeTBS(leaf: LeafNodeContent, position: LeafPosition | null): Uint8Array {
  if (leaf.source.type !== 'key-package' && position === null) {
    throw new CryptoError('usage', `a leaf of source ${leaf.source.type} is signed for a position`);
  }
  return encode(leaf, (w) => {
    writeLeafNodeContent(w, leaf);
    if (leaf.source.type === 'key-package' || position === null) return;
    w.opaque(position.groupId);
    w.u32(position.leafIndex);
  });
}
