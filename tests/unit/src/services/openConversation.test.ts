import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi, MessageView } from '#src/crypto/client.ts';
import { NetworkError } from '#src/net/errors.ts';
import type { WatchedChat } from '#src/net/mqtt.ts';
import { type Chats, createChats } from '#src/services/conversations/chats.ts';
import {
  createOpenConversation,
  type OpenConversation,
  type OpenConversationOptions,
} from '#src/services/conversations/openConversation.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { activeChatAtom, activeGroupAtom } from '#src/store/chats.ts';
import { offlineAtom, relayTroubleAtom } from '#src/store/connection.ts';
import { connectionBannerAtom } from '#src/store/session.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { settled } from '../net/support/fakeClock.ts';
import { conversationId, me, peer, received, refused, type TestDeps, testDeps } from './support/deps.ts';
import { SimulatedDevice } from './support/simulation.ts';

let device: SimulatedDevice;
let worker: Partial<CryptoApi>;
let deps: TestDeps;
let chats: Chats;
let openConversation: OpenConversation;
let signedIn: boolean;
let visible: boolean;
let gone: boolean;
let fetchFailure: Error | null;
const markDelivered = vi.fn<(messageId: string) => Promise<undefined>>();
const catchUp = vi.fn<OpenConversationOptions['sync']['catchUp']>();
const olderEntries = vi.fn<OpenConversationOptions['sync']['olderEntries']>();
const refreshOpen = vi.fn<() => Promise<void>>();
const tell = vi.fn<OpenConversationOptions['receipts']['tell']>();
const watch = vi.fn<(chat: WatchedChat | null) => void>();

beforeEach(() => {
  markDelivered.mockReset().mockResolvedValue(undefined);
  catchUp.mockReset().mockImplementation(async () => {
    if (fetchFailure !== null) throw fetchFailure;
    chats.setState(device.state());
    return device.state();
  });
  olderEntries.mockReset().mockResolvedValue({ messages: [], lowestSeq: null });
  watch.mockReset();
  refreshOpen.mockReset().mockResolvedValue(undefined);
  tell.mockReset();
  signedIn = true;
  visible = true;
  gone = false;
  fetchFailure = null;
  device = new SimulatedDevice();
  Object.assign(device, { membership: 'member', epoch: 1 });
  worker = device.api();
  deps = testDeps({ api: { markDelivered }, crypto: worker });
  chats = createChats(deps, me);
  openConversation = createOpenConversation({
    deps,
    ownUserId: me,
    chats,
    chatEvents: { load: async () => undefined },
    sync: { catchUp, olderEntries },
    receipts: { refreshOpen, tell },
    watch,
    isGone: () => gone,
    hasToken: () => signedIn,
    isVisible: () => visible,
    background: createBackground(deps.log),
  });
});

/** Messages of the other person that this device has. */
function have(first: number, last: number): void {
  for (let seq = first; seq <= last; seq += 1) device.messages.push(received(seq));
  device.lastSeq = last;
}

/** A message comes while the session goes on. */
function arrive(message: MessageView): void {
  deps.sessionEvents.emit('entriesProcessed', { state: device.state(), messages: [message], events: [] });
}

const seqs = () => chats.get(peer).messages.map(({ seq }) => seq);
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('opening a chat', () => {
  it('starts the clock of a message whose copy came after what followed it was read', async () => {
    device.messages.push({ ...received(1), timer: 30 }, received(2));
    Object.assign(device, { readHere: 2, lastSeq: 2 });
    const setReadPosition = vi.spyOn(worker as CryptoApi, 'setReadPosition');
    await openConversation.open(peer).then(settled);
    expect(setReadPosition).toHaveBeenCalledExactlyOnceWith(conversationId, 'here', 2);
  });

  it('shows what this browser has, the waiting messages last', async () => {
    have(1, 2);
    await worker.queueMessage?.({
      conversationId,
      messageId: 'waiting',
      text: 'hello',
      sentAt: '2026-03-01T12:05:00.000Z',
    });
    const opening = openConversation.open(peer);
    expect(deps.store.get(activeChatAtom)).toBe(peer);
    expect(chats.get(peer).loading).toBe(true);
    await opening;
    expect(chats.get(peer)).toMatchObject({ loading: false, hasOlder: false });
    expect(seqs()).toEqual([1, 2, null]);
    expect(watch).toHaveBeenLastCalledWith({ kind: 'status', userId: peer });
  });

  it('marks it read at the relay and here', async () => {
    have(1, 3);
    await openConversation.open(peer);
    await settled();
    expect(markDelivered).toHaveBeenCalledExactlyOnceWith('m3');
    expect(device.readSeq).toBe(3);
    expect(chats.get(peer).state?.readSeq).toBe(3);
  });

  describe('whose new messages cannot be fetched', () => {
    const said = () => deps.store.get(toastsAtom).map(({ text }) => text);

    it.each([refused('internal'), new NetworkError('unreachable')])('says so: %s', async (failure) => {
      have(1, 2);
      fetchFailure = failure;
      await openConversation.open(peer);
      await settled();
      expect(seqs()).toEqual([1, 2]);
      expect(said()).toEqual(['Failed to load messages. Please try again.']);
    });

    it.each([
      ['offline, as the header says', () => deps.store.set(offlineAtom, true)],
      ['of a relay that the header says is not there', () => deps.store.set(relayTroubleAtom, 'silent')],
      ['once it was left', () => void openConversation.open(null)],
    ])('says nothing %s', async (_when, happen) => {
      fetchFailure = new NetworkError('unreachable');
      const opening = openConversation.open(peer);
      happen();
      await opening;
      await settled();
      expect(said()).toEqual([]);
    });

    it('says nothing of a conversation that the relay no longer has', async () => {
      fetchFailure = refused('not-found');
      await openConversation.open(peer);
      await settled();
      expect(said()).toEqual([]);
    });
  });

  it('marks nothing read that nobody can see, until it comes into sight', async () => {
    have(1, 3);
    visible = false;
    await openConversation.open(peer);
    await settled();
    expect(markDelivered).not.toHaveBeenCalled();
    visible = true;
    openConversation.markRead();
    await settled();
    expect(markDelivered).toHaveBeenCalledOnce();
  });

  it('marks what comes to the open chat read once it was drawn, all of it together', async () => {
    have(1, 3);
    await openConversation.open(peer);
    await settled();
    markDelivered.mockClear();
    for (const seq of [4, 5]) {
      arrive(received(seq));
    }
    await settled();
    expect(markDelivered).not.toHaveBeenCalled();
    await deps.clock.advance(30);
    expect(markDelivered.mock.calls).toEqual([['m5']]);
  });

  it('marks it read when the chat is left before', async () => {
    have(1, 3);
    await openConversation.open(peer);
    await settled();
    arrive(received(4));
    await openConversation.open(null);
    await settled();
    expect(markDelivered).toHaveBeenLastCalledWith('m4');
  });

  it('marks neither own messages nor what was read before', async () => {
    have(1, 3);
    device.readSeq = 3;
    device.messages.push(received(4, { senderId: me, status: 'sent' }));
    await openConversation.open(peer);
    await settled();
    expect(markDelivered).not.toHaveBeenCalled();
  });

  it('tells the relay later what it could not tell at once', async () => {
    have(1, 3);
    markDelivered.mockRejectedValueOnce(new NetworkError('unreachable'));
    await openConversation.open(peer);
    await settled();
    expect(device.readSeq).toBe(3);
    await openConversation.open(null);
    openConversation.markRead();
    await settled();
    expect(markDelivered.mock.calls).toEqual([['m3'], ['m3']]);
    openConversation.markRead();
    await settled();
    expect(markDelivered).toHaveBeenCalledTimes(2);
  });

  it('shows the banner when the session is gone', async () => {
    signedIn = false;
    await openConversation.open(peer);
    expect(deps.store.get(connectionBannerAtom)).toBe(true);
    expect(markDelivered).not.toHaveBeenCalled();
  });

  it('can be tried again after this browser failed', async () => {
    have(1, 1);
    const { messages } = worker;
    worker.messages = () => Promise.reject(Object.assign(new Error(), { code: 'storage' }));
    await expect(openConversation.open(peer)).rejects.toMatchObject({
      name: 'AppError',
      code: 'storage',
      message: 'Failed to load messages. Please try again.',
    });
    expect(chats.get(peer).loading).toBe(false);
    if (messages !== undefined) worker.messages = messages;
    await openConversation.open(peer);
    expect(seqs()).toEqual([1]);
  });

  it('with nobody closes the chat', async () => {
    await openConversation.open(peer);
    await openConversation.open(null);
    expect(deps.store.get(activeChatAtom)).toBeNull();
    expect(watch).toHaveBeenLastCalledWith(null);
  });
});

describe('opening a group', () => {
  const groupId = '00000000-0000-4000-8000-0000000000a1';
  const key = `group-${groupId}`;

  it('shows its messages, watches its topic, and closes the direct chat', async () => {
    have(1, 2);
    await openConversation.open(peer);
    await openConversation.openGroup(groupId);
    expect(deps.store.get(activeChatAtom)).toBeNull();
    expect(deps.store.get(activeGroupAtom)).toBe(groupId);
    expect(watch).toHaveBeenLastCalledWith({ kind: 'group', groupId });
    expect(chats.get(key).messages.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('that is gone shows what this browser has, and asks the relay for nothing', async () => {
    have(1, 2);
    gone = true;
    await openConversation.openGroup(groupId);
    await settled();
    expect(chats.get(key).messages.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(chats.get(key).state?.unread).toBe(0);
    expect(catchUp).not.toHaveBeenCalled();
    expect(olderEntries).not.toHaveBeenCalled();
    expect(markDelivered).not.toHaveBeenCalled();
  });

  it('is ended by a direct chat, and closed by null; closing the other kind changes nothing', async () => {
    await openConversation.openGroup(groupId);
    await openConversation.open(null);
    expect(deps.store.get(activeGroupAtom)).toBe(groupId);
    expect(watch).toHaveBeenLastCalledWith({ kind: 'group', groupId });
    await openConversation.open(peer);
    expect(deps.store.get(activeGroupAtom)).toBeNull();
    await openConversation.openGroup(null);
    expect(deps.store.get(activeChatAtom)).toBe(peer);
    await openConversation.openGroup(groupId);
    await openConversation.openGroup(null);
    expect(deps.store.get(activeGroupAtom)).toBeNull();
    expect(watch).toHaveBeenLastCalledWith(null);
  });

  it('marks its messages as read', async () => {
    have(1, 3);
    await openConversation.openGroup(groupId);
    await settled();
    expect(markDelivered).toHaveBeenCalledExactlyOnceWith('m3');
    expect(device.readSeq).toBe(3);
  });

  it('begins anew after it was forgotten: whoever comes back sees all that came since', async () => {
    have(1, 60);
    await openConversation.openGroup(groupId);
    deps.sessionEvents.emit('groupForgotten', { groupId });
    chats.remove(key);
    deps.sessionEvents.emit('groupReturned', { groupId });
    expect(deps.store.get(activeGroupAtom)).toBeNull();
    expect(watch).toHaveBeenLastCalledWith(null);
    device.messages.length = 0;
    have(70, 71);
    await openConversation.openGroup(groupId);
    expect(chats.get(key).messages.map(({ seq }) => seq)).toEqual([70, 71]);
  });

  it('that is forgotten does not close another chat', async () => {
    await openConversation.open(peer);
    deps.sessionEvents.emit('groupForgotten', { groupId });
    expect(deps.store.get(activeChatAtom)).toBe(peer);
  });

  it('with an id that is none is impossible', async () => {
    await openConversation.openGroup('../contacts');
    expect(deps.store.get(activeGroupAtom)).toBeNull();
  });
});

describe('older messages of an open chat', () => {
  it('come page by page from this browser, and end', async () => {
    have(1, 220);
    await openConversation.open(peer);
    expect(seqs()).toEqual(range(171, 220));
    expect(chats.get(peer).hasOlder).toBe(true);
    await openConversation.loadOlder(peer);
    expect(seqs()).toEqual(range(21, 220));
    await openConversation.loadOlder(peer);
    expect(seqs()).toEqual(range(1, 220));
    expect(chats.get(peer).hasOlder).toBe(false);
    expect(olderEntries).not.toHaveBeenCalled();
  });

  it('two calls at once load two pages, not one page twice', async () => {
    have(1, 350);
    await openConversation.open(peer);
    await Promise.all([openConversation.loadOlder(peer), openConversation.loadOlder(peer)]);
    expect(seqs()).toEqual(range(1, 350));
  });

  it('do not stay in memory by the thousand when the chat is left, and come back when asked for', async () => {
    have(1, 1500);
    await openConversation.open(peer);
    for (let page = 0; page < 10; page += 1) await openConversation.loadOlder(peer);
    expect(seqs()).toEqual(range(1, 1500));
    await openConversation.open(peer);
    expect(seqs()).toHaveLength(1500);
    await openConversation.open(null);
    expect(seqs()).toEqual(range(501, 1500));
    expect(chats.get(peer).hasOlder).toBe(true);
    await openConversation.open(peer);
    await openConversation.loadOlder(peer);
    expect(seqs()).toEqual(range(351, 1500));
  });

  it('from before this device joined come from the relay, below where it joined', async () => {
    device.joinedSeq = 30;
    // Positions 31 and 32 are commits.
    have(33, 40);
    olderEntries.mockImplementation(async (_id, before) =>
      before > 20
        ? { messages: [received(20), received(25)], lowestSeq: 20 }
        : { messages: [received(2)], lowestSeq: 1 },
    );
    await openConversation.open(peer);
    await settled();
    expect(olderEntries.mock.calls).toEqual([[conversationId, 31, 50]]);
    expect(seqs()).toEqual([20, 25, ...range(33, 40)]);
    expect(chats.get(peer).hasOlder).toBe(true);
    await openConversation.loadOlder(peer);
    expect(olderEntries).toHaveBeenLastCalledWith(conversationId, 20, 50);
    expect(seqs()).toEqual([2, 20, 25, ...range(33, 40)]);
    expect(chats.get(peer).hasOlder).toBe(false);
  });

  it('are looked for behind pages that hold commits only', async () => {
    device.joinedSeq = 200;
    have(201, 201);
    olderEntries.mockImplementation(async (_id, before) =>
      before > 100 ? { messages: [], lowestSeq: before - 50 } : { messages: [received(70)], lowestSeq: 60 },
    );
    await openConversation.open(peer);
    await settled();
    expect(seqs()).toEqual([70, 201]);
  });

  it('that could not be fetched can be asked for again', async () => {
    device.joinedSeq = 30;
    have(31, 31);
    olderEntries.mockRejectedValue(new NetworkError('unreachable'));
    await openConversation.open(peer);
    await settled();
    await expect(openConversation.loadOlder(peer)).rejects.toMatchObject({
      name: 'AppError',
      code: 'unreachable',
    });
    olderEntries.mockResolvedValue({ messages: [received(9)], lowestSeq: 1 });
    await openConversation.loadOlder(peer);
    expect(seqs()).toEqual([9, 31]);
  });
});
