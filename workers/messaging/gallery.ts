/**
 * The messages of a conversation that have files, for its gallery. No index says which these are: whoever copies the storage would
 * read there who has sent files, and when. So messages are opened from the newest on, and only as many as are asked for.
 */
import { ConversationId, check, GalleryPageInput } from '../api/arguments.ts';
import type { CryptoApi, FileKind, MessageView } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import { isShown, saidBy } from '../conversation/messageView.ts';
import { MessageViews } from '../conversation/messageViews.ts';
import type { Session } from '../session/session.ts';
import { type MessageRow, read, type Transaction } from '../storage/db.ts';

export function createGallery(session: Session) {
  return {
    async messagesWithFiles(id, given) {
      const conversationId = check('messagesWithFiles', ConversationId, id);
      const { before, kinds, limit } = check('messagesWithFiles', GalleryPageInput, given);
      const account = session.account();
      const has = ({ content }: Pick<MessageView, 'content'>) => hasKinds(content, kinds);
      return read(account.db, async (tx) => {
        const views = new MessageViews(tx, account, conversationId);
        const found: MessageView[] = [];
        const take = (view: MessageView | null) => {
          if (view !== null && has(view) && isShown(account, view)) found.push(view);
        };
        if (before === null) {
          for (const one of (await views.waiting()).toReversed()) take(await views.waitingView(one));
        }
        let next = before;
        for (let looked = 0; ; ) {
          const rows = await newestRows(tx, conversationId, next);
          if (rows.length === 0) return { messages: found, before: null };
          for (const { row, seq } of rows) {
            next = seq;
            looked++;
            const logged = row.about === undefined ? views.open(seq, row) : null;
            const said = logged === null ? null : saidBy(logged);
            // Few messages have files, and what was changed of the others is of no interest here. Nor are reactions.
            if (logged !== null && said?.kind === 'message' && has(said)) take(await views.view(logged, 0));
            if (found.length >= limit || looked >= limits.messagesLookedThrough)
              return { messages: found, before: next };
          }
        }
      });
    },
  } satisfies Partial<CryptoApi>;
}

/** Returns whether any file of a message is of one of these kinds. */
function hasKinds(content: MessageView['content'], kinds: readonly FileKind[]): boolean {
  return content.kind === 'files' && content.files.some(({ kind }) => kinds.includes(kind));
}

/** Positions that are read at once: one by one, each row would wait for an answer of the database. */
const rowsAtOnce = 250;

/** Reads some rows below a position (or of all), the newest first; none at the beginning. */
async function newestRows(
  tx: Transaction,
  conversationId: string,
  before: number | null,
): Promise<{ readonly seq: number; readonly row: MessageRow }[]> {
  const messages = tx.objectStore('messages');
  const below = IDBKeyRange.bound([conversationId], [conversationId, before ?? []], false, true);
  const [, newest] = (await messages.openKeyCursor(below, 'prev'))?.key ?? [];
  if (newest === undefined) return [];
  const range = IDBKeyRange.bound([conversationId, newest - rowsAtOnce], [conversationId, newest], true);
  const [keys, rows] = await Promise.all([messages.getAllKeys(range), messages.getAll(range)]);
  return rows
    .flatMap((row, i) => {
      const seq = keys[i]?.[1];
      return seq === undefined ? [] : [{ seq, row }];
    })
    .toReversed();
}
