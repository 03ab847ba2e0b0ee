import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import {
  type FramedContent,
  type FramedContentAuthData,
  readFramedContent,
  readFramedContentAuthData,
  writeFramedContent,
  writeFramedContentAuthData,
} from './framedContent.ts';

/** RFC 9420 section 6.2. `membershipTag` is present exactly when the sender is a member. */
export interface PublicMessage {
  readonly content: FramedContent;
  readonly auth: FramedContentAuthData;
  readonly membershipTag: Uint8Array | null;
}

export function readPublicMessage(r: Reader): PublicMessage {
  const content = readFramedContent(r);
  const auth = readFramedContentAuthData(r, content.content.type);
  return { content, auth, membershipTag: content.sender.type === 'member' ? r.opaque() : null };
}

export function writePublicMessage(w: Writer, message: PublicMessage): void {
  writeFramedContent(w, message.content);
  writeFramedContentAuthData(w, message.auth);
  if (message.membershipTag !== null) w.opaque(message.membershipTag);
}
