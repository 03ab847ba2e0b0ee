/** Authenticated, unencrypted messages (RFC 9420 section 6.2). */
import { equalBytes } from '../bytes.ts';
import { type Writer, withEncoded } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import {
  type AuthenticatedContent,
  writeFramedContentAuthData,
  writeFramedContentTBS,
} from '../structs/framedContent.ts';
import type { GroupContext } from '../structs/groupContext.ts';
import type { PublicMessage } from '../structs/publicMessage.ts';
import type { CipherSuite } from '../suite/suites.ts';
import {
  assertSameEpoch,
  assertSenderMaySend,
  type SignatureKeyOf,
  type VerifiedContent,
  verifyFramedContent,
} from './contentAuth.ts';

export interface PublicMessageKeys {
  readonly groupContext: GroupContext;
  readonly membershipKey: Uint8Array;
}

/**
 * Frames content that was signed for the wire format 'public-message'.
 * @throws CryptoError 'usage' for application data, which is never sent in the open, and for content signed for
 *   another wire format
 */
export function protectPublicMessage(
  suite: CipherSuite,
  authenticated: AuthenticatedContent,
  { groupContext, membershipKey }: PublicMessageKeys,
): PublicMessage {
  const { content, auth, wireFormat } = authenticated;
  if (wireFormat !== 'public-message' || content.content.type === 'application') {
    throw new CryptoError('usage', `${content.content.type} as a public message`);
  }
  if (content.sender.type !== 'member') return { content, auth, membershipTag: null };
  return { content, auth, membershipTag: tagOf(suite, authenticated, { groupContext, membershipKey }) };
}

/**
 * Checks everything that the framing promises. A commit's confirmation tag is checked later, by the code that computes
 * the next epoch.
 * FRAME-04 (section 6.2): application data is never in the open.
 * FRAME-05 (section 6.2): a member's membership tag holds.
 * @throws CryptoError 'wrong-group', 'wrong-epoch', 'malformed', 'bad-membership-tag', 'bad-signature', or whatever
 *   `signatureKeyOf` throws
 */
export function unprotectPublicMessage(
  suite: CipherSuite,
  message: PublicMessage,
  keys: PublicMessageKeys,
  signatureKeyOf: SignatureKeyOf,
): VerifiedContent {
  const { content, auth } = message;
  assertSameEpoch(content, keys.groupContext);
  assertSenderMaySend(content);
  if (content.content.type === 'application') {
    throw new CryptoError('malformed', 'FRAME-04: application data');
  }
  const authenticated: AuthenticatedContent = { wireFormat: 'public-message', content, auth };
  if (content.sender.type === 'member') {
    const expected = tagOf(suite, authenticated, keys);
    if (message.membershipTag === null || !equalBytes(message.membershipTag, expected)) {
      throw new CryptoError('bad-membership-tag', 'FRAME-05: public message');
    }
  }
  return verifyFramedContent(suite, authenticated, keys.groupContext, signatureKeyOf(content));
}

/** Computes the MAC over AuthenticatedContentTBM: the signed bytes, then the authentication data. */
function tagOf(
  suite: CipherSuite,
  authenticated: AuthenticatedContent,
  { groupContext, membershipKey }: PublicMessageKeys,
): Uint8Array {
  const write = (w: Writer, { auth, content, wireFormat }: AuthenticatedContent): void => {
    writeFramedContentTBS(w, wireFormat, content, groupContext);
    writeFramedContentAuthData(w, auth);
  };
  return withEncoded(authenticated, write, (bytes) => suite.mac(membershipKey, bytes));
}
