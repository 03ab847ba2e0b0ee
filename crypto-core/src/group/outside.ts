/** Proposals of those who are not in the group (RFC 9420 section 12.1.8). */
import { EMPTY } from '../bytes.ts';
import { signFramedContent } from '../framing/contentAuth.ts';
import type { FramedContent, Sender } from '../structs/framedContent.ts';
import { encodeMlsMessage } from '../structs/mlsMessage.ts';
import type { Proposal } from '../structs/proposal.ts';
import { type CipherSuiteId, getSuite } from '../suite/suites.ts';
import { decodeKeyPackage, type SignatureKeyPair } from './keyPackage.ts';
import { type ProposalRequest, proposalOf } from './propose.ts';

export interface OutsideProposalArgs {
  readonly suite: CipherSuiteId;
  readonly groupId: Uint8Array;
  /** The epoch that the group is in: a commit of another can't refer to the proposal. */
  readonly epoch: bigint;
  readonly signatureKey: SignatureKeyPair;
  readonly authenticatedData?: Uint8Array;
}

function publicProposal(args: OutsideProposalArgs, sender: Sender, proposal: Proposal): Uint8Array {
  const suite = getSuite(args.suite);
  const { groupId, epoch, authenticatedData = EMPTY } = args;
  const content: FramedContent = {
    groupId,
    epoch,
    sender,
    authenticatedData,
    content: { type: 'proposal', proposal },
  };
  // The signature of somebody outside doesn't cover the GroupContext, which they needn't know (section 6.1).
  const unknown = {
    cipherSuite: args.suite,
    groupId,
    epoch,
    treeHash: EMPTY,
    confirmedTranscriptHash: EMPTY,
    extensions: [],
  };
  const signature = signFramedContent(
    suite,
    'public-message',
    content,
    unknown,
    args.signatureKey.privateKey,
  );
  return encodeMlsMessage({
    wireFormat: 'public-message',
    publicMessage: { content, auth: { signature, confirmationTag: null }, membershipTag: null },
  });
}

/**
 * Makes a proposal of an external sender: an entry of the group's external_senders, by its place in the list (RFC 9420
 * section 12.1.8).
 * @returns MLSMessage(PublicMessage)
 * @throws CryptoError 'malformed' for what is no KeyPackage, 'unsupported' for another suite, or a KeyPackage beyond the limits,
 * 'usage' for a number that doesn't fit its field
 */
export function proposeFromOutside(
  args: OutsideProposalArgs & {
    readonly senderIndex: number;
    readonly proposal: Exclude<ProposalRequest, { readonly type: 'update' | 'self-remove' }>;
  },
): Uint8Array {
  return publicProposal(args, { type: 'external', senderIndex: args.senderIndex }, proposalOf(args.proposal));
}

/**
 * Makes a newcomer's proposal to be added (RFC 9420 section 12.1.8).
 * @param args with the newcomer's MLSMessage(KeyPackage), and its signature key
 * @returns MLSMessage(PublicMessage)
 * @throws CryptoError 'malformed' for what is no KeyPackage, 'unsupported' for another suite, or a KeyPackage beyond the limits
 */
export function proposeOwnAdd(args: OutsideProposalArgs & { readonly keyPackage: Uint8Array }): Uint8Array {
  const proposal: Proposal = { type: 'add', keyPackage: decodeKeyPackage(args.keyPackage) };
  return publicProposal(args, { type: 'new-member-proposal' }, proposal);
}
