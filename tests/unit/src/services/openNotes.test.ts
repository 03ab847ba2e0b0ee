import { expect, it, vi } from 'vitest';
import type { WatchedChat } from '#src/net/mqtt.ts';
import { createChats } from '#src/services/conversations/chats.ts';
import { createOpenConversation } from '#src/services/conversations/openConversation.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { activeChatAtom } from '#src/store/chats.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, received, testDeps } from './support/deps.ts';
import { SimulatedDevice } from './support/simulation.ts';

it('a chat with oneself opens the notes, of which nothing is watched, read or looked for further back', async () => {
  const device = new SimulatedDevice();
  Object.assign(device, { membership: 'member', epoch: 1, joinedSeq: 3 });
  const own = { ...device.state(), conversationId: `self:${me}` };
  const note = received(4, { conversationId: `self:${me}`, senderId: me });
  const keys = received(5, { ...note, messageId: 'keys', content: { kind: 'unknown' } });
  const markDelivered = vi.fn<(messageId: string) => Promise<undefined>>();
  const olderEntries = vi.fn<() => Promise<{ messages: []; lowestSeq: null }>>();
  const watch = vi.fn<(chat: WatchedChat | null) => void>();
  const worker = { conversation: async () => own, messages: async () => [note], outbox: async () => [keys] };
  const deps = testDeps({ api: { markDelivered }, crypto: worker });
  const chats = createChats(deps, me);
  const openConversation = createOpenConversation({
    deps,
    ownUserId: me,
    chats,
    chatEvents: { load: async () => undefined },
    sync: { catchUp: async () => own, olderEntries },
    receipts: { refreshOpen: async () => undefined, tell: () => undefined },
    watch,
    isGone: () => false,
    hasToken: () => true,
    isVisible: () => true,
    background: createBackground(deps.log),
  });
  await openConversation.open(me);
  await settled();
  expect(deps.store.get(activeChatAtom)).toBe(me);
  expect(watch).toHaveBeenLastCalledWith(null);
  expect(chats.get(me)).toMatchObject({ messages: [note], hasOlder: false });
  expect(olderEntries).not.toHaveBeenCalled();
  expect(markDelivered).not.toHaveBeenCalled();
});
