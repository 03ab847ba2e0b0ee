import { createStore } from 'jotai';
import { describe, expect, it } from 'vitest';
import { createChats, mergeMessages } from '../../../../src/services/chats.ts';
import { chatsAtom } from '../../../../src/store/chats.ts';
import { conversationId, me, peer, received, state } from './support/deps.ts';

const ids = (messages: readonly { messageId: string }[]) => messages.map(({ messageId }) => messageId);

describe('merging messages', () => {
  it('sorts by time whatever order they came in', () => {
    expect(ids(mergeMessages([received(3)], [received(1), received(2)]))).toEqual(['m1', 'm2', 'm3']);
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

  it('leaves the list alone when nothing comes', () => {
    const present = [received(1)];
    expect(mergeMessages(present, [])).toBe(present);
  });
});

describe('the chats', () => {
  function setUp() {
    const store = createStore();
    return { store, chats: createChats(store, me) };
  }

  it('keep messages of loaded chats only', () => {
    const { chats } = setUp();
    chats.addMessages(conversationId, [received(1)]);
    expect(chats.get(peer).messages).toEqual([]);
    chats.setLoaded(peer, true);
    chats.addMessages(conversationId, [received(1)]);
    expect(ids(chats.get(peer).messages)).toEqual(['m1']);
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

  it('forget a message wherever it is', () => {
    const { chats } = setUp();
    chats.setLoaded(peer, true);
    chats.addMessages(conversationId, [received(1), received(2)]);
    chats.removeMessage('m1');
    expect(ids(chats.get(peer).messages)).toEqual(['m2']);
  });
});
