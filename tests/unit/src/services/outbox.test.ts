import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { NetworkError } from '#src/net/errors.ts';
import { settled } from '../net/support/fakeClock.ts';
import { conversationId, me, peer, refused } from './support/deps.ts';
import {
  createTab,
  deps,
  device,
  logged,
  maySend,
  member,
  onFailed,
  outbox,
  publish,
  queue,
  relay,
  setConnected,
  setOffline,
  shown,
  withOutbox,
  worker,
} from './support/outbox.ts';

withOutbox();

describe('sending from the outbox', () => {
  it('goes over MQTT while it is connected', async () => {
    await member();
    setConnected(true);
    await queue('a');
    await outbox.flush(conversationId);
    expect(publish).toHaveBeenCalledExactlyOnceWith({
      type: 'message',
      messageId: 'id of a',
      senderId: me,
      recipientId: peer,
      epoch: 1,
      content: 'a',
      timestamp: '2026-03-01T12:00:00.000Z',
      start: 'start',
    });
    expect(relay.calls).toEqual(['publish']);
    expect(shown()).toEqual(['id of a: sent']);
  });

  it('goes over REST while it is not', async () => {
    await member();
    await queue('a');
    await outbox.flush(conversationId);
    expect(relay.calls).toEqual(['sendUserMessage']);
    expect(shown()).toEqual(['id of a: sent']);
  });

  it('repeats over REST what MQTT did not acknowledge, and the message exists once', async () => {
    await member();
    setConnected(true);
    publish.mockImplementation(async ({ content, messageId }) => {
      relay.append('application', content, me, messageId);
      throw new NetworkError('timeout');
    });
    await queue('a');
    await outbox.flush(conversationId);
    expect(logged()).toEqual(['a']);
    expect(shown()).toEqual(['id of a: sent']);
    expect(onFailed).not.toHaveBeenCalled();
  });

  it('of what another tab has left waiting begins at the second look', async () => {
    await member();
    await queue('a');
    await outbox.flushLeft();
    expect(logged()).toEqual([]);
    await outbox.flushLeft();
    expect(logged()).toEqual(['a']);
    expect(shown()).toEqual(['id of a: sent']);
  });

  it('of what this tab has tried waits for its own occasion', async () => {
    await member();
    maySend.mockResolvedValue('held');
    await queue('a');
    await outbox.flushAll();
    for (let look = 0; look < 3; look += 1) await outbox.flushLeft();
    expect(maySend).toHaveBeenCalledOnce();
    expect(logged()).toEqual([]);
  });

  it('keeps the order in which messages were written', async () => {
    await member();
    await queue('a', 'b', 'c');
    await outbox.flushAll();
    expect(logged()).toEqual(['a', 'b', 'c']);
  });

  it('starts the conversation with the devices of both people, then sends', async () => {
    await queue('hello');
    await outbox.flush(conversationId);
    expect(relay.calls.filter((call) => /claim|submit|send/.test(call))).toEqual([
      'claimKeyPackages peer own',
      'submitCommit',
      'sendUserMessage',
    ]);
    expect(logged()).toEqual(['hello']);
  });

  it('joins what the other one has started in the meantime, and sends there', async () => {
    await queue('hello');
    relay.before = (call) => {
      if (call === 'submitCommit' && relay.log.length === 0) {
        relay.begin(peer, 1);
        relay.welcome('own-device', 1);
      }
    };
    await outbox.flush(conversationId);
    expect(logged()).toEqual(['text 1', 'hello']);
    expect(shown().at(-1)).toBe('id of hello: sent');
  });

  it('takes no KeyPackages where there is something to join', async () => {
    relay.begin(peer, 1);
    await queue('hello');
    await outbox.flush(conversationId);
    expect(relay.calls.some((call) => call.startsWith('claim'))).toBe(false);
    expect(logged()).toEqual(['text 1', 'hello']);
  });

  it('submits the healing commit first', async () => {
    await member();
    device.healNext = true;
    await queue('a');
    await outbox.flush(conversationId);
    expect(relay.log.map(({ content }) => content)).toEqual([`start by ${peer}`, 'own heal 1', 'a']);
    expect(relay.log.at(-1)?.epoch).toBe(2);
  });

  it('encrypts again when the epoch has moved', async () => {
    await member();
    await queue('a');
    relay.append('commit', 'news', peer);
    await outbox.flush(conversationId);
    expect(logged()).toEqual(['a']);
    expect(relay.log.at(-1)).toMatchObject({ id: 'id of a', epoch: 2 });
  });

  it('fails when the epoch has moved at every try', async () => {
    await member();
    await queue('a');
    relay.before = (call) => {
      if (call === 'sendUserMessage') relay.append('commit', 'and again', peer);
    };
    const flushed = outbox.flush(conversationId);
    await settled();
    await deps.clock.advance(60_000);
    await flushed;
    expect(logged()).toEqual([]);
    expect(shown()).toEqual(['id of a: failed']);
    expect(onFailed).toHaveBeenCalledOnce();
  });

  it('sends once from two tabs', async () => {
    await member();
    await queue('a', 'b');
    const other = createTab(deps);
    await Promise.all([outbox.flushAll(), other.flushAll()]);
    expect(relay.calls.filter((call) => call === 'sendUserMessage')).toHaveLength(2);
    expect(logged()).toEqual(['a', 'b']);
  });

  it('takes what the log has already for sent', async () => {
    await member();
    relay.append('application', 'a', me, 'id of a');
    await queue('a');
    const [waiting] = device.waiting.values();
    if (waiting === undefined) throw new Error('nothing was queued');
    worker.prepareMessage = () =>
      Promise.resolve({ kind: 'sent', message: { ...waiting, status: 'sent', seq: 2 } });
    await outbox.flush(conversationId);
    expect(relay.calls).toEqual([]);
    expect(shown()).toEqual(['id of a: sent']);
  });
});

describe('a message that nothing has to go before', () => {
  const prepare = vi.fn<CryptoApi['prepareMessage']>();

  beforeEach(async () => {
    await member();
    setConnected(true);
    const { prepareMessage } = worker;
    prepare.mockReset().mockImplementation(async (messageId) => prepareMessage!(messageId));
    worker.prepareMessage = prepare;
  });

  /** As the person writes it. */
  async function write(text: string): Promise<void> {
    const sentAt = '2026-03-01T12:00:00.000Z';
    const queued = await worker.queueMessage?.({ conversationId, messageId: `id of ${text}`, text, sentAt });
    await outbox.send(conversationId, queued?.ready ?? null);
  }

  it('is sent as it is, and the worker asked no more', async () => {
    await write('a');
    expect(logged()).toEqual(['a']);
    expect(shown()).toEqual(['id of a: sent']);
    expect(prepare).not.toHaveBeenCalled();
  });

  it('keeps its place before those written while it is on its way', async () => {
    await Promise.all([write('a'), write('b'), write('c')]);
    expect(logged()).toEqual(['a', 'b', 'c']);
    expect(prepare.mock.calls).toEqual([['id of b'], ['id of c']]);
  });

  it('is prepared anew when the epoch has moved', async () => {
    relay.append('commit', 'news', peer);
    await write('a');
    expect(relay.log.at(-1)).toMatchObject({ id: 'id of a', epoch: 2, content: 'a' });
  });

  it('is prepared anew when the answer that it may be sent comes only later', async () => {
    maySend.mockResolvedValue('yes-after-check');
    await write('a');
    expect(prepare).toHaveBeenCalledExactlyOnceWith('id of a');
    expect(logged()).toEqual(['a']);
  });

  it('waits like any other while it may not be sent, and while there is no connection', async () => {
    maySend.mockResolvedValue('held');
    await write('a');
    maySend.mockResolvedValue('yes');
    setOffline(true);
    await write('b');
    expect(relay.calls).toEqual([]);
    setOffline(false);
    await outbox.flushAll();
    expect(logged()).toEqual(['a', 'b']);
  });

  it('fails and stays like any other', async () => {
    publish.mockRejectedValue(refused('not-a-contact'));
    await write('a');
    expect(shown()).toEqual(['id of a: failed']);
    expect(onFailed).toHaveBeenCalledOnce();
  });
});
