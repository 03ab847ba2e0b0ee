import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { ExportFiles, ExportProgress } from '../../store/account.ts';
import { nameOfAtom } from '../../store/names.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Deps } from '../deps.ts';
import { gatherFacts } from './facts.ts';
import { exportedConversations, pagesOf } from './messages.ts';
import { createPage } from './page.ts';
import { createPieces, type Pieces } from './pieces.ts';
import { type ConversationNames, conversationTitle, messageRecord } from './records.ts';

/** What programs that read the file can rely on. */
const format = { format: 'user-data', version: 1 } as const;

interface ExportRun {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ExportProgress) => void;
}

/**
 * Writes both files without ending them: one pass over the messages, of which a page is in memory at a time.
 * @throws the signal's reason when it is aborted
 */
export async function writeExport(deps: Deps, files: ExportFiles, run: ExportRun): Promise<void> {
  const { crypto, store } = deps;
  const user = store.get(currentUserAtom);
  if (user === null) throw new AppError('unauthenticated', t('errors.sessionExpired'));
  const all = await exportedConversations(crypto);
  const states = all.map(({ state }) => state);
  const facts = await gatherFacts(deps, user, states);
  const conversations = all.filter(({ count }) => count > 0);
  const total = conversations.reduce((sum, { count }) => sum + count, 0);
  run.signal.throwIfAborted();
  run.onProgress({ done: 0, total });

  const groupNames = new Map(facts.groups.map(({ id, name }) => [id, name]));
  const names = (): ConversationNames => ({
    nameOf: store.get(nameOfAtom),
    groupNameOf: (groupId) => groupNames.get(groupId) ?? null,
  });
  const titles = conversations.map(({ count, state }) => ({
    title: conversationTitle(state.conversationId, user, names()),
    count,
  }));

  const data = createPieces(files.data);
  const readable = createPieces(files.page);
  const page = createPage();
  // The object is left open, for the messages.
  await data.add('{\n');
  for (const [key, value] of Object.entries({ ...format, ...facts })) await addField(data, key, value);
  await data.add('  "messages": [');
  for (const part of await page.head(facts, titles)) await readable.add(part);

  let done = 0;
  for (const [at, conversation] of conversations.entries()) {
    await readable.add(page.conversationStart(titles[at]?.title ?? '', at));
    for await (const messages of pagesOf(crypto, conversation)) {
      run.signal.throwIfAborted();
      const known = names();
      for (const message of messages) {
        const record = messageRecord(message, conversation.state, user, known);
        await data.add(`${done === 0 ? '' : ','}\n    ${JSON.stringify(record)}`);
        await readable.add(page.message(record, record.sender_id === user.id));
        done += 1;
      }
      run.onProgress({ done, total: Math.max(done, total) });
    }
    await readable.add(page.conversationEnd());
  }

  await data.add('\n  ]\n}\n');
  await readable.add(page.tail());
  await data.flush();
  await readable.flush();
  run.signal.throwIfAborted();
}

/** A field of an object that goes on after it. Lists are written item by item, as some have thousands. */
async function addField(data: Pieces, key: string, value: unknown): Promise<void> {
  if (!Array.isArray(value)) return data.add(`  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`);
  await data.add(`  ${JSON.stringify(key)}: [`);
  for (const [at, item] of value.entries())
    await data.add(`${at === 0 ? '' : ','}\n    ${JSON.stringify(item)}`);
  await data.add('\n  ],\n');
}
