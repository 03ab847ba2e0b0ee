/** KeyPackages (RFC 9420 section 10), by which a client can be added to groups while it is away. */
import { EMPTY, equalBytes } from '../bytes.ts';
import type { Limits } from '../codec/limits.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import type { Env } from '../env.ts';
import { CryptoError } from '../errors.ts';
import type { Credential } from '../structs/credential.ts';
import { type Extension, ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import {
  type KeyPackageContent,
  keyPackageTBS,
  type OwnKeyPackage,
  type UnverifiedKeyPackage,
  writeKeyPackage,
} from '../structs/keyPackage.ts';
import type { Lifetime } from '../structs/leafNode.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../structs/mlsMessage.ts';
import { makeKeyPackageRef, signWithLabel } from '../suite/labels.ts';
import { type CipherSuiteId, getSuite } from '../suite/suites.ts';
import { findAppData, LAST_RESORT_COMPONENT } from './components.ts';
import { type LeafOptions, ownExtensions, ownLeafContent, signLeaf } from './ownLeaf.ts';

/** An Ed25519 key pair; the private key is its 32-byte seed. */
export interface SignatureKeyPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** Makes a device signature key (RFC 9420 section 5.1.2). It fits every suite here, since they share Ed25519. */
export function createSignatureKeyPair(env: Env): SignatureKeyPair {
  return getSuite(0xf04d).signatureKeyPair(env.random(32));
}

/** A KeyPackage with its private halves. The signature key is the device's and is kept apart. */
export interface KeyPackageBundle {
  readonly keyPackage: OwnKeyPackage;
  /** MLSMessage(KeyPackage), to be published. */
  readonly bytes: Uint8Array;
  /** KeyPackageRef (section 5.2), by which a Welcome names the KeyPackage. */
  readonly ref: Uint8Array;
  readonly initPrivateKey: Uint8Array;
  readonly leafPrivateKey: Uint8Array;
}

export interface CreateKeyPackageArgs {
  readonly suite: CipherSuiteId;
  readonly credential: Credential;
  readonly signatureKey: SignatureKeyPair;
  /** Seconds since the Unix epoch. */
  readonly lifetime: Lifetime;
  readonly leaf?: LeafOptions;
  /** The KeyPackage's own extensions. */
  readonly extensions?: readonly Extension[];
  /** Marks the KeyPackage as the one to be handed out again and again when no other is left. */
  readonly lastResort?: boolean;
}

const RECORD_VERSION = 1;

/**
 * Makes a KeyPackage with fresh init and encryption keys (RFC 9420 section 10).
 * @throws CryptoError 'unsupported' for another suite, 'malformed' for a signature key of another length, 'usage' for a
 * capability or a type of extension that is no u16, and for an extension that others could not read
 */
export function createKeyPackage(args: CreateKeyPackageArgs, env: Env): KeyPackageBundle {
  const suite = getSuite(args.suite);
  const init = suite.kem.generateKeyPair(env);
  const leaf = suite.kem.generateKeyPair(env);
  const leafNode = signLeaf(
    suite,
    {
      encryptionKey: leaf.publicKey,
      signatureKey: args.signatureKey.publicKey,
      credential: args.credential,
      ...ownLeafContent(env, args.leaf),
      source: { type: 'key-package', lifetime: args.lifetime },
    },
    null,
    args.signatureKey.privateKey,
  );
  const lastResort = args.lastResort === true ? [{ type: ExtensionTypeValue.lastResort, data: EMPTY }] : [];
  const extensions = ownExtensions(env, [...(args.extensions ?? []), ...lastResort], args.leaf);
  const content: KeyPackageContent = { cipherSuite: suite.id, initKey: init.publicKey, leafNode, extensions };
  const signature = signWithLabel(
    suite,
    args.signatureKey.privateKey,
    'KeyPackageTBS',
    keyPackageTBS(content),
  );
  return bundleOf({ ...content, signature }, init.privateKey, leaf.privateKey);
}

/** Bundles a KeyPackage as an own one: its private keys were made together with it, or compared with it. */
function bundleOf(
  keyPackage: UnverifiedKeyPackage,
  initPrivateKey: Uint8Array,
  leafPrivateKey: Uint8Array,
): KeyPackageBundle {
  return {
    keyPackage: keyPackage as OwnKeyPackage,
    bytes: encodeMlsMessage({ wireFormat: 'key-package', keyPackage }),
    ref: keyPackageRef(keyPackage),
    initPrivateKey,
    leafPrivateKey,
  };
}

/**
 * Computes the KeyPackageRef by which a Welcome names a KeyPackage (RFC 9420 section 5.2).
 * @returns 32 bytes
 * @throws CryptoError 'unsupported' when the package is of another suite
 */
export function keyPackageRef(keyPackage: UnverifiedKeyPackage): Uint8Array {
  return makeKeyPackageRef(getSuite(keyPackage.cipherSuite), encode(keyPackage, writeKeyPackage));
}

/**
 * Returns whether a KeyPackage may be used again and again: the last_resort_key_package extension marks it, or the component
 * that later versions of the extensions draft have in its place (section 6.4, `LAST_RESORT_COMPONENT`).
 * @throws CryptoError 'malformed', 'unsupported' for a dictionary of components that can't be read
 */
export function isLastResort(keyPackage: UnverifiedKeyPackage): boolean {
  return (
    findExtension(keyPackage.extensions, ExtensionTypeValue.lastResort) !== undefined ||
    findAppData(keyPackage.extensions).some(
      ({ componentId }) => componentId === LAST_RESORT_COMPONENT.componentId,
    )
  );
}

/**
 * Decodes an MLSMessage(KeyPackage) (RFC 9420 section 10). Nothing of it is verified before it is added to a group.
 * @throws CryptoError 'malformed' when the message is something else, 'unsupported' beyond a limit, or for a version that isn't
 * spoken here
 */
export function decodeKeyPackage(bytes: Uint8Array, limits?: Limits): UnverifiedKeyPackage {
  const message = decodeMlsMessage(bytes.slice(), limits);
  if (message.wireFormat !== 'key-package') {
    throw new CryptoError('malformed', `${message.wireFormat} instead of a key package`);
  }
  return message.keyPackage;
}

/** Encodes the private record of a bundle: its MLSMessage(KeyPackage) (RFC 9420 section 10) and private keys. Seal it. */
export function encodeKeyPackageBundle(bundle: KeyPackageBundle): Uint8Array {
  return encode(bundle, (w, { bytes, initPrivateKey, leafPrivateKey }) => {
    w.u8(RECORD_VERSION);
    w.opaque(bytes);
    w.opaque(initPrivateKey);
    w.opaque(leafPrivateKey);
  });
}

/**
 * Restores a bundle, checking that its private keys are those of the package (RFC 9420 section 10).
 * @throws CryptoError 'malformed', 'unsupported', or 'missing-key' when the halves don't fit each other
 */
export function decodeKeyPackageBundle(record: Uint8Array): KeyPackageBundle {
  const fields = decode(record.slice(), (r) => {
    const version = r.u8();
    if (version !== RECORD_VERSION) throw new CryptoError('unsupported', `key package record ${version}`);
    return { bytes: r.opaque(), initPrivateKey: r.opaque(), leafPrivateKey: r.opaque() };
  });
  return restoreKeyPackageBundle(
    decodeKeyPackage(fields.bytes),
    fields.initPrivateKey,
    fields.leafPrivateKey,
  );
}

/** @throws CryptoError 'missing-key' when a private key is not the one of the package, 'unsupported' */
export function restoreKeyPackageBundle(
  keyPackage: UnverifiedKeyPackage,
  initPrivateKey: Uint8Array,
  leafPrivateKey: Uint8Array,
): KeyPackageBundle {
  const { kem } = getSuite(keyPackage.cipherSuite);
  if (
    !equalBytes(kem.publicKey(initPrivateKey), keyPackage.initKey) ||
    !equalBytes(kem.publicKey(leafPrivateKey), keyPackage.leafNode.encryptionKey)
  ) {
    throw new CryptoError('missing-key', 'private keys of another key package');
  }
  return bundleOf(keyPackage, initPrivateKey, leafPrivateKey);
}
