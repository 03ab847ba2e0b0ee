import * as z from 'zod/mini';
import type { AttachedFile, FileFacts, MessageView } from '../../crypto/client.ts';
import type { Deps } from '../core/deps.ts';
import { readLocalEntries } from './localEntries.ts';

/** The start of the name of the local entry of a message whose files are on their way. */
const entryPrefix = 'upload:';

const PendingFile = z.object({
  fileId: z.string(),
  /** At the relay; null before it was asked for room. */
  blobId: z.nullable(z.string()),
  /** Bytes of the file, sealed, and of a sealed piece but the last. */
  size: z.number(),
  sealedSize: z.number(),
  sealedPiece: z.number(),
  isUploaded: z.boolean(),
  facts: z.custom<FileFacts>((value) => typeof value === 'object' && value !== null),
});
export type PendingFile = z.infer<typeof PendingFile>;

const Original = z.object({
  conversationId: z.string(),
  messageId: z.string(),
  files: z.custom<readonly AttachedFile[]>((value) => Array.isArray(value)),
});
/** The message whose files are passed on. This browser alone knows of it, until they are at the relay. */
export type Original = z.infer<typeof Original>;

const PendingMessage = z.object({
  conversationId: z.string(),
  messageId: z.string(),
  text: z.string(),
  /** The format of the text; absent for the one that it looks like. */
  isMarkdown: z.optional(z.boolean()),
  original: z.optional(Original),
  /** Message id of what it answers. */
  inReplyTo: z.optional(z.string()),
  sentAt: z.string(),
  files: z.array(PendingFile),
  /** Files that are still to be sealed: of none of them is anything kept that could go on after a reload. */
  unsealed: z.optional(z.number()),
});
/** A message whose files are not all at the relay. The worker keeps it sealed, since it says what the files are. */
export type PendingMessage = z.infer<typeof PendingMessage>;

/** A message before any of its files is sealed. */
export type Unsealed = Omit<PendingMessage, 'files' | 'unsealed'>;

/** Returns what stands in the chat for a message until the worker has it. */
export function pendingView(
  { conversationId, isMarkdown, messageId, original, sentAt, text }: Unsealed,
  files: readonly { readonly facts: FileFacts; readonly size: number }[],
  ownUserId: string,
): MessageView {
  return {
    conversationId,
    messageId,
    seq: null,
    senderId: ownUserId,
    senderDeviceId: '',
    timestamp: sentAt,
    status: 'sending',
    ...(original === undefined ? {} : { isForwarded: true }),
    content: {
      kind: 'files',
      text,
      ...(isMarkdown === true ? { isMarkdown } : {}),
      files: files.map(({ facts, size }) => ({ ...facts, size })),
    },
  };
}

export function createPendingMessages(deps: Pick<Deps, 'crypto' | 'log'>) {
  const { crypto } = deps;
  async function all(): Promise<PendingMessage[]> {
    const messages = await readLocalEntries(deps, entryPrefix, PendingMessage);
    return messages
      .map(({ value }) => value)
      .toSorted((one, other) => Date.parse(one.sentAt) - Date.parse(other.sentAt));
  }

  return {
    all,
    find: async (messageId: string) => (await all()).find((one) => one.messageId === messageId),
    keep: (message: PendingMessage) =>
      crypto.writeLocal(`${entryPrefix}${message.messageId}`, JSON.stringify(message)),
    forget: (messageId: string) => crypto.writeLocal(`${entryPrefix}${messageId}`, null),
  };
}
