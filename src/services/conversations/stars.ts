import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { timestamp } from '../../lib/clock.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { errorCode } from '../../lib/errorCode.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { starredIdsAtom, starsAtom } from '../../store/stars.ts';
import { conversationOf, keyOf, selfOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, toAppError } from '../core/failures.ts';
import { oncePerSession } from '../core/oncePerSession.ts';
import type { Chats } from './chats.ts';
import { type Outbox, sendQueued } from './outbox.ts';

/** The person's stars, which their devices tell each other in their own group. */
export interface Stars {
  load(): Promise<void>;
  /** @throws AppError with the catalogue's sentence */
  set(key: ConversationKey, messageId: string, isStarred: boolean): Promise<void>;
}

export interface StarsOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly chats: Pick<Chats, 'addMessages' | 'setState'>;
  readonly outbox: Pick<Outbox, 'send'>;
  readonly background: Background;
}

/** Returns the stars of a session, which are loaded when somebody looks at messages. */
export const starsOf = oncePerSession(createStars);

function createStars(options: StarsOptions): Stars {
  const { background, ownUserId } = options;
  const { clock, crypto, newId, sessionEvents, store } = options.deps;

  const load = coalesce(async () => {
    const stars = (await crypto.starredMessages()).flatMap((message) => {
      const key = keyOf(message.conversationId, ownUserId);
      return key === null ? [] : [{ key, message }];
    });
    store.set(starsAtom, stars);
  });

  /** Loads them again where somebody has seen them. */
  function reload(): void {
    if (store.get(starsAtom) !== null) background(load);
  }

  // Copies of messages that come to a new browser tell of stars, too.
  sessionEvents.on('conversationsChanged', reload);
  sessionEvents.on('entriesProcessed', ({ messages, state }) => {
    const starred = store.get(starredIdsAtom);
    const isChanged = messages.some(({ messageId }) => starred.has(messageId));
    if (isChanged || selfOf(state.conversationId) !== null) reload();
  });

  return {
    load: () => load(),
    async set(key, of, isStarred) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null) return;
      try {
        const star = { conversationId, of, isStarred, messageId: newId(), sentAt: timestamp(clock) };
        const queued = await crypto.setStar(star);
        if (queued !== null) sendQueued(options, queued);
      } catch (error) {
        if (errorCode(error) === 'stars-full')
          throw new AppError('stars-full', t('stars.full'), { cause: error });
        throw toAppError(error, t('stars.failed'));
      }
      await load();
    },
  };
}
