import type { ConversationState, Quote } from '../../crypto/client.ts';
import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { FileSink } from '../../lib/fileSink.ts';
import { withoutMarks } from '../../lib/markdown.ts';
import type { ExportedFiles, ExportFormat, ExportProgress } from '../../store/account.ts';
import { nameOfAtom } from '../../store/names.ts';
import { withOwnName } from '../../store/people.ts';
import { type CurrentUser, currentUserAtom } from '../../store/session.ts';
import type { Deps } from '../core/deps.ts';
import type { ArchivedFile } from './archive.ts';
import { createData } from './data.ts';
import { type ExportFacts, gatherFacts } from './facts.ts';
import { type ReadFile, type WantedFile, wantedFiles } from './files.ts';
import type { ExportLayout, Quoted } from './layout.ts';
import { type ExportedConversation, exportedConversations, pagesOf } from './messages.ts';
import { createPage } from './page.ts';
import { inPieces } from './pieces.ts';
import { type ConversationNames, conversationTitle, messageRecord } from './records.ts';

const layouts = { json: createData, html: createPage } as const satisfies Record<ExportFormat, unknown>;

interface ExportRun {
  readonly format: ExportFormat;
  /** Null for an export without files. */
  readonly read: ReadFile | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Omit<ExportProgress, 'format'>) => void;
}

/** Returns the message that another one answers, as a reader sees it; null where it answers nothing that is here. */
function quotedIn(quote: Quote | undefined, user: CurrentUser, { nameOf }: ConversationNames): Quoted | null {
  if (!quote?.message) return null;
  const { content, senderId } = quote.message;
  const personOf = withOwnName(user, nameOf);
  const name = personOf(senderId);
  if (content.kind === 'deleted') return { name, text: t('profile.export.deleted') };
  if (content.kind !== 'text' && content.kind !== 'files') return { name, text: null };
  const text = content.isMarkdown ? withoutMarks(content.text, personOf) : content.text;
  const files = content.kind === 'files' ? content.files.map(fileName) : [];
  return { name, text: [...files, ...(text === '' ? [] : [text])].join(' · ') };
}

/**
 * Writes the file without ending it, of which a page of messages and a few pieces of a file are in memory at a time: the document,
 * or with files an archive of them with the document as its last part.
 * @throws the signal's reason when it is aborted
 */
export async function writeExport(deps: Deps, file: FileSink, run: ExportRun): Promise<ExportedFiles> {
  const { clock, crypto, store } = deps;
  const { format, onProgress, read, signal } = run;
  const user = store.get(currentUserAtom);
  if (user === null) throw new AppError('unauthenticated', t('errors.sessionExpired'));
  const all = await exportedConversations(crypto);
  const facts = await gatherFacts(
    deps,
    user,
    all.map(({ state }) => state),
  );
  signal.throwIfAborted();
  const conversations = all.filter(({ count }) => count > 0);
  const document: Document = { conversations, facts, layout: layouts[format](read !== null), user };
  if (read === null) {
    for await (const piece of inPieces(documentOf(deps, document, run, null))) await file.write(piece);
    signal.throwIfAborted();
    return { written: 0, missing: 0 };
  }

  const wanted: WantedFile[] = [];
  for await (const one of wantedFiles(crypto, conversations, signal)) wanted.push(one);
  // Loaded here, because most exports are without files.
  const { writeArchive } = await import('./archive.ts');
  return writeArchive(file, {
    wanted,
    read,
    document: {
      name: `user-data.${format}`,
      text: (archived) => inPieces(documentOf(deps, document, run, archived)),
    },
    now: clock.now(),
    signal,
    onProgress: (done, total) => onProgress({ unit: 'bytes', done, total }),
  });
}

interface Document {
  readonly conversations: readonly ExportedConversation[];
  readonly facts: ExportFacts;
  readonly layout: ExportLayout;
  readonly user: CurrentUser;
}

/**
 * The document part by part, in one pass over the messages.
 * @param archived the files of a message; null for an export without files
 */
async function* documentOf(
  { crypto, store }: Deps,
  { conversations, facts, layout, user }: Document,
  { onProgress, signal }: ExportRun,
  archived: ((messageId: string) => readonly ArchivedFile[]) | null,
): AsyncGenerator<string> {
  const total = conversations.reduce((sum, { count }) => sum + count, 0);
  const tell = (done: number) => onProgress({ unit: 'messages', done, total: Math.max(done, total) });
  tell(0);
  const groupNames = new Map(facts.groups.map(({ id, name }) => [id, name]));
  const names = (): ConversationNames => ({
    nameOf: store.get(nameOfAtom),
    groupNameOf: (groupId) => groupNames.get(groupId) ?? null,
  });
  const titleOf = ({ conversationId }: ConversationState) => conversationTitle(conversationId, user, names());
  const titles = conversations.map(({ count, state }) => ({ title: titleOf(state), count }));
  yield* await layout.head(facts, titles);

  const starred = new Set((await crypto.starredMessages()).map(({ messageId }) => messageId));
  let done = 0;
  for (const [at, conversation] of conversations.entries()) {
    yield layout.conversationStart(titles[at]?.title ?? '', at);
    for await (const messages of pagesOf(crypto, conversation)) {
      signal.throwIfAborted();
      const known = names();
      for (const message of messages) {
        const { conversationId, isEdited, messageId, quote } = message;
        const record = messageRecord(message, conversation.state, user, known, {
          versions: isEdited ? await crypto.messageVersions(conversationId, messageId) : [],
          isStarred: starred.has(messageId),
          files: archived?.(messageId) ?? null,
        });
        yield layout.message(record, record.sender_id === user.id, quotedIn(quote, user, known));
        done += 1;
      }
      tell(done);
    }
    yield layout.conversationEnd();
  }
  yield layout.tail();
}
