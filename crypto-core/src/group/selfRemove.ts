/** SelfRemoves that an external joiner is given beside a GroupInfo (draft-ietf-mls-extensions-10, section 6.3). */
import type { Limits } from '../codec/limits.ts';
import { CryptoError } from '../errors.ts';
import { assertSameEpoch, verifyFramedContent } from '../framing/contentAuth.ts';
import type { AuthenticatedContent } from '../structs/framedContent.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import { decodeMlsMessage } from '../structs/mlsMessage.ts';
import type { CipherSuite } from '../suite/suites.ts';
import type { RatchetTree } from '../tree/ratchetTree.ts';
import { checkAuthenticatedData } from './components.ts';
import type { StoredProposal } from './proposalList.ts';
import { proposalRefOf } from './propose.ts';
import { senderLeaf } from './senders.ts';

/** Verifies SelfRemoves; made by `verifyingSelfRemoves`, so that applications without them don't carry its code. */
export type SelfRemoves = (
  suite: CipherSuite,
  context: GroupContext,
  tree: RatchetTree,
  limits?: Limits,
) => StoredProposal[];

/**
 * Makes the `selfRemoves` of `joinExternal`, which verifies and commits them (extensions draft, section 6.3). Nothing is thrown
 * before.
 * @param messages MLSMessage(PublicMessage) of each SelfRemove of the epoch that the GroupInfo describes
 */
export function verifyingSelfRemoves(messages: readonly Uint8Array[]): SelfRemoves {
  return (suite, context, tree, limits) =>
    messages.map((bytes) => verifySelfRemove(suite, context, tree, bytes, limits));
}

/**
 * Verifies a SelfRemove by its member's signature. Its membership tag isn't checked, because only members can: a joiner
 * has no other way to know that it is of this epoch (FRAME-01).
 * @throws CryptoError 'malformed', 'unsupported', 'wrong-group', 'wrong-epoch', 'unknown-sender', 'bad-signature'
 */
function verifySelfRemove(
  suite: CipherSuite,
  context: GroupContext,
  tree: RatchetTree,
  bytes: Uint8Array,
  limits?: Limits,
): StoredProposal {
  const message = decodeMlsMessage(bytes.slice(), limits);
  if (message.wireFormat !== 'public-message') throw new CryptoError('malformed', 'not a SelfRemove');
  const { content, auth } = message.publicMessage;
  const { sender, content: body } = content;
  if (sender.type !== 'member' || body.type !== 'proposal' || body.proposal.type !== 'self-remove') {
    throw new CryptoError('malformed', 'not a SelfRemove');
  }
  assertSameEpoch(content, context);
  checkAuthenticatedData(context, content);
  const authenticated: AuthenticatedContent = { wireFormat: 'public-message', content, auth };
  const { signatureKey } = senderLeaf(tree, sender.leafIndex);
  const verified = verifyFramedContent(suite, authenticated, context, signatureKey);
  return { ref: proposalRefOf(suite, verified), epoch: context.epoch, proposal: body.proposal, sender };
}
