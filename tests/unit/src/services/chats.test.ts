import * as fc from 'fast-check';
import { createStore } from 'jotai';
import { describe, expect, it, vi } from 'vitest';
import type { MessageView } from '#src/crypto/client.ts';
import { createChats, mergeMessages } from '#src/services/conversations/chats.ts';
import { createSessionEvents } from '#src/services/core/sessionEvents.ts';
import { chatsAtom } from '#src/store/chats.ts';
import { conversationId, me, peer, received, state } from './support/deps.ts';

const ids = (messages: readonly { messageId: string }[]) => messages.map(({ messageId }) => messageId);

describe('merging messages', () => {
  it('sorts by time whatever order they came in', () => {
    expect(ids(mergeMessages([received(3)], [received(1), received(2)]))).toEqual(['m1', 'm2', 'm3']);
  });

  it('keeps the order of the log whatever times the relay says', () => {
    const times = [received(9), received(1), received(5)].map(({ timestamp }) => timestamp);
    const messages = [1, 2, 3].map((seq, i) => received(seq, { timestamp: times[i] ?? '' }));
    expect(ids(mergeMessages(messages.slice(1), messages.slice(0, 1)))).toEqual(['m1', 'm2', 'm3']);
  });

  it('puts those that wait after those of equal time', () => {
    const { timestamp } = received(2);
    const waiting = received(0, { messageId: 'a', seq: null, timestamp, status: 'sending' });
    expect(ids(mergeMessages([waiting], [received(2), received(3)]))).toEqual(['m2', 'a', 'm3']);
  });

  it('keeps the order of the log among equal times', () => {
    const timestamp = received(1).timestamp;
    const messages = [3, 1, 2].map((seq) => received(seq, { timestamp }));
    expect(ids(mergeMessages([], messages))).toEqual(['m1', 'm2', 'm3']);
  });

  it('holds each id once, with its newest view', () => {
    const waiting = received(0, { messageId: 'own', seq: null, status: 'sending', senderId: me });
    const failed = { ...waiting, status: 'failed' as const };
    expect(mergeMessages([waiting], [failed])).toEqual([failed]);
  });

  it('never undoes what the log has returned', () => {
    const sent = received(4, { messageId: 'own', status: 'sent', senderId: me });
    const late = { ...sent, seq: null, status: 'failed' as const };
    expect(mergeMessages([sent], [late])).toEqual([sent]);
  });

  it('moves a message to where the relay has put it', () => {
    const waiting = received(9, { messageId: 'own', seq: null, status: 'sending', senderId: me });
    const sent = { ...waiting, seq: 2, status: 'sent' as const, timestamp: received(2).timestamp };
    const present = mergeMessages([], [received(1), received(3), waiting]);
    expect(ids(mergeMessages(present, [sent]))).toEqual(['m1', 'own', 'm3']);
  });

  it('is the same in whatever batches they come', () => {
    const view = fc
      .record({ id: fc.nat(30), second: fc.nat(9), waiting: fc.boolean() })
      // The relay's times rise with its positions.
      .map(({ id, second, waiting }) =>
        received(waiting ? second : Math.floor(id / 3), { messageId: `m${id}`, seq: waiting ? null : id }),
      );
    fc.assert(
      fc.property(fc.array(fc.array(view, { maxLength: 6 }), { maxLength: 12 }), (batches) => {
        const merged = batches.reduce<readonly MessageView[]>(mergeMessages, []);
        const newest = new Map<string, MessageView>();
        for (const message of batches.flat()) {
          const known = newest.get(message.messageId);
          if (message.seq !== null || (known?.seq ?? null) === null) newest.set(message.messageId, message);
        }
        const sorted = [...newest.values()].sort(
          (a, b) =>
            a.timestamp.localeCompare(b.timestamp) ||
            (a.seq ?? 1e9) - (b.seq ?? 1e9) ||
            (a.messageId < b.messageId ? -1 : 1),
        );
        expect(merged).toEqual(sorted);
      }),
      { seed: 5 },
    );
  });

  it('looks at few of 50,000 messages to add one, or a page of older ones', () => {
    const many = Array.from({ length: 50_000 }, (_, index) => received(index + 100));
    const present = mergeMessages(mergeMessages([], many), [received(60_000)]);
    const parse = vi.spyOn(Date, 'parse');
    const appended = mergeMessages(present, [received(60_001)]);
    const prepended = mergeMessages(
      appended,
      Array.from({ length: 100 }, (_, index) => received(index)),
    );
    const late = mergeMessages(prepended, [received(30_000, { messageId: 'late' })]);
    expect(parse.mock.calls.length).toBeLessThan(3000);
    parse.mockRestore();
    expect(late).toHaveLength(50_103);
    expect(late.at(-1)?.messageId).toBe('m60001');
    expect(late[0]?.messageId).toBe('m0');
  });

  it('leaves the list alone when nothing comes', () => {
    const present = [received(1)];
    expect(mergeMessages(present, [])).toBe(present);
  });
});

describe('the chats of a session', () => {
  function setUp() {
    const store = createStore();
    const sessionEvents = createSessionEvents();
    return { store, sessionEvents, chats: createChats({ store, sessionEvents }, me) };
  }

  it('keep messages of loaded chats only', () => {
    const { chats } = setUp();
    chats.addMessages(conversationId, [received(1)]);
    expect(chats.get(peer).messages).toEqual([]);
    chats.setLoaded(peer, true);
    chats.addMessages(conversationId, [received(1)]);
    expect(ids(chats.get(peer).messages)).toEqual(['m1']);
  });

  it('show in quotes what has become of a message, and nothing of one that is deleted here', () => {
    const { chats, sessionEvents } = setUp();
    chats.setLoaded(peer, true);
    const { content, messageId, senderId } = received(1);
    const answer = received(2, { quote: { message: { content, messageId, senderId } } });
    chats.addMessages(conversationId, [received(1), answer]);
    const deleted = received(1, { content: { kind: 'deleted' } });
    sessionEvents.emit('entriesProcessed', { messages: [deleted], events: [], state: state() });
    const quoted = () => chats.get(peer).messages.at(-1)?.quote;
    expect(quoted()).toEqual({ message: { content: { kind: 'deleted' }, messageId, senderId } });
    chats.removeMessage(messageId);
    expect(quoted()).toEqual({ message: null });
  });

  it('put no message that was changed now right before the first one that is loaded', () => {
    const { chats, sessionEvents } = setUp();
    chats.setLoaded(peer, true);
    chats.addMessages(conversationId, [received(50)]);
    chats.change(peer, () => ({ hasOlder: true }));
    const changed = [received(2), received(50, { isEdited: true }), received(51)];
    sessionEvents.emit('entriesProcessed', { messages: changed, events: [], state: state() });
    expect(ids(chats.get(peer).messages)).toEqual(['m50', 'm51']);
    expect(chats.get(peer).messages[0]?.isEdited).toBe(true);
  });

  it("take no notice of other people's conversations", () => {
    const { chats, store } = setUp();
    const stranger = '00000000-0000-4000-8000-000000000009';
    for (const id of [`direct:${peer}:${stranger}`, `direct:${me}:${me}`]) {
      chats.setState(state({ conversationId: id }));
      chats.setLoaded(stranger, true);
      chats.addMessages(id, [received(1)]);
    }
    expect(store.get(chatsAtom)).toEqual({});
  });

  it('keep a group beside the direct chats, until it is removed', () => {
    const { chats, store } = setUp();
    const group = `group:${peer}`;
    const key = `group-${peer}`;
    chats.setLoaded(key, true);
    chats.setState(state({ conversationId: group }));
    chats.addMessages(group, [received(1, { conversationId: group })]);
    chats.setState(state());
    expect(Object.keys(store.get(chatsAtom))).toEqual([key, peer]);
    expect(ids(chats.get(key).messages)).toEqual(['m1']);
    expect(chats.get(peer).messages).toEqual([]);
    chats.remove(key);
    expect(Object.keys(store.get(chatsAtom))).toEqual([peer]);
    expect(chats.isLoaded(key)).toBe(false);
  });

  it('show the states of all conversations at once', () => {
    const { chats, store } = setUp();
    const changed = vi.fn<() => void>();
    store.sub(chatsAtom, changed);
    chats.setStates([state({ unread: 2 }), state({ conversationId: `group:${peer}` }), state({ unread: 3 })]);
    expect(changed).toHaveBeenCalledOnce();
    expect(chats.get(peer).state?.unread).toBe(3);
    expect(Object.keys(store.get(chatsAtom))).toEqual([peer, `group-${peer}`]);
  });

  it('show the messages and the state of processed entries in one change', () => {
    const { chats, sessionEvents, store } = setUp();
    chats.setLoaded(peer, true);
    const changed = vi.fn<() => void>();
    store.sub(chatsAtom, changed);
    sessionEvents.emit('entriesProcessed', {
      state: state({ unread: 1 }),
      messages: [received(1)],
      events: [],
    });
    expect(changed).toHaveBeenCalledOnce();
    expect(chats.get(peer).state?.unread).toBe(1);
    expect(ids(chats.get(peer).messages)).toEqual(['m1']);
  });

  it('ignore late states of a forgotten group until the relay lists it again', () => {
    const { chats, sessionEvents, store } = setUp();
    const late = state({ conversationId: `group:${peer}` });
    sessionEvents.emit('groupForgotten', { groupId: peer });
    chats.setState(late);
    sessionEvents.emit('conversationsChanged', { states: [late] });
    sessionEvents.emit('entriesProcessed', { state: late, messages: [received(1)], events: [] });
    expect(store.get(chatsAtom)).toEqual({});
    sessionEvents.emit('groupReturned', { groupId: peer });
    sessionEvents.emit('conversationsChanged', { states: [late] });
    expect(Object.keys(store.get(chatsAtom))).toEqual([`group-${peer}`]);
  });

  it('keep the newest messages of a long one that is left', () => {
    const { chats } = setUp();
    chats.setLoaded(peer, true);
    chats.addMessages(conversationId, [received(1), received(2), received(3)]);
    chats.trim(peer, 3);
    expect(chats.get(peer)).toMatchObject({ hasOlder: false, messages: [{}, {}, {}] });
    chats.trim(peer, 2);
    expect(chats.get(peer).hasOlder).toBe(true);
    expect(ids(chats.get(peer).messages)).toEqual(['m2', 'm3']);
  });

  it('forget a message wherever it is', () => {
    const { chats } = setUp();
    chats.setLoaded(peer, true);
    chats.addMessages(conversationId, [received(1), received(2)]);
    chats.removeMessage('m1');
    expect(ids(chats.get(peer).messages)).toEqual(['m2']);
  });
});
