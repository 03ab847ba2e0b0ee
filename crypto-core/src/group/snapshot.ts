/**
 * Groups at rest, in two kinds of record: the epoch record, written once an epoch, and those of the secret tree, of
 * which a message changes one. All of them are secret: seal them.
 */
import { toHex } from '../bytes.ts';
import { NO_LIMITS } from '../codec/limits.ts';
import { decode, type Reader } from '../codec/reader.ts';
import { encode, type Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { SecretTree } from '../schedule/secretTree.ts';
import { readGroupContext, writeGroupContext } from '../structs/groupContext.ts';
import { type NodeIndex, toLeafIndex, toNodeIndex } from '../structs/indices.ts';
import { readRatchetTreeNodes, writeRatchetTreeNodes } from '../structs/node.ts';
import { type ReInitProposal, readProposal, writeProposal } from '../structs/proposal.ts';
import { getSuite } from '../suite/suites.ts';
import { RatchetTree } from '../tree/ratchetTree.ts';
import { assertNotEnded, type Group, type GroupStatus, type RetainedSecrets } from './state.ts';

/** The first, which is read still, ends with the tree. */
const RECORD_VERSION = 2;
const RECORD_VERSION_1 = 1;

const STATUSES: readonly GroupStatus[] = ['active', 'removed', 'reinitialized'];

/** Finds a record of the secret tree by its key, among those that `takeChanges` had put. */
export type SecretTreeLookup = (key: string) => Uint8Array | undefined;

function writeSecrets(w: Writer, secrets: RetainedSecrets): void {
  w.opaque(secrets.senderDataSecret);
  w.opaque(secrets.exporterSecret);
  w.opaque(secrets.externalSecret);
  w.opaque(secrets.confirmationKey);
  w.opaque(secrets.membershipKey);
  w.opaque(secrets.resumptionPsk);
  w.opaque(secrets.epochAuthenticator);
  w.opaque(secrets.initSecret);
}

function readSecrets(r: Reader): RetainedSecrets {
  return {
    senderDataSecret: r.opaque(),
    exporterSecret: r.opaque(),
    externalSecret: r.opaque(),
    confirmationKey: r.opaque(),
    membershipKey: r.opaque(),
    resumptionPsk: r.opaque(),
    epochAuthenticator: r.opaque(),
    initSecret: r.opaque(),
  };
}

function writePrivateKey(w: Writer, [node, key]: readonly [NodeIndex, Uint8Array]): void {
  w.u32(node);
  w.opaque(key);
}

function readPrivateKey(r: Reader): [NodeIndex, Uint8Array] {
  return [toNodeIndex(r.u32()), r.opaque()];
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  );
}

function writePendingUpdate(w: Writer, [encryptionKey, privateKey]: readonly [string, Uint8Array]): void {
  w.opaque(fromHex(encryptionKey));
  w.opaque(privateKey);
}

function readPendingUpdate(r: Reader): [string, Uint8Array] {
  return [toHex(r.opaque()), r.opaque()];
}

/**
 * Encodes everything of an epoch (RFC 9420 section 8) but the secret tree. The record grows with the group, so it is written once
 * an epoch. It holds secrets: seal it.
 * @throws CryptoError 'usage' after `endGroup`
 */
export function saveEpoch(group: Group): Uint8Array {
  assertNotEnded(group);
  return encode(
    group,
    (w) => {
      w.u8(RECORD_VERSION);
      w.u8(STATUSES.indexOf(group.status));
      writeGroupContext(w, group.context);
      w.u32(group.ownLeaf);
      w.opaque(group.signaturePrivateKey);
      writeSecrets(w, group.secrets);
      w.opaque(group.interimTranscriptHash);
      w.opaque(group.confirmationTag);
      w.vector([...group.privateKeys], writePrivateKey);
      w.vector([...group.pendingUpdates], writePendingUpdate);
      writeRatchetTreeNodes(w, group.tree.toNodes());
      w.optional(group.reInit ?? null, writeProposal);
      w.vector([...(group.exporterTree ?? [])], writePrivateKey);
    },
    4096,
  );
}

/**
 * Restores a group in its epoch (RFC 9420 section 8). Records of the secret tree (section 9) are looked up when they are needed.
 * @param epochRecord from `saveEpoch`; the caller has checked its authenticity
 * @throws CryptoError 'malformed', 'unsupported' for a record of another version, 'invalid-tree'
 */
export function loadGroup(epochRecord: Uint8Array, lookup: SecretTreeLookup): Group {
  const fields = decode(epochRecord.slice(), readEpochRecord, NO_LIMITS);
  const suite = getSuite(fields.context.cipherSuite);
  const secretTree = SecretTree.fromRecords(suite, fields.tree.leafCount, lookup);
  return { suite, ...fields, secretTree };
}

/** @throws CryptoError 'malformed' */
function readReInit(r: Reader): ReInitProposal {
  const proposal = readProposal(r);
  if (proposal.type !== 'reinit') throw new CryptoError('malformed', 'no ReInit in an epoch record');
  return proposal;
}

function readLater(r: Reader): Pick<Group, 'reInit' | 'exporterTree'> {
  const reInit = r.optional(readReInit);
  const nodes = r.unlimitedVector(readPrivateKey);
  // There always is one secret at least, so that none means that the epoch was stored without them before.
  return {
    ...(reInit === null ? {} : { reInit }),
    ...(nodes.length === 0 ? {} : { exporterTree: new Map(nodes) }),
  };
}

function readEpochRecord(r: Reader) {
  const version = r.u8();
  if (version !== RECORD_VERSION && version !== RECORD_VERSION_1) {
    throw new CryptoError('unsupported', `epoch record ${version}`);
  }
  const status = STATUSES[r.u8()];
  if (status === undefined) throw new CryptoError('malformed', 'status in an epoch record');
  return {
    status,
    context: readGroupContext(r),
    ownLeaf: toLeafIndex(r.u32()),
    signaturePrivateKey: r.opaque(),
    secrets: readSecrets(r),
    interimTranscriptHash: r.opaque(),
    confirmationTag: r.opaque(),
    privateKeys: new Map(r.unlimitedVector(readPrivateKey)),
    pendingUpdates: new Map(r.unlimitedVector(readPendingUpdate)),
    tree: RatchetTree.fromOwnRecord(readRatchetTreeNodes(r)),
    ...(version === RECORD_VERSION_1 ? {} : readLater(r)),
  };
}

/**
 * Returns the same epoch with the secret tree (RFC 9420 section 9) that the records have now, after another tab has moved it.
 * @throws CryptoError 'usage' after `endGroup`
 */
export function reloadSecretTree(group: Group, lookup: SecretTreeLookup): Group {
  assertNotEnded(group);
  return { ...group, secretTree: SecretTree.fromRecords(group.suite, group.tree.leafCount, lookup) };
}
