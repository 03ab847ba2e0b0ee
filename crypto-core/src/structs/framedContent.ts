import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type Commit, readCommit, writeCommit } from './commit.ts';
import { type GroupContext, writeGroupContext } from './groupContext.ts';
import { type LeafIndex, toLeafIndex } from './indices.ts';
import { type Proposal, readProposal, writeProposal } from './proposal.ts';
import { writeMls10 } from './protocolVersion.ts';
import { type WireFormat, WireFormatValue } from './wireFormat.ts';

export type ContentType = 'application' | 'proposal' | 'commit';

const ContentTypeValue = { application: 1, proposal: 2, commit: 3 } as const satisfies Record<
  ContentType,
  number
>;

/** RFC 9420 section 6. */
export type Sender =
  | { readonly type: 'member'; readonly leafIndex: LeafIndex }
  /** An index into the external_senders extension. */
  | { readonly type: 'external'; readonly senderIndex: number }
  | { readonly type: 'new-member-proposal' }
  | { readonly type: 'new-member-commit' };

const SenderTypeValue = {
  member: 1,
  external: 2,
  'new-member-proposal': 3,
  'new-member-commit': 4,
} as const satisfies Record<Sender['type'], number>;

export type Content =
  | { readonly type: 'application'; readonly data: Uint8Array }
  | { readonly type: 'proposal'; readonly proposal: Proposal }
  | { readonly type: 'commit'; readonly commit: Commit };

/** RFC 9420 section 6. */
export interface FramedContent {
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly sender: Sender;
  readonly authenticatedData: Uint8Array;
  readonly content: Content;
}

/** RFC 9420 section 6.1. `confirmationTag` is present exactly when the content is a commit. */
export interface FramedContentAuthData {
  readonly signature: Uint8Array;
  readonly confirmationTag: Uint8Array | null;
}

/** The input of a ProposalRef and of the transcript hash (RFC 9420 section 6). */
export interface AuthenticatedContent {
  readonly wireFormat: WireFormat;
  readonly content: FramedContent;
  readonly auth: FramedContentAuthData;
}

export function readContentType(r: Reader): ContentType {
  const type = r.u8();
  switch (type) {
    case ContentTypeValue.application:
      return 'application';
    case ContentTypeValue.proposal:
      return 'proposal';
    case ContentTypeValue.commit:
      return 'commit';
    default:
      throw new CryptoError('malformed', `content type ${type}`);
  }
}

export function writeContentType(w: Writer, type: ContentType): void {
  w.u8(ContentTypeValue[type]);
}

export function readSender(r: Reader): Sender {
  const type = r.u8();
  switch (type) {
    case SenderTypeValue.member:
      return { type: 'member', leafIndex: toLeafIndex(r.u32()) };
    case SenderTypeValue.external:
      return { type: 'external', senderIndex: r.u32() };
    case SenderTypeValue['new-member-proposal']:
      return { type: 'new-member-proposal' };
    case SenderTypeValue['new-member-commit']:
      return { type: 'new-member-commit' };
    default:
      throw new CryptoError('malformed', `sender type ${type}`);
  }
}

export function writeSender(w: Writer, sender: Sender): void {
  w.u8(SenderTypeValue[sender.type]);
  if (sender.type === 'member') w.u32(sender.leafIndex);
  else if (sender.type === 'external') w.u32(sender.senderIndex);
}

/** Reads the content alone, with its type known from outside, as PrivateMessageContent starts. */
export function readContent(r: Reader, type: ContentType): Content {
  if (type === 'application') return { type, data: r.opaque() };
  if (type === 'proposal') return { type, proposal: readProposal(r) };
  return { type, commit: readCommit(r) };
}

export function writeContent(w: Writer, content: Content): void {
  switch (content.type) {
    case 'application':
      return w.opaque(content.data);
    case 'proposal':
      return writeProposal(w, content.proposal);
    case 'commit':
      return writeCommit(w, content.commit);
  }
}

export function readFramedContent(r: Reader): FramedContent {
  const groupId = r.groupId();
  const epoch = r.u64();
  const sender = readSender(r);
  const authenticatedData = r.opaque();
  const content = readContent(r, readContentType(r));
  return { groupId, epoch, sender, authenticatedData, content };
}

/** About the bytes that content takes, framed: to write what may be large, the application's, into a buffer of its size. */
export function expectedLength({ content, authenticatedData }: FramedContent): number {
  return (content.type === 'application' ? content.data.length : 0) + authenticatedData.length + 1024;
}

export function writeFramedContent(w: Writer, framed: FramedContent): void {
  w.opaque(framed.groupId);
  w.u64(framed.epoch);
  writeSender(w, framed.sender);
  w.opaque(framed.authenticatedData);
  writeContentType(w, framed.content.type);
  writeContent(w, framed.content);
}

export function readFramedContentAuthData(r: Reader, type: ContentType): FramedContentAuthData {
  return { signature: r.opaque(), confirmationTag: type === 'commit' ? r.opaque() : null };
}

export function writeFramedContentAuthData(w: Writer, auth: FramedContentAuthData): void {
  w.opaque(auth.signature);
  if (auth.confirmationTag !== null) w.opaque(auth.confirmationTag);
}

export function writeAuthenticatedContent(w: Writer, value: AuthenticatedContent): void {
  w.u16(WireFormatValue[value.wireFormat]);
  writeFramedContent(w, value.content);
  writeFramedContentAuthData(w, value.auth);
}

/**
 * Writes FramedContentTBS, the bytes a message's signature covers under the label "FramedContentTBS".
 * @param context the sender's epoch; written only for senders that are in the group or join it by this commit.
 */
export function writeFramedContentTBS(
  w: Writer,
  wireFormat: WireFormat,
  framed: FramedContent,
  context: GroupContext,
): void {
  writeMls10(w);
  w.u16(WireFormatValue[wireFormat]);
  writeFramedContent(w, framed);
  if (framed.sender.type === 'member' || framed.sender.type === 'new-member-commit') {
    writeGroupContext(w, context);
  }
}
