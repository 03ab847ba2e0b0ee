import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { type Typing, typingOf } from '#src/services/conversations/typing.ts';
import { type ConversationState, chatsAtom, groupKeyOf } from '#src/store/chats.ts';
import { type Group, groupsAtom } from '#src/store/groups.ts';
import { trustAtom } from '#src/store/trust.ts';
import { typingAtom } from '#src/store/typing.ts';
import { conversationId, me, peer, received, state, type TestDeps, testDeps } from './support/deps.ts';

const groupId = '00000000-0000-4000-8000-0000000000a1';
const third = '00000000-0000-4000-8000-0000000000b3';
const deviceId = '00000000-0000-4000-8000-0000000000d1';
const content = 'A'.repeat(66);
const key = groupKeyOf(groupId);

let deps: TestDeps;
let typing: Typing;
let isConnected: boolean;
const sealTyping = vi.fn<CryptoApi['sealTyping']>();
const openTyping = vi.fn<CryptoApi['openTyping']>();
const publishFleeting = vi.fn<(topic: string, payload: object) => void>();

beforeEach(() => {
  isConnected = true;
  sealTyping.mockReset().mockResolvedValue({ epoch: 3, content });
  openTyping.mockReset().mockResolvedValue(true);
  publishFleeting.mockReset();
  deps = testDeps({ crypto: { sealTyping, openTyping, hasFormerDevices: async () => true } });
  open(peer, state());
  typing = typingOf({
    deps,
    ownUserId: me,
    realtime: { isConnected: () => isConnected, publishFleeting },
  });
});

function open(chat: string, known: ConversationState): void {
  const one = { state: known, messages: [], loading: false, hasOlder: false };
  deps.store.set(chatsAtom, (chats) => ({ ...chats, [chat]: one }));
}

function openGroup(change: Partial<Group> = {}, people = 3): void {
  const members = Array.from({ length: people }, (_, at) => ({ userId: `${at}`, deviceIds: ['device'] }));
  open(key, state({ conversationId: `group:${groupId}`, members }));
  const group = { id: groupId, ended: false, mismatch: null, ...change } as Group;
  deps.store.set(groupsAtom, (list) => ({ ...list, items: [group] }));
}

const sign = (change: object = {}) => ({
  type: 'typing',
  conversationId,
  userId: peer,
  deviceId,
  epoch: 3,
  content,
  ...change,
});
const writers = (chat = peer) => deps.store.get(typingAtom)[chat]?.map(({ userId }) => userId);

describe('writing', () => {
  it('is told to the other person at once, then each three seconds, as long as the form changes', async () => {
    for (let second = 0; second < 7; second += 1) {
      await typing.tell(peer, true);
      await deps.clock.advance(1000);
    }
    expect(sealTyping.mock.calls).toEqual(Array.from({ length: 3 }, () => [conversationId, true]));
    expect(publishFleeting.mock.calls[0]).toEqual([
      `user/${peer}/typing`,
      { type: 'typing', epoch: 3, content },
    ]);
    expect(publishFleeting).toHaveBeenCalledTimes(3);
  });

  it('is over when the form is empty, which is told once, and not where nobody would see it', async () => {
    await typing.tell(peer, false);
    expect(sealTyping).not.toHaveBeenCalled();
    await typing.tell(peer, true);
    await typing.tell(peer, false);
    await typing.tell(peer, false);
    expect(sealTyping.mock.calls).toEqual([
      [conversationId, true],
      [conversationId, false],
    ]);
    await typing.tell(peer, true);
    await deps.clock.advance(6000);
    await typing.tell(peer, false);
    expect(sealTyping).toHaveBeenCalledTimes(3);
  });

  it('is told anew right after a message of one’s own', async () => {
    await typing.tell(peer, true);
    deps.sessionEvents.emit('entriesProcessed', {
      messages: [received(2, { senderId: me })],
      events: [],
      state: state(),
    });
    await typing.tell(peer, true);
    expect(publishFleeting).toHaveBeenCalledTimes(2);
  });

  it('is told to a group on its topic, unless it is too large, over, or in doubt', async () => {
    openGroup();
    await typing.tell(key, true);
    expect(publishFleeting).toHaveBeenCalledExactlyOnceWith(`group/${groupId}/typing`, expect.anything());
    const mismatch = { unlisted: [third], withoutKeys: [] };
    for (const [change, people] of [
      [{}, 101],
      [{ ended: true }, 3],
      [{ mismatch }, 3],
    ] as const) {
      await deps.clock.advance(10_000);
      openGroup(change, people);
      await typing.tell(key, true);
    }
    expect(publishFleeting).toHaveBeenCalledOnce();
  });

  it('is told to nobody to whom no message would go, nor to oneself, nor without a connection', async () => {
    const known = { userId: peer, verifiedAt: null, keyOffered: false, name: null, changedAt: [] };
    const quiet: [string, () => void][] = [
      [peer, () => open(peer, state({ status: 'outside' }))],
      [peer, () => open(peer, state({ isDoubted: true }))],
      [me, () => open(me, state({ conversationId: `self:${me}` }))],
      [third, () => undefined],
      [peer, () => deps.store.set(trustAtom, () => new Map([[peer, { ...known, keyOffered: true }]]))],
      // Another person's devices may be behind the former key.
      [peer, () => deps.store.set(trustAtom, () => new Map([[peer, { ...known, changedAt: ['2026'] }]]))],
      [
        peer,
        () => {
          deps.store.set(trustAtom, () => new Map());
          isConnected = false;
        },
      ],
    ];
    for (const [to, arrange] of quiet) {
      open(peer, state());
      arrange();
      await typing.tell(to, true);
      await deps.clock.advance(10_000);
    }
    expect(publishFleeting).not.toHaveBeenCalled();
  });
});

describe('somebody who writes', () => {
  it('is shown for six seconds after the last sign', async () => {
    await typing.take(sign());
    expect(openTyping).toHaveBeenCalledExactlyOnceWith(conversationId, {
      userId: peer,
      deviceId,
      epoch: 3,
      content,
    });
    await deps.clock.advance(4000);
    await typing.take(sign());
    await deps.clock.advance(5999);
    expect(writers()).toEqual([peer]);
    await deps.clock.advance(1);
    expect(writers()).toBeUndefined();
  });

  it('is no longer shown when they stop, nor once their message is there', async () => {
    await typing.take(sign());
    openTyping.mockResolvedValueOnce(false);
    await typing.take(sign());
    expect(writers()).toBeUndefined();
    openGroup();
    const inGroup = { conversationId: `group:${groupId}` };
    for (const userId of [peer, third]) await typing.take(sign({ ...inGroup, userId }));
    expect(writers(key)).toEqual([peer, third]);
    deps.sessionEvents.emit('entriesProcessed', {
      messages: [received(2, { senderId: third, ...inGroup })],
      events: [],
      state: state(inGroup),
    });
    expect(writers(key)).toEqual([peer]);
  });

  it.each([
    ['no sign at all', undefined],
    ['a sign of another size', sign({ content: 'AAAA' })],
    ['a sign of nobody', sign({ userId: 'x' })],
    ['a conversation of others', sign({ conversationId: `direct:${peer}:${third}` })],
  ])('is nobody by %s', async (_what, payload) => {
    await typing.take(payload);
    expect(openTyping).not.toHaveBeenCalled();
    expect(deps.store.get(typingAtom)).toEqual({});
  });

  it('is nobody where the worker finds that a sign says nothing', async () => {
    openTyping.mockResolvedValue(null);
    await typing.take(sign());
    expect(deps.store.get(typingAtom)).toEqual({});
  });
});
