import { beforeEach, describe, expect, it } from 'vitest';
import { agreeOn } from '#src/services/conversations/agreeOn.ts';
import { type Chats, createChats } from '#src/services/conversations/chats.ts';
import { createDisappearing, type Disappearing } from '#src/services/conversations/disappearing.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { announcementAtom } from '#src/store/announcement.ts';
import { composeAtom, composingAtom } from '#src/store/composing.ts';
import { starsAtom } from '#src/store/stars.ts';
import { conversationId, me, peer, received, state, type TestDeps, testDeps } from './support/deps.ts';

let deps: TestDeps;
let chats: Chats;
let disappearing: Disappearing;
/** The worker's answers, and what it was asked. */
let gone: readonly string[];
let nextIn: number | null;
let asked: string[][];

beforeEach(() => {
  [gone, nextIn, asked] = [[], null, []];
  deps = testDeps({
    crypto: {
      expireMessages: (shown) => {
        asked.push([...shown]);
        return Promise.resolve({ gone, nextIn });
      },
      conversation: () => Promise.resolve(state()),
    },
  });
  chats = createChats(deps, me);
  chats.setLoaded(peer, true);
  disappearing = createDisappearing({ deps, chats, background: createBackground(deps.log) });
});

const ids = () => chats.get(peer).messages.map(({ messageId }) => messageId);

describe('messages that disappear', () => {
  it('are erased as the session starts, and then when the next one is over', async () => {
    nextIn = 5000;
    disappearing.start();
    await deps.clock.advance(0);
    expect(asked).toHaveLength(1);
    await deps.clock.advance(4999);
    expect(asked).toHaveLength(1);
    nextIn = null;
    await deps.clock.advance(1);
    expect(asked).toHaveLength(2);
    await deps.clock.advance(24 * 60 * 60_000);
    expect(asked).toHaveLength(2);
  });

  it('leave the chat, the list, what is pinned, answers, the stars, the input and what a screen reader is told', async () => {
    const secret = received(1, { timer: 60 });
    const { messageId, senderId, content } = secret;
    const answer = received(2, { quote: { message: { messageId, senderId, content } } });
    chats.setState(state({ lastMessage: secret, pinned: [secret] }));
    chats.addMessages(conversationId, [secret, answer]);
    deps.store.set(composeAtom, peer, () => ({ replyTo: secret }));
    deps.store.set(announcementAtom, 'text 1');
    deps.store.set(starsAtom, [{ key: peer, message: secret }]);
    gone = [messageId];
    deps.sessionEvents.emit('clocksStarted', {});
    await deps.clock.advance(0);
    expect(asked).toEqual([[messageId]]);
    expect(deps.store.get(starsAtom)).toEqual([]);
    expect(ids()).toEqual(['m2']);
    expect(chats.get(peer).messages[0]?.quote).toEqual({ message: null, hasDisappeared: true });
    expect(chats.get(peer).state).toMatchObject({ lastMessage: null, pinned: [] });
    expect(deps.store.get(composingAtom)[peer]?.replyTo).toBeNull();
    expect(deps.store.get(announcementAtom)).toBe('');
  });

  it('go from answers to what is not loaded, and from inputs of chats that are not open', async () => {
    const secret = received(1, { timer: 60 });
    const { messageId, senderId, content, timer } = secret;
    const answer = received(2, { quote: { message: { messageId, senderId, content, timer: timer ?? 0 } } });
    const answered = received(3, { timer: 60, conversationId: 'elsewhere' });
    const edited = received(4, { timer: 60, conversationId: 'elsewhere' });
    chats.addMessages(conversationId, [answer]);
    deps.store.set(composeAtom, 'one', () => ({ replyTo: answered }));
    deps.store.set(composeAtom, 'other', () => ({ edit: { message: edited, text: 'Words.' } }));
    gone = ['m1', 'm3', 'm4'];
    disappearing.start();
    await deps.clock.advance(0);
    expect(asked).toEqual([['m1', 'm3', 'm4']]);
    expect(chats.get(peer).messages[0]?.quote).toEqual({ message: null, hasDisappeared: true });
    expect(Object.values(deps.store.get(composingAtom))).toEqual([
      { replyTo: null, edit: null },
      { replyTo: null, edit: null },
    ]);
  });

  it('go where they wait to be sent in one tab, and another one has sent them', async () => {
    const waiting = { ...received(1, { timer: 60, status: 'sending', senderId: me }), seq: null };
    chats.addMessages(conversationId, [waiting]);
    gone = [waiting.messageId];
    disappearing.start();
    await deps.clock.advance(0);
    expect(asked).toEqual([[waiting.messageId]]);
    expect(ids()).toEqual([]);
  });

  it('go from a tab in which nobody reads, since another may have begun', async () => {
    chats.addMessages(conversationId, [received(1, { timer: 60 })]);
    disappearing.start();
    await deps.clock.advance(0);
    expect(ids()).toEqual(['m1']);
    gone = ['m1'];
    await deps.clock.advance(10_000);
    expect(ids()).toEqual([]);
    disappearing.stop();
  });
});

describe('all that members agree on', () => {
  const submission = (commit: string) => ({ commit }) as never;
  const never = () => Promise.reject(new Error('not asked for'));

  it('is brought into the log after what has to go first, until it is there', async () => {
    const due = [submission('removal'), submission('timer'), null];
    const submitted: unknown[] = [];
    await agreeOn(
      { setTimer: () => Promise.resolve(due.shift() ?? null), setPinned: never },
      {
        submit: (one) => {
          submitted.push(one.commit);
          return Promise.resolve({ kind: 'overtaken' });
        },
      },
      conversationId,
      { seconds: 60 },
    );
    expect(submitted).toEqual(['removal', 'timer']);
  });

  it.each([
    ['the timer', { seconds: 60 }],
    ['what is pinned', { messageId: 'm1', isPinned: true }],
  ])('is %s, and says where a device is too old to know of it', async (_what, agreement) => {
    const tooOld = () => Promise.reject(Object.assign(new Error('no'), { code: 'invalid-proposal' }));
    const crypto =
      'seconds' in agreement
        ? { setTimer: tooOld, setPinned: never }
        : { setTimer: never, setPinned: tooOld };
    await expect(agreeOn(crypto, { submit: never }, conversationId, agreement)).rejects.toMatchObject({
      code: 'invalid-proposal',
      message: expect.stringContaining('updated the app'),
    });
  });
});
