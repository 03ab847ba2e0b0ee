import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Extension, readExtensions, writeExtensions } from './extension.ts';
import { type LeafIndex, toLeafIndex } from './indices.ts';
import { readKeyPackage, type UnverifiedKeyPackage, writeKeyPackage } from './keyPackage.ts';
import { type LeafNode, readLeafNode, writeLeafNode } from './leafNode.ts';
import { type PreSharedKeyId, readPreSharedKeyId, writePreSharedKeyId } from './psk.ts';

export interface AddProposal {
  readonly type: 'add';
  readonly keyPackage: UnverifiedKeyPackage;
}

export interface UpdateProposal {
  readonly type: 'update';
  readonly leafNode: LeafNode;
}

export interface RemoveProposal {
  readonly type: 'remove';
  readonly removed: LeafIndex;
}

export interface PskProposal {
  readonly type: 'psk';
  readonly psk: PreSharedKeyId;
}

export interface ReInitProposal {
  readonly type: 'reinit';
  readonly groupId: Uint8Array;
  /** Any version: reinitialisation may move a group to a protocol that this code does not speak. */
  readonly version: number;
  readonly cipherSuite: number;
  readonly extensions: readonly Extension[];
}

export interface ExternalInitProposal {
  readonly type: 'external-init';
  readonly kemOutput: Uint8Array;
}

export interface GroupContextExtensionsProposal {
  readonly type: 'group-context-extensions';
  readonly extensions: readonly Extension[];
}

/** RFC 9420 section 12.1. */
export type Proposal =
  | AddProposal
  | UpdateProposal
  | RemoveProposal
  | PskProposal
  | ReInitProposal
  | ExternalInitProposal
  | GroupContextExtensionsProposal;

export type ProposalType = Proposal['type'];

export const ProposalTypeValue = {
  add: 1,
  update: 2,
  remove: 3,
  psk: 4,
  reinit: 5,
  'external-init': 6,
  'group-context-extensions': 7,
} as const satisfies Record<ProposalType, number>;

/** @throws CryptoError 'unsupported' for a proposal type whose layout is unknown. */
export function readProposal(r: Reader): Proposal {
  const type = r.u16();
  switch (type) {
    case ProposalTypeValue.add:
      return { type: 'add', keyPackage: readKeyPackage(r) };
    case ProposalTypeValue.update:
      return { type: 'update', leafNode: readLeafNode(r) };
    case ProposalTypeValue.remove:
      return { type: 'remove', removed: toLeafIndex(r.u32()) };
    case ProposalTypeValue.psk:
      return { type: 'psk', psk: readPreSharedKeyId(r) };
    case ProposalTypeValue.reinit:
      return {
        type: 'reinit',
        groupId: r.groupId(),
        version: r.u16(),
        cipherSuite: r.u16(),
        extensions: readExtensions(r),
      };
    case ProposalTypeValue['external-init']:
      return { type: 'external-init', kemOutput: r.opaque() };
    case ProposalTypeValue['group-context-extensions']:
      return { type: 'group-context-extensions', extensions: readExtensions(r) };
    default:
      throw new CryptoError('unsupported', `proposal type ${type}`);
  }
}

export function writeProposal(w: Writer, proposal: Proposal): void {
  w.u16(ProposalTypeValue[proposal.type]);
  switch (proposal.type) {
    case 'add':
      return writeKeyPackage(w, proposal.keyPackage);
    case 'update':
      return writeLeafNode(w, proposal.leafNode);
    case 'remove':
      return w.u32(proposal.removed);
    case 'psk':
      return writePreSharedKeyId(w, proposal.psk);
    case 'reinit':
      w.opaque(proposal.groupId);
      w.u16(proposal.version);
      w.u16(proposal.cipherSuite);
      return writeExtensions(w, proposal.extensions);
    case 'external-init':
      return w.opaque(proposal.kemOutput);
    case 'group-context-extensions':
      return writeExtensions(w, proposal.extensions);
  }
}
