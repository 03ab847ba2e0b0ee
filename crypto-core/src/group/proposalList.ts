/** The proposals of a commit, their sum, and their effects on a tree (RFC 9420 sections 12.3 and 12.4). */
import { equalBytes, toHex } from '../bytes.ts';
import { type Limits, NO_LIMITS } from '../codec/limits.ts';
import { CryptoError } from '../errors.ts';
import type { Commit, ProposalOrRef } from '../structs/commit.ts';
import { type Extension, ExtensionTypeValue, findExtension } from '../structs/extension.ts';
import type { Sender } from '../structs/framedContent.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { KeyPackage, UnverifiedKeyPackage } from '../structs/keyPackage.ts';
import type { LeafNode } from '../structs/leafNode.ts';
import { type Proposal, ProposalTypeValue, type ReInitProposal } from '../structs/proposal.ts';
import type { PreSharedKeyId } from '../structs/psk.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import type { AppDataUpdates } from './appData.ts';
import { blaming, type CommittedProposal, refuse } from './blame.ts';
import { findRequiredCapabilities } from './extensions.ts';
import type { Group } from './state.ts';
import type { LeafProposals } from './validateLeaf.ts';

/** Bytes of a ProposalRef: SHA-256, in both suites. */
const REF_LENGTH = 32;

/** A proposal that was sent on its own and whose message was verified in this epoch: a commit can refer to it. */
export interface StoredProposal {
  /** ProposalRef (section 5.2). */
  readonly ref: Uint8Array;
  readonly epoch: bigint;
  readonly proposal: Proposal;
  readonly sender: Sender;
}

export function byValue(proposal: Proposal): ProposalOrRef {
  return { type: 'proposal', proposal };
}

export function byReference({ ref }: StoredProposal): ProposalOrRef {
  return { type: 'reference', reference: ref };
}

/**
 * Finds the proposals of a commit.
 * PROP-01 (section 12.4): each proposal that the commit refers to is known, and of this epoch.
 * @throws CryptoError 'missing-proposal'
 */
export function resolveProposals(
  commit: Commit,
  committer: Sender,
  stored: readonly StoredProposal[],
  epoch: bigint,
): CommittedProposal[] {
  const known = new Map(
    stored.filter((item) => item.epoch === epoch).map((item) => [toHex(item.ref), item] as const),
  );
  return commit.proposals.map((item) => {
    if (item.type === 'proposal') return { proposal: item.proposal, sender: committer, ref: null };
    const { reference } = item;
    // A reference of another length is none, and may be a megabyte.
    const found = reference.length === REF_LENGTH ? known.get(toHex(reference)) : undefined;
    if (found === undefined) {
      const name = toHex(reference.subarray(0, REF_LENGTH));
      throw new CryptoError('missing-proposal', `PROP-01: ${name}`, reference);
    }
    return { proposal: found.proposal, sender: found.sender, ref: found.ref };
  });
}

/** An Add, with the ProposalRef if the commit refers to it. */
export interface ProposedAdd<K extends UnverifiedKeyPackage> {
  readonly keyPackage: K;
  /** Its place in the commit's list, from 0. */
  readonly number: number;
  readonly ref: Uint8Array | null;
}

export interface AddedMember extends ProposedAdd<KeyPackage> {
  readonly leafIndex: LeafIndex;
}

export interface ChangedMember {
  readonly leafIndex: LeafIndex;
  /** The leaf as it was before the commit. */
  readonly before: LeafNode;
}

export interface RemovedMember extends ChangedMember {
  /** The member has asked for it, by a SelfRemove. */
  readonly bySelf: boolean;
}

export interface UpdatedMember extends ChangedMember {
  readonly after: LeafNode;
  readonly ref: Uint8Array | null;
}

/** The changes that a list of proposals asks for, with its KeyPackages as they were received or as verified. */
export interface ProposedChanges<K extends UnverifiedKeyPackage> {
  /** The GroupContext's extensions after the commit. */
  readonly extensions: readonly Extension[];
  /** A proposal replaces them. */
  readonly changesExtensions: boolean;
  /** AppDataUpdates change one of them. */
  readonly changesAppData: boolean;
  /** ProposalRef of the first proposal that changes them, if the commit refers to it. */
  readonly extensionsRef: Uint8Array | null;
  readonly adds: readonly ProposedAdd<K>[];
  readonly removed: readonly RemovedMember[];
  readonly updated: readonly UpdatedMember[];
  /** In the order of the list. */
  readonly psks: readonly PreSharedKeyId[];
  readonly externalInit: Uint8Array | null;
  readonly reInit: ReInitProposal | null;
}

/** The changes that a valid list of proposals has made to a tree, and the rest of what it asks for. */
export interface ProposalEffects extends Omit<ProposedChanges<KeyPackage>, 'adds'> {
  readonly added: readonly AddedMember[];
}

function leafBefore(tree: RatchetTree, leafIndex: LeafIndex): ChangedMember {
  const before = leafIndex < tree.leafCount ? tree.leaf(leafIndex) : null;
  if (before === null) throw new CryptoError('invalid-proposal', `PROP-06: leaf ${leafIndex} is blank`);
  return { leafIndex, before };
}

/**
 * COMP-03 (extensions draft, section 4.7): where the group requires AppDataUpdate, no other proposal changes app_data_dictionary.
 * @param before the GroupContext's extensions, which say what is required
 * @param after those of a GroupContextExtensions proposal
 * @throws CryptoError 'invalid-proposal'
 */
function checkDictionaryKept(before: readonly Extension[], after: readonly Extension[]): void {
  const required = findRequiredCapabilities(before, NO_LIMITS)?.proposals ?? [];
  if (!required.includes(ProposalTypeValue['app-data-update'])) return;
  const [old, renewed] = [before, after].map((list) =>
    findExtension(list, ExtensionTypeValue.appDataDictionary),
  );
  const isKept = old === undefined || renewed === undefined ? old === renewed : equalBytes(old, renewed);
  if (!isKept) refuse('COMP-03', 'app_data_dictionary is replaced');
}

/**
 * Sums up a list that `validateProposalList` accepted.
 * PROP-06 (sections 12.1.2 and 12.1.3): a leaf that is removed or updated is not blank.
 * @param tree of the epoch that the commit ends
 * @param appData for the data that AppDataUpdates change (COMP-02, COMP-03 and COMP-04)
 * @throws CryptoError 'invalid-proposal', 'malformed', 'unsupported', and what `appData` throws
 */
export function proposedChanges(
  tree: RatchetTree,
  extensionsBefore: readonly Extension[],
  proposals: readonly CommittedProposal[],
  appData?: AppDataUpdates,
  limits?: Limits,
): ProposedChanges<UnverifiedKeyPackage> {
  let extensions = extensionsBefore;
  let changesExtensions = false;
  let changesAppData = false;
  let extensionsRef: Uint8Array | null = null;
  let externalInit: Uint8Array | null = null;
  let reInit: ReInitProposal | null = null;
  const adds: ProposedAdd<UnverifiedKeyPackage>[] = [];
  const removed: RemovedMember[] = [];
  const updated: UpdatedMember[] = [];
  const psks: PreSharedKeyId[] = [];
  for (const [number, { proposal, sender, ref }] of proposals.entries()) {
    switch (proposal.type) {
      case 'add':
        adds.push({ keyPackage: proposal.keyPackage, number, ref });
        break;
      case 'update':
        if (sender.type !== 'member')
          throw new CryptoError('usage', 'an update from outside was let through');
        updated.push({
          ...blaming(ref, () => leafBefore(tree, sender.leafIndex)),
          after: proposal.leafNode,
          ref,
        });
        break;
      case 'remove':
        removed.push({ ...blaming(ref, () => leafBefore(tree, proposal.removed)), bySelf: false });
        break;
      case 'self-remove':
        if (sender.type !== 'member')
          throw new CryptoError('usage', 'a SelfRemove from outside was let through');
        removed.push({ ...blaming(ref, () => leafBefore(tree, sender.leafIndex)), bySelf: true });
        break;
      case 'psk':
        psks.push(proposal.psk);
        break;
      case 'reinit':
        reInit = proposal;
        break;
      case 'external-init':
        externalInit = proposal.kemOutput;
        break;
      case 'group-context-extensions':
        blaming(ref, () => checkDictionaryKept(extensionsBefore, proposal.extensions));
        extensions = proposal.extensions;
        changesExtensions = true;
        extensionsRef = ref;
        break;
      case 'app-data-update':
        changesAppData = true;
        extensionsRef ??= ref;
        break;
    }
  }
  if (changesAppData) {
    if (appData === undefined) refuse('COMP-04', 'component data is unknown to the application');
    extensions = appData(extensions, proposals, limits);
  }
  return {
    extensions,
    changesExtensions,
    changesAppData,
    extensionsRef,
    adds,
    removed,
    updated,
    psks,
    externalInit,
    reInit,
  };
}

/** Makes the changes in a tree that is the caller's to change: updates, then removes, then adds (section 12.3). */
export function applyChanges(tree: RatchetTree, changes: ProposedChanges<KeyPackage>): ProposalEffects {
  const { adds, ...others } = changes;
  for (const { leafIndex, after } of changes.updated) tree.updateLeaf(leafIndex, after);
  for (const { leafIndex } of changes.removed) tree.removeLeaf(leafIndex);
  if (changes.removed.length > 0) tree.truncate();
  const added = adds.map((add) => ({ ...add, leafIndex: tree.addLeaf(add.keyPackage.leafNode) }));
  return { ...others, added };
}

/** Returns how a group stands after a commit that doesn't remove its member. */
export function statusAfter({ reInit }: ProposalEffects): Pick<Group, 'status' | 'reInit'> {
  return reInit === null ? { status: 'active' } : { status: 'reinitialized', reInit };
}

/** Lists the leaves that a commit sets. */
export function freshLeaves(
  { added, updated }: ProposalEffects,
  committer: LeafIndex,
): ReadonlySet<LeafIndex> {
  return new Set([...[...added, ...updated].map(({ leafIndex }) => leafIndex), committer]);
}

/** Lists the ProposalRefs of the leaves that were added or updated by reference. */
export function leafProposals(effects: ProposalEffects): LeafProposals {
  const refs = [...effects.added, ...effects.updated].flatMap(({ leafIndex, ref }) =>
    ref === null ? [] : [[leafIndex, ref] as const],
  );
  return new Map(refs);
}
