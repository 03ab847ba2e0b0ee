/**
 * Starred messages (PROTOCOL section 4). A star is a reaction in the group of the person's own devices that names a message of any
 * conversation, so that it comes to all of them, is in the message backup, and is taken back as a reaction is.
 */
import { MIMI_SALT_LENGTH } from '@sinetti/crypto-core/content';
import { check, StarInput } from '../api/arguments.ts';
import type { CryptoApi, MessageView } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { limits } from '../codec/limits.ts';
import { parseConversationId, selfConversationId } from '../conversation/conversationId.ts';
import type { TransactionDeps } from '../conversation/conversationTransaction.ts';
import { type KnownMessage, saidByKnown } from '../conversation/messageView.ts';
import { MessageViews } from '../conversation/messageViews.ts';
import type { Session, UnlockedAccount } from '../session/session.ts';
import { read, type Transaction } from '../storage/db.ts';
import { encodeChangePayload } from '../storage/payload.ts';
import { queue, requireMessage } from './queue.ts';

/** For apps from before there were stars, which keep it as a reaction to nothing. */
const EMOJI = '⭐';

/** A star that was not taken back. */
interface Star {
  /** The content id of the star itself. */
  readonly id: string;
  readonly conversationId: string;
  /** The content id of the message. */
  readonly of: string;
}

export function createStars(deps: TransactionDeps, session: Session) {
  const salt = () => deps.env.random(MIMI_SALT_LENGTH);
  return {
    async setStar(input) {
      const { conversationId, isStarred, messageId, of, sentAt } = check('setStar', StarInput, input);
      const account = session.accountOnDevice();
      parseConversationId(conversationId, account.userId);
      const { contentId, given } = await read(account.db, async (tx) => {
        const stars = await readStars(tx, account);
        const message = await requireMessage(new MessageViews(tx, account, conversationId), of);
        const same = stars.filter(
          (one) => one.conversationId === conversationId && one.of === message.contentId,
        );
        const mayBeFull = isStarred && same.length === 0 && stars.length >= limits.stars;
        // A star whose message is gone takes no room.
        if (mayBeFull && (await shownStars(tx, account, stars)).length >= limits.stars)
          throw new CryptoApiError('stars-full');
        return { contentId: message.contentId, given: same };
      });
      if (isStarred === given.length > 0) return null;
      const star = { kind: 'reaction', of: contentId, emoji: EMOJI, starredIn: conversationId } as const;
      const changes = isStarred ? [star] : given.map(({ id }) => ({ kind: 'deletion', of: id }) as const);
      const payloads = changes.map((change) => encodeChangePayload(change, salt()));
      const own = { conversationId: selfConversationId(account.userId), messageId, sentAt };
      return queue(account, deps, own, async () => ({ payloads, shown: null }));
    },

    async starredMessages() {
      const account = session.account();
      return read(account.db, async (tx) => shownStars(tx, account, await readStars(tx, account)));
    },
  } satisfies Partial<CryptoApi>;
}

/** Reads the stars, the newest first. */
async function readStars(tx: Transaction, account: UnlockedAccount): Promise<Star[]> {
  const self = selfConversationId(account.userId);
  const views = new MessageViews(tx, account, self);
  // A star that was taken back has an empty key.
  const range = IDBKeyRange.bound([self, ''], [self, []], true, true);
  const about = tx.objectStore('messages').index('about');
  // The newest alone: a device that was stolen may have left any number.
  const seqs = (await about.getAllKeys(range)).map(([, seq]) => seq).sort((one, other) => other - one);
  const newest = seqs.slice(0, limits.starsRead).reverse();
  const logged = (await Promise.all(newest.map((seq) => views.at(seq)))).filter((one) => one !== null);
  const waiting = await views.waiting();
  const taken = new Set(waiting.flatMap(({ said }) => (said.kind === 'deletion' ? said.of : [])));
  const all: KnownMessage[] = [
    ...logged.filter(({ record }) => record.senderId === account.userId).map((one) => ({ logged: one })),
    ...waiting.map((one) => ({ waiting: one })),
  ];
  const stars = all.flatMap((known): Star[] => {
    const said = saidByKnown(known);
    if (said?.kind !== 'reaction' || said.starredIn === undefined) return [];
    const id = views.contentIdOf(known);
    return id === null || taken.has(id) ? [] : [{ id, conversationId: said.starredIn, of: said.of }];
  });
  return stars.reverse();
}

/** Returns the messages that stars name, as they are now: each once, and none that was deleted, is over or isn't here. */
async function shownStars(
  tx: Transaction,
  account: UnlockedAccount,
  stars: readonly Star[],
): Promise<MessageView[]> {
  const byConversation = new Map<string, MessageViews>();
  const found = new Map<string, MessageView>();
  for (const { conversationId, of } of stars) {
    if (found.size >= limits.stars) break;
    const views = byConversation.get(conversationId) ?? new MessageViews(tx, account, conversationId);
    byConversation.set(conversationId, views);
    const { id, known } = await views.meant(of);
    const view = known === null || id !== of ? null : await views.viewOf(known);
    if (view !== null && view.content.kind !== 'deleted') found.set(`${conversationId}/${of}`, view);
  }
  return [...found.values()];
}
