/** Authentication of framed content (RFC 9420 section 6.1), common to public and private messages. */
import { equalBytes } from '../bytes.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import {
  type AuthenticatedContent,
  expectedLength,
  type FramedContent,
  type FramedContentAuthData,
  writeFramedContentTBS,
} from '../structs/framedContent.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import type { Own, Verified } from '../structs/trusted.ts';
import type { WireFormat } from '../structs/wireFormat.ts';
import { withSignContent } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';

/** Content whose signature (and membership tag, where there is one) held, or that this client signed itself. */
export type VerifiedContent = Verified<AuthenticatedContent> | Own<AuthenticatedContent>;

/**
 * Finds the key that a sender's signature must hold under.
 * @throws CryptoError 'unknown-sender' when the sender's leaf is blank or outside the tree, or this kind of sender may
 * not send here
 */
export type SignatureKeyOf = (content: FramedContent) => Uint8Array;

/** Encodes what a signature covers, SignContent over FramedContentTBS, for the time of a call. */
function withSignedBytes<R>(
  wireFormat: WireFormat,
  content: FramedContent,
  context: GroupContext,
  take: (signed: Uint8Array) => R,
): R {
  const write = (w: Writer): void => writeFramedContentTBS(w, wireFormat, content, context);
  return withSignContent('FramedContentTBS', content, write, take, expectedLength(content));
}

/**
 * Signs content for a wire format. A commit's confirmation tag comes after: its transcript hash covers the signature.
 * @param context the GroupContext of the sender's epoch
 */
export function signFramedContent(
  suite: CipherSuite,
  wireFormat: WireFormat,
  content: FramedContent,
  context: GroupContext,
  privateKey: Uint8Array,
): Uint8Array {
  return withSignedBytes(wireFormat, content, context, (bytes) => suite.sign(privateKey, bytes));
}

/**
 * FRAME-03 (section 6.1): the signature holds under the key of the sender.
 * @param context the GroupContext of the sender's epoch
 * @throws CryptoError 'bad-signature'
 */
export function verifyFramedContent(
  suite: CipherSuite,
  authenticated: AuthenticatedContent,
  context: GroupContext,
  publicKey: Uint8Array,
): Verified<AuthenticatedContent> {
  const { auth, content, wireFormat } = authenticated;
  const holds = withSignedBytes(wireFormat, content, context, (bytes) =>
    suite.verify(publicKey, bytes, auth.signature),
  );
  if (!holds) throw new CryptoError('bad-signature', 'FRAME-03: framed content');
  return authenticated as Verified<AuthenticatedContent>;
}

/**
 * Frames this client's own content, which needs no verification.
 * @param auth made with `signFramedContent` in the same epoch
 */
export function ownContent(
  wireFormat: WireFormat,
  content: FramedContent,
  auth: FramedContentAuthData,
): Own<AuthenticatedContent> {
  return { wireFormat, content, auth } as Own<AuthenticatedContent>;
}

/**
 * FRAME-01 (section 6): the message is of this group and epoch.
 * @throws CryptoError 'wrong-group' or 'wrong-epoch'
 */
export function assertSameEpoch(
  message: { readonly groupId: Uint8Array; readonly epoch: bigint },
  context: GroupContext,
): void {
  if (!equalBytes(message.groupId, context.groupId))
    throw new CryptoError('wrong-group', 'FRAME-01: group id');
  if (message.epoch !== context.epoch) {
    throw new CryptoError('wrong-epoch', `FRAME-01: ${message.epoch} in epoch ${context.epoch}`);
  }
}

/**
 * FRAME-02 (section 6.1): external senders and new members send only what is theirs to send.
 * @throws CryptoError 'malformed'
 */
export function assertSenderMaySend({ sender, content }: FramedContent): void {
  const isAllowed =
    sender.type === 'member' ||
    (sender.type === 'external' && content.type === 'proposal') ||
    (sender.type === 'new-member-commit' && content.type === 'commit') ||
    (sender.type === 'new-member-proposal' && content.type === 'proposal' && content.proposal.type === 'add');
  if (!isAllowed) throw new CryptoError('malformed', `FRAME-02: ${content.type} from ${sender.type}`);
}
