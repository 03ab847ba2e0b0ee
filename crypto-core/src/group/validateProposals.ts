/** Proposal list validation (RFC 9420 section 12.2, with the rules of 12.1 for single proposals). */
import { findRepeated } from '../codec/order.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import type { Sender } from '../structs/framedContent.ts';
import type { LeafIndex } from '../structs/indices.ts';
import type { UnverifiedKeyPackage } from '../structs/keyPackage.ts';
import {
  LISTED_PROPOSALS,
  type Proposal,
  type ProposalType,
  ProposalTypeValue,
  type ReInitProposal,
} from '../structs/proposal.ts';
import { MLS10 } from '../structs/protocolVersion.ts';
import { type PreSharedKeyId, writePreSharedKeyId } from '../structs/psk.ts';
import type { WireFormat } from '../structs/wireFormat.ts';
import type { CipherSuite } from '../suite/suites.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import { blaming, type CommittedProposal, refuse } from './blame.ts';
import {
  applyChanges,
  type ChangedMember,
  type ProposalEffects,
  type ProposedChanges,
} from './proposalList.ts';
import {
  checkAppData,
  checkCapabilities,
  checkExternalSenders,
  checkLeafAuthenticity,
  checkLeafForm,
  type LeafContext,
} from './validateLeaf.ts';
import { verifyKeyPackage } from './verifyKeyPackage.ts';

const FROM_EXTERNAL: ReadonlySet<ProposalType> = new Set<ProposalType>([
  'add',
  'remove',
  'psk',
  'reinit',
  'group-context-extensions',
  'app-data-update',
]);

const IN_EXTERNAL: ReadonlySet<ProposalType> = new Set<ProposalType>([
  'external-init',
  'remove',
  'psk',
  'app-data-update',
  'self-remove',
]);

/**
 * PROP-02 (section 12.1.8): a sender outside the group proposes only what it may.
 * @throws CryptoError 'invalid-proposal'
 */
export function checkProposalSender(proposal: Proposal, sender: Sender): void {
  const allowed =
    sender.type === 'external'
      ? FROM_EXTERNAL.has(proposal.type)
      : sender.type !== 'new-member-proposal' || proposal.type === 'add';
  if (!allowed) refuse('PROP-02', `${proposal.type} from ${sender.type}`);
}

/**
 * PROP-15 (extensions draft, section 6.3): a SelfRemove is sent in the open, for those who join from outside.
 * @throws CryptoError 'invalid-proposal'
 */
export function checkProposalFraming(proposal: Proposal, wireFormat: WireFormat): void {
  if (proposal.type === 'self-remove' && wireFormat !== 'public-message') {
    refuse('PROP-15', `SelfRemove as a ${wireFormat}`);
  }
}

/**
 * PROP-13 (section 12.2): every member that processes the commit supports its types of proposals.
 * @param tree before the changes
 * @throws CryptoError 'invalid-proposal'
 */
export function checkProposalTypes(
  tree: RatchetTree,
  proposals: readonly CommittedProposal[],
  removed: readonly ChangedMember[],
): void {
  for (const type of LISTED_PROPOSALS) {
    const proposed = proposals.find(({ proposal }) => proposal.type === type);
    if (proposed === undefined) continue;
    const gone = new Set(removed.map(({ leafIndex }) => leafIndex));
    for (const { leafIndex, leaf } of tree.members()) {
      if (gone.has(leafIndex) || leaf.capabilities.proposals.includes(ProposalTypeValue[type])) continue;
      blaming(proposed.ref, () => refuse('PROP-13', `leaf ${leafIndex} doesn't support ${type}`));
    }
  }
}

/**
 * PROP-03 (section 12.1.4): a PSK's usage fits an ordinary commit, and its nonce has Nh bytes.
 * PROP-04 (section 12.2): no PSK occurs twice.
 */
function checkPsks(suite: CipherSuite, proposals: readonly CommittedProposal[], continues: boolean): void {
  const psks = proposals.flatMap(({ proposal, ref }) =>
    proposal.type === 'psk' ? [{ id: proposal.psk, ref }] : [],
  );
  for (const { id, ref } of psks) blaming(ref, () => checkPsk(suite, id, continues));
  const repeated = findRepeated(psks.map(({ id }) => encode(id, writePreSharedKeyId)));
  if (repeated !== null) blaming(psks[repeated[1]]?.ref ?? null, () => refuse('PROP-04', 'PSK occurs twice'));
}

function checkPsk(suite: CipherSuite, id: PreSharedKeyId, continues: boolean): void {
  if (id.type === 'resumption' && id.usage !== 'application' && !continues)
    refuse('PROP-03', `PSK of usage ${id.usage}`);
  if (id.nonce.length !== suite.kdf.Nh) refuse('PROP-03', 'length of a PSK nonce');
}

function count(proposals: readonly CommittedProposal[], type: ProposalType): number {
  return proposals.filter((item) => item.proposal.type === type).length;
}

/**
 * The rules for a list, before it is applied.
 * PROP-05: the committer neither updates nor removes itself by a proposal.
 * PROP-07: no leaf is updated or removed twice.
 * PROP-08: at most one GroupContextExtensions.
 * PROP-09: a ReInit stands alone, and does not lower the protocol version (section 12.1.5).
 * PROP-10: no ExternalInit.
 * PROP-14 (extensions draft, section 6.3): a SelfRemove is there by reference.
 * @throws CryptoError 'invalid-proposal'
 */
function checkMemberList(proposals: readonly CommittedProposal[], committer: LeafIndex): void {
  let changesExtensions = false;
  for (const { proposal, sender, ref } of proposals) {
    blaming(ref, () => {
      checkProposalSender(proposal, sender);
      if (proposal.type === 'reinit') checkReInit(proposal, proposals);
      if (proposal.type === 'external-init') refuse('PROP-10', 'external init by a member');
      if (proposal.type === 'group-context-extensions') {
        if (changesExtensions) refuse('PROP-08', 'extensions replaced twice');
        changesExtensions = true;
      }
    });
  }
  checkTargets(proposals, committer);
}

function checkTargets(proposals: readonly CommittedProposal[], committer: LeafIndex | null): void {
  const changed = new Set<LeafIndex>();
  for (const { proposal, sender, ref } of proposals) {
    blaming(ref, () => {
      if (proposal.type === 'self-remove' && ref === null) refuse('PROP-14', 'SelfRemove by value');
      const target = targetOf(proposal, sender);
      if (target === null) return;
      if (target === committer) refuse('PROP-05', `${proposal.type} of the committer`);
      if (changed.has(target)) refuse('PROP-07', `leaf ${target} changed twice`);
      changed.add(target);
    });
  }
}

/** Returns the leaf that a proposal updates or removes. */
function targetOf(proposal: Proposal, sender: Sender): LeafIndex | null {
  if (proposal.type === 'remove') return proposal.removed;
  const isOwn = proposal.type === 'update' || proposal.type === 'self-remove';
  return isOwn && sender.type === 'member' ? sender.leafIndex : null;
}

function checkReInit(proposal: ReInitProposal, all: readonly CommittedProposal[]): void {
  if (all.length > 1) refuse('PROP-09', 'reinit beside other proposals');
  if (proposal.version < MLS10) refuse('PROP-09', 'reinit to an older version');
}

/**
 * The rules for the list of an external commit (sections 12.2 and 12.4.3.2).
 * EXT-01: exactly one ExternalInit.
 * EXT-02: at most one Remove.
 * EXT-03: nothing else but PreSharedKeys, and SelfRemoves and AppDataUpdates of the extensions draft.
 * EXT-04: nothing by reference but SelfRemoves.
 * PROP-07 and PROP-14 hold here too.
 * @throws CryptoError 'invalid-proposal'
 */
function checkExternalList(proposals: readonly CommittedProposal[]): void {
  if (count(proposals, 'external-init') !== 1) refuse('EXT-01', 'not exactly one external init');
  if (count(proposals, 'remove') > 1) refuse('EXT-02', 'more than one remove');
  for (const { proposal, ref } of proposals) {
    if (!IN_EXTERNAL.has(proposal.type)) refuse('EXT-03', proposal.type);
    if (ref !== null && proposal.type !== 'self-remove') refuse('EXT-04', `${proposal.type} by reference`);
  }
  checkTargets(proposals, null);
}

/**
 * @param continues for the own first commit of a group that continues another, which `checkContinuation` checks
 * @throws CryptoError 'invalid-proposal'
 */
export function validateProposalList(
  suite: CipherSuite,
  proposals: readonly CommittedProposal[],
  committer: LeafIndex | 'external',
  continues = false,
): void {
  if (committer === 'external') checkExternalList(proposals);
  else checkMemberList(proposals, committer);
  checkPsks(suite, proposals, continues);
}

/**
 * Verifies each leaf that the changes bring into the group, then makes the changes in `tree`. `checkTreeLeaves` has to
 * check the tree as a whole afterwards: it also finds an Add of a client that is in the group already.
 * @param tree the caller's to change, and to drop after an error
 * @throws CryptoError 'invalid-proposal', 'invalid-key-package', 'invalid-leaf', 'bad-signature', 'invalid-credential'
 */
export function applyProposals(
  context: LeafContext,
  tree: RatchetTree,
  changes: ProposedChanges<UnverifiedKeyPackage>,
): ProposalEffects {
  if (changes.changesExtensions || changes.changesAppData) {
    blaming(changes.extensionsRef, () => checkNewExtensions(context, tree, changes));
  }
  const adds = changes.adds.map(({ keyPackage, number, ref }) => ({
    keyPackage: blaming(ref, () => verifyKeyPackage(context, keyPackage), number),
    number,
    ref,
  }));
  for (const { leafIndex, before, after, ref } of changes.updated) {
    blaming(ref, () => {
      checkLeafForm(context, after, leafIndex, 'update', before);
      checkLeafAuthenticity(context, after, leafIndex, before);
    });
  }
  return applyChanges(tree, { ...changes, adds });
}

/**
 * PROP-11 (sections 12.1.7 and 13.4): every member that stays supports the new extensions. Leaves that are added or
 * updated are checked against them as all new leaves are.
 * PROP-12 (section 5.3.1): new external senders are acceptable to the application.
 * @param tree before the changes
 * @throws CryptoError 'invalid-proposal', 'invalid-credential'
 */
function checkNewExtensions(
  context: LeafContext,
  tree: RatchetTree,
  { removed, updated, changesExtensions }: Pick<ProposalEffects, 'removed' | 'updated' | 'changesExtensions'>,
): void {
  checkAppData(context);
  const changed = new Set([...removed, ...updated].map(({ leafIndex }) => leafIndex));
  for (const { leafIndex, leaf } of tree.members()) {
    if (changed.has(leafIndex)) continue;
    try {
      checkCapabilities(context, leaf);
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code !== 'invalid-leaf') throw error;
      refuse('PROP-11', `leaf ${leafIndex}: ${error.message}`);
    }
  }
  if (changesExtensions) checkExternalSenders(context, 'PROP-12');
}
