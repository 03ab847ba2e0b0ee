import type { Quote } from '../../crypto/client.ts';
import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { FileSink } from '../../lib/fileSink.ts';
import { withoutMarks } from '../../lib/markdown.ts';
import type { ExportFormat } from '../../store/account.ts';
import { nameOfAtom } from '../../store/names.ts';
import { withOwnName } from '../../store/people.ts';
import { type CurrentUser, currentUserAtom } from '../../store/session.ts';
import type { Deps } from '../core/deps.ts';
import { createData } from './data.ts';
import { gatherFacts } from './facts.ts';
import type { Quoted } from './layout.ts';
import { exportedConversations, pagesOf } from './messages.ts';
import { createPage } from './page.ts';
import { createPieces } from './pieces.ts';
import { type ConversationNames, conversationTitle, messageRecord } from './records.ts';

const layouts = { json: createData, html: createPage } as const satisfies Record<ExportFormat, unknown>;

interface ExportRun {
  readonly signal: AbortSignal;
  /** Messages written, of all there are. */
  readonly onProgress: (done: number, total: number) => void;
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
 * Writes the file without ending it: one pass over the messages, of which a page is in memory at a time.
 * @throws the signal's reason when it is aborted
 */
export async function writeExport(
  deps: Deps,
  format: ExportFormat,
  file: FileSink,
  run: ExportRun,
): Promise<void> {
  const { crypto, store } = deps;
  const user = store.get(currentUserAtom);
  if (user === null) throw new AppError('unauthenticated', t('errors.sessionExpired'));
  const all = await exportedConversations(crypto);
  const states = all.map(({ state }) => state);
  const facts = await gatherFacts(deps, user, states);
  const conversations = all.filter(({ count }) => count > 0);
  const total = conversations.reduce((sum, { count }) => sum + count, 0);
  run.signal.throwIfAborted();
  run.onProgress(0, total);

  const groupNames = new Map(facts.groups.map(({ id, name }) => [id, name]));
  const names = (): ConversationNames => ({
    nameOf: store.get(nameOfAtom),
    groupNameOf: (groupId) => groupNames.get(groupId) ?? null,
  });
  const titles = conversations.map(({ count, state }) => ({
    title: conversationTitle(state.conversationId, user, names()),
    count,
  }));

  const pieces = createPieces(file);
  const layout = layouts[format]();
  for (const part of await layout.head(facts, titles)) await pieces.add(part);

  const starred = new Set((await crypto.starredMessages()).map(({ messageId }) => messageId));
  let done = 0;
  for (const [at, conversation] of conversations.entries()) {
    await pieces.add(layout.conversationStart(titles[at]?.title ?? '', at));
    for await (const messages of pagesOf(crypto, conversation)) {
      run.signal.throwIfAborted();
      const known = names();
      for (const message of messages) {
        const { conversationId, isEdited, messageId, quote } = message;
        const versions = isEdited ? await crypto.messageVersions(conversationId, messageId) : [];
        const isStarred = starred.has(messageId);
        const record = messageRecord(message, conversation.state, user, known, versions, isStarred);
        await pieces.add(layout.message(record, record.sender_id === user.id, quotedIn(quote, user, known)));
        done += 1;
      }
      run.onProgress(done, Math.max(done, total));
    }
    await pieces.add(layout.conversationEnd());
  }

  await pieces.add(layout.tail());
  await pieces.flush();
  run.signal.throwIfAborted();
}
