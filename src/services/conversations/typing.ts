import { IncomingTyping, limits, type OutgoingTyping, topics } from '../../net/contract.ts';
import type { Realtime } from '../../net/mqtt.ts';
import { type ConversationKey, chatsAtom, groupIdOfKey } from '../../store/chats.ts';
import { groupsAtom } from '../../store/groups.ts';
import { trustAtom } from '../../store/trust.ts';
import { typingAtom, type Writer } from '../../store/typing.ts';
import { conversationOf, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { oncePerSession } from '../core/oncePerSession.ts';
import { timings } from '../core/timings.ts';

/** Tells others that the person is writing, and the screen who is (PROTOCOL section 10). */
export interface Typing {
  /** The person has changed what stands in a form. @param isWriting there is something in it */
  tell(key: ConversationKey, isWriting: boolean): Promise<void>;
  /** Takes what the relay hands on: what says nothing is passed over. */
  take(payload: unknown): Promise<void>;
}

export interface TypingOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly realtime: Pick<Realtime, 'isConnected' | 'publishFleeting'>;
}

/** Returns the signs of writing of a session. */
export const typingOf = oncePerSession(createTyping);

function createTyping({ deps, ownUserId, realtime }: TypingOptions): Typing {
  const { clock, crypto, sessionEvents, store } = deps;
  /** The time at which others were last told that the person is writing, where they may still be shown it. */
  const told = new Map<ConversationKey, number>();

  function isDue(key: ConversationKey, isWriting: boolean): boolean {
    const since = clock.monotonicNow() - (told.get(key) ?? Number.NEGATIVE_INFINITY);
    return isWriting ? since >= timings.typingSpacing : since < timings.typingShown;
  }

  /** Returns whether everybody in a conversation is somebody to whom a message would go: nobody else learns of it. */
  async function mayTell(key: ConversationKey, conversationId: string): Promise<boolean> {
    const state = store.get(chatsAtom)[key]?.state;
    if (state?.status !== 'joined' || state.isDoubted || state.members.length > limits.peopleWithTyping)
      return false;
    const groupId = groupIdOfKey(key);
    if (groupId !== null) {
      const group = store.get(groupsAtom).items.find(({ id }) => id === groupId);
      return group !== undefined && !group.ended && group.mismatch === null;
    }
    const trust = store.get(trustAtom).get(key);
    if (trust?.keyOffered === true) return false;
    return (trust?.changedAt ?? []).length === 0 || !(await crypto.hasFormerDevices(conversationId));
  }

  function change(key: ConversationKey, next: (writers: readonly Writer[]) => readonly Writer[]): void {
    store.set(typingAtom, ({ [key]: writers = [], ...others }) => {
      const left = next(writers);
      return left.length === 0 ? others : { ...others, [key]: left };
    });
  }

  function drop(key: ConversationKey, isDropped: (writer: Writer) => boolean): void {
    if (store.get(typingAtom)[key]?.some(isDropped)) {
      change(key, (writers) => writers.filter((writer) => !isDropped(writer)));
    }
  }

  sessionEvents.on('entriesProcessed', ({ messages, state }) => {
    const key = keyOf(state.conversationId, ownUserId);
    if (key === null) return;
    const authors = new Set(messages.map(({ senderId }) => senderId));
    // A sign after a message of one's own is told anew.
    if (authors.has(ownUserId)) told.delete(key);
    drop(key, ({ userId }) => authors.has(userId));
  });

  return {
    async tell(key, isWriting) {
      const conversationId = conversationOf(key, ownUserId);
      if (conversationId === null || key === ownUserId || !realtime.isConnected() || !isDue(key, isWriting))
        return;
      if (isWriting) told.set(key, clock.monotonicNow());
      else told.delete(key);
      if (!(await mayTell(key, conversationId))) return;
      const sealed = await crypto.sealTyping(conversationId, isWriting);
      if (sealed === null) return;
      const groupId = groupIdOfKey(key);
      const topic = groupId === null ? topics.userTyping(key) : topics.groupTyping(groupId);
      realtime.publishFleeting(topic, { type: 'typing', ...sealed } satisfies OutgoingTyping);
    },

    async take(payload) {
      const event = IncomingTyping.safeParse(payload);
      if (!event.success) return;
      const { content, conversationId, deviceId, epoch, userId } = event.data;
      const key = keyOf(conversationId, ownUserId);
      if (key === null) return;
      const isWriting = await crypto.openTyping(conversationId, { userId, deviceId, epoch, content });
      if (isWriting === false) drop(key, (writer) => writer.userId === userId);
      if (isWriting !== true) return;
      const since = clock.monotonicNow();
      change(key, (writers) =>
        writers.some((writer) => writer.userId === userId)
          ? writers.map((writer) => (writer.userId === userId ? { userId, since } : writer))
          : [...writers, { userId, since }],
      );
      clock.after(timings.typingShown, () =>
        drop(key, (writer) => writer.userId === userId && writer.since <= since),
      );
    },
  };
}
