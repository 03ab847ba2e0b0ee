import type { MessageView } from '../../crypto/client.ts';
import type { FilesMeasure } from '../../store/account.ts';
import type { FilePlace } from '../../store/files.ts';
import { messageTime } from '../../store/messageTime.ts';
import type { NamedFile } from './archivedNames.ts';
import { type ExportedConversation, exportedConversations, type MessageSource, pagesOf } from './messages.ts';

/** Reads a file of a message piece by piece; the last piece comes only once all of it is known to be the message's. */
export type ReadFile = (place: FilePlace) => AsyncIterable<ArrayBuffer>;

/** A file that the archive is to have, without its preview: there may be thousands. */
export interface WantedFile extends NamedFile {
  readonly place: FilePlace;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the Unix epoch; NaN for a time that is none. */
  readonly writtenAt: number;
}

/** The files of all messages, in the order of the export. */
export async function* wantedFiles(
  crypto: MessageSource,
  conversations: readonly ExportedConversation[],
  signal: AbortSignal,
): AsyncGenerator<WantedFile> {
  for (const conversation of conversations) {
    for await (const messages of pagesOf(crypto, conversation)) {
      signal.throwIfAborted();
      for (const message of messages) yield* filesOf(message);
    }
  }
}

function filesOf(message: MessageView): WantedFile[] {
  const { content, conversationId, messageId } = message;
  if (content.kind !== 'files') return [];
  const writtenAt = Date.parse(messageTime(message).shown);
  return content.files.map(({ kind, name, size, type }, index) => ({
    place: { conversationId, messageId, index },
    kind,
    name,
    size,
    type,
    writtenAt,
  }));
}

/** @throws the signal's reason when it is aborted */
export async function measureFiles(crypto: MessageSource, signal: AbortSignal): Promise<FilesMeasure> {
  let count = 0;
  let bytes = 0;
  for await (const { size } of wantedFiles(crypto, await exportedConversations(crypto), signal)) {
    count += 1;
    bytes += size;
  }
  return { count, bytes };
}
