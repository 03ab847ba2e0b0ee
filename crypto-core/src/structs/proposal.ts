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

/** Changes the data of one component in the GroupContext's app_data_dictionary (draft-ietf-mls-extensions-10, 4.7). */
export type AppDataUpdateProposal =
  | {
      readonly type: 'app-data-update';
      readonly op: 'update';
      readonly componentId: number;
      /** For the component's own logic, which makes the new data of it. */
      readonly update: Uint8Array;
    }
  | { readonly type: 'app-data-update'; readonly op: 'remove'; readonly componentId: number };

/** Removes its sender (draft-ietf-mls-extensions-10, 6.3). */
export interface SelfRemoveProposal {
  readonly type: 'self-remove';
}

/** RFC 9420 section 12.1, and two of draft-ietf-mls-extensions-10. */
export type Proposal =
  | AddProposal
  | UpdateProposal
  | RemoveProposal
  | PskProposal
  | ReInitProposal
  | ExternalInitProposal
  | GroupContextExtensionsProposal
  | AppDataUpdateProposal
  | SelfRemoveProposal;

export type ProposalType = Proposal['type'];

export const ProposalTypeValue = {
  add: 1,
  update: 2,
  remove: 3,
  psk: 4,
  reinit: 5,
  'external-init': 6,
  'group-context-extensions': 7,
  'app-data-update': 8,
  'self-remove': 0x000a,
} as const satisfies Record<ProposalType, number>;

/** The types that a leaf has to list in its capabilities, because RFC 9420 doesn't define them (section 7.2). */
export const LISTED_PROPOSALS: ReadonlySet<ProposalType> = new Set<ProposalType>([
  'app-data-update',
  'self-remove',
]);

const OperationValue = { update: 1, remove: 2 } as const;

function readAppDataUpdate(r: Reader): AppDataUpdateProposal {
  const componentId = r.u16();
  const op = r.u8();
  switch (op) {
    case OperationValue.update:
      return { type: 'app-data-update', op: 'update', componentId, update: r.opaque() };
    case OperationValue.remove:
      return { type: 'app-data-update', op: 'remove', componentId };
    default:
      throw new CryptoError('malformed', `AppDataUpdate operation ${op}`);
  }
}

function writeAppDataUpdate(w: Writer, proposal: AppDataUpdateProposal): void {
  w.u16(proposal.componentId);
  w.u8(OperationValue[proposal.op]);
  if (proposal.op === 'update') w.opaque(proposal.update);
}

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
    case ProposalTypeValue['app-data-update']:
      return readAppDataUpdate(r);
    case ProposalTypeValue['self-remove']:
      return { type: 'self-remove' };
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
    case 'app-data-update':
      return writeAppDataUpdate(w, proposal);
    case 'self-remove':
      return;
  }
}
