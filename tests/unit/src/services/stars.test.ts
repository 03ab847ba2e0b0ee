import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type CryptoApi, CryptoApiError, type MessageView } from '#src/crypto/client.ts';
import type { Outbox } from '#src/services/conversations/outbox.ts';
import { type Stars, starsOf } from '#src/services/conversations/stars.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { forgetStarAtom, starsAtom } from '#src/store/stars.ts';
import { me, peer, received, state, type TestDeps, testDeps } from './support/deps.ts';

const own = `self:${me}`;

let deps: TestDeps;
let starred: readonly MessageView[];
let stars: Stars;
const setStar = vi.fn<CryptoApi['setStar']>();
const loads = vi.fn<() => void>();
const send = vi.fn<Outbox['send']>();

beforeEach(() => {
  starred = [received(2), received(1)];
  for (const mock of [setStar, loads, send]) mock.mockReset();
  send.mockResolvedValue();
  deps = testDeps({
    crypto: {
      setStar,
      starredMessages: async () => {
        loads();
        return [...starred];
      },
    },
  });
  const chats = { addMessages: () => undefined, setState: () => undefined };
  stars = starsOf({ deps, ownUserId: me, chats, outbox: { send }, background: createBackground(deps.log) });
});

const shown = () => deps.store.get(starsAtom)?.map(({ key, message }) => [key, message.messageId]);
const processed = (conversationId: string, messages: readonly MessageView[]) =>
  deps.sessionEvents.emit('entriesProcessed', { messages, events: [], state: state({ conversationId }) });

describe('stars', () => {
  it('are loaded when somebody looks, with their chats, and again as own devices or authors change them', async () => {
    processed(own, []);
    await deps.clock.advance(0);
    expect(loads).not.toHaveBeenCalled();
    await stars.load();
    expect(shown()).toEqual([
      [peer, 'm2'],
      [peer, 'm1'],
    ]);
    starred = [received(1)];
    processed(own, []);
    await deps.clock.advance(0);
    expect(shown()).toEqual([[peer, 'm1']]);
    starred = [];
    processed(state().conversationId, [received(3)]);
    await deps.clock.advance(0);
    expect(shown()).toEqual([[peer, 'm1']]);
    processed(state().conversationId, [received(1, { content: { kind: 'deleted' } })]);
    await deps.clock.advance(0);
    expect(shown()).toEqual([]);
  });

  it('tell the own devices, where there is something to tell', async () => {
    const message = received(9, { conversationId: own, isChange: true });
    setStar.mockResolvedValueOnce({ message, ready: null, state: state({ conversationId: own }) });
    await stars.set(peer, 'm1', true);
    const [[asked] = []] = setStar.mock.calls;
    expect(asked).toMatchObject({ conversationId: state().conversationId, of: 'm1', isStarred: true });
    expect(send).toHaveBeenCalledExactlyOnceWith(own, null);
    setStar.mockResolvedValueOnce(null);
    await stars.set(peer, 'm1', true);
    expect(send).toHaveBeenCalledOnce();
  });

  it('say when there are as many as there can be, and what else failed', async () => {
    setStar.mockRejectedValueOnce(new CryptoApiError('stars-full'));
    await expect(stars.set(peer, 'm1', true)).rejects.toMatchObject({
      code: 'stars-full',
      message: '500 messages are starred, as many as there can be. Remove a star from another one first.',
    });
    setStar.mockRejectedValueOnce(new CryptoApiError('unknown-message'));
    await expect(stars.set(peer, 'm1', true)).rejects.toMatchObject({ code: 'unknown-message' });
  });

  it('leave the list at once with a message that is gone here', async () => {
    await stars.load();
    deps.store.set(forgetStarAtom, 'm2');
    expect(shown()).toEqual([[peer, 'm1']]);
  });
});
