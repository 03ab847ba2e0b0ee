import { beforeEach, expect, it, vi } from 'vitest';
import type { ConversationEvent, CryptoApi } from '#src/crypto/client.ts';
import { type ChatEvents, createChatEvents } from '#src/services/conversations/chatEvents.ts';
import { chatEventsAtom } from '#src/store/chatEvents.ts';
import { conversationId, me, peer, state, type TestDeps, testDeps } from './support/deps.ts';

let deps: TestDeps;
let chatEvents: ChatEvents;
const events = vi.fn<CryptoApi['events']>();

function refusal(seq: number): ConversationEvent {
  return {
    conversationId,
    seq,
    senderId: peer,
    senderDeviceId: 'device',
    timestamp: '2026-03-01T12:00:00.000Z',
    change: { kind: 'refused', code: 'policy' },
  };
}

const shown = () => deps.store.get(chatEventsAtom)[peer]?.map(({ seq }) => seq);

function happen(happened: ConversationEvent[]): void {
  deps.sessionEvents.emit('entriesProcessed', { state: state(), messages: [], events: happened });
}

beforeEach(() => {
  events.mockReset().mockResolvedValue([refusal(2), refusal(4)]);
  deps = testDeps({ crypto: { events } });
  chatEvents = createChatEvents(deps, me);
});

it('the events of a chat are read once, when it is opened, and later ones are added', async () => {
  happen([refusal(4)]);
  expect(shown()).toBeUndefined();
  await chatEvents.load(conversationId);
  await chatEvents.load(conversationId);
  expect(events).toHaveBeenCalledOnce();
  happen([refusal(7)]);
  expect(shown()).toEqual([2, 4, 7]);
});

it('an event that comes while the kept ones are read is shown once, in its order', async () => {
  const loading = chatEvents.load(conversationId);
  happen([refusal(4), refusal(5)]);
  await loading;
  expect(shown()).toEqual([2, 4, 5]);
});

it('the events of a chat are read again after a failure', async () => {
  events.mockRejectedValueOnce(new Error('storage'));
  await expect(chatEvents.load(conversationId)).rejects.toThrow('storage');
  await chatEvents.load(conversationId);
  expect(shown()).toEqual([2, 4]);
});

it('the events of a group are read again after it was forgotten', async () => {
  await chatEvents.load(`group:${peer}`);
  deps.sessionEvents.emit('groupForgotten', { groupId: peer });
  expect(deps.store.get(chatEventsAtom)).toEqual({});
  await chatEvents.load(`group:${peer}`);
  expect(events).toHaveBeenCalledTimes(2);
});

it('no events of other people’s conversations are shown', async () => {
  await chatEvents.load(`direct:${peer}:00000000-0000-4000-8000-000000000009`);
  expect(deps.store.get(chatEventsAtom)).toEqual({});
});
