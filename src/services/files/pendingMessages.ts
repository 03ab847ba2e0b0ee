import * as z from 'zod/mini';
import type { CryptoApi, FileFacts } from '../../crypto/client.ts';

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

const PendingMessage = z.object({
  conversationId: z.string(),
  messageId: z.string(),
  text: z.string(),
  /** Message id of what it answers. */
  inReplyTo: z.optional(z.string()),
  sentAt: z.string(),
  files: z.array(PendingFile),
});
/** A message whose files are sealed, and not all at the relay. The worker keeps it sealed, since it says what the files are. */
export type PendingMessage = z.infer<typeof PendingMessage>;

export function createPendingMessages(crypto: Pick<CryptoApi, 'localEntries' | 'writeLocal'>) {
  return {
    async all(): Promise<PendingMessage[]> {
      const entries = await crypto.localEntries(entryPrefix);
      return entries
        .map(({ text }) => PendingMessage.parse(JSON.parse(text)))
        .toSorted((one, other) => Date.parse(one.sentAt) - Date.parse(other.sentAt));
    },
    keep: (message: PendingMessage) =>
      crypto.writeLocal(`${entryPrefix}${message.messageId}`, JSON.stringify(message)),
    forget: (messageId: string) => crypto.writeLocal(`${entryPrefix}${messageId}`, null),
  };
}
