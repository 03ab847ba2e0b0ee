import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '../../../../src/crypto/client.ts';
import { ApiError, NetworkError } from '../../../../src/net/errors.ts';
import type { Realtime } from '../../../../src/net/mqtt.ts';
import { type Chats, createChats } from '../../../../src/services/chats.ts';
import { createCommitter } from '../../../../src/services/committer.ts';
import { createMembership } from '../../../../src/services/membership.ts';
import { createOutbox, type Outbox } from '../../../../src/services/outbox.ts';
import { createSync } from '../../../../src/services/sync.ts';
import { settled } from '../net/support/fakeClock.ts';
import { conversationId, me, peer, refused, type TestDeps, testDeps } from './support/deps.ts';
import { SimulatedDevice, SimulatedRelay } from './support/simulation.ts';

let relay: SimulatedRelay;
let device: SimulatedDevice;
let worker: Partial<CryptoApi>;
let deps: TestDeps;
let chats: Chats;
let outbox: Outbox;
let connected: boolean;
const publish = vi.fn<Realtime['publish']>();
const maySend = vi.fn<(conversationId: string) => Promise<boolean>>();
const onFailed = vi.fn<(error: unknown) => void>();

/** A second call makes another tab of the same browser: same worker storage, same locks. */
function createTab(tabDeps: TestDeps): Outbox {
  const membership = createMembership(tabDeps, me);
  const sync = createSync(tabDeps, me, membership, {
    onProcessed: ({ messages }) => chats.addMessages(conversationId, messages),
    onState: (state) => chats.setState(state),
    onRefused: () => undefined,
  });
  return createOutbox({
    deps: tabDeps,
    ownUserId: me,
    sync,
    membership,
    committer: createCommitter(tabDeps, membership, sync),
    maySend,
    chats,
    realtime: { isConnected: () => connected, publish },
    onFailed,
  });
}

beforeEach(() => {
  publish.mockReset();
  onFailed.mockReset();
  maySend.mockReset().mockResolvedValue(true);
  connected = false;
  relay = new SimulatedRelay();
  device = new SimulatedDevice();
  worker = device.api();
  deps = testDeps({ api: relay.apiFor(me, 'own-device'), crypto: worker });
  chats = createChats(deps.store, me);
  chats.setLoaded(peer, true);
  outbox = createTab(deps);
  // As the relay does over MQTT.
  publish.mockImplementation(async ({ content, epoch, messageId }) => {
    relay.calls.push('publish');
    if (epoch !== relay.epoch) throw refused('stale-epoch');
    return relay.append('application', content, me, messageId);
  });
});

async function queue(...texts: string[]): Promise<void> {
  for (const text of texts) {
    await worker.queueMessage?.({
      conversationId,
      messageId: `id of ${text}`,
      text,
      sentAt: '2026-03-01T12:00:00.000Z',
    });
  }
}

/** This device is a member, and the log holds the commit that let it in. */
async function member(): Promise<void> {
  relay.begin(peer, 0);
  Object.assign(device, { membership: 'member', epoch: 1, lastSeq: 1, joinedSeq: 1 });
}

const logged = () => relay.log.filter(({ kind }) => kind === 'application').map(({ content }) => content);
const shown = () => chats.get(peer).messages.map(({ messageId, status }) => `${messageId}: ${status}`);

describe('sending', () => {
  it('goes over MQTT while it is connected', async () => {
    await member();
    connected = true;
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
    connected = true;
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
      'claimKeyPackages peer',
      'claimKeyPackages own',
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

  it('does not chase a conversation for ever', async () => {
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

describe('a message that can not be sent', () => {
  beforeEach(member);

  it('fails, stays, and is sent under the same id when it is retried', async () => {
    await queue('a');
    relay.before = () => {
      throw new NetworkError('unreachable');
    };
    await outbox.flush(conversationId);
    expect(shown()).toEqual(['id of a: failed']);
    expect(device.waiting.get('id of a')).toMatchObject({ status: 'failed', failure: 'network' });
    expect(onFailed.mock.calls).toEqual([[expect.any(NetworkError)]]);

    relay.before = () => undefined;
    await outbox.flushAll();
    expect(logged()).toEqual([]);
    await outbox.flush(conversationId, 'id of a');
    expect(relay.log.at(-1)).toMatchObject({ id: 'id of a', content: 'a' });
    expect(shown()).toEqual(['id of a: sent']);
  });

  it.each([
    ['no connection', new NetworkError('unreachable'), 1],
    ['no session', refused('session-expired'), 1],
    ['a broken server', refused('internal'), 1],
    ['a person who is no contact', refused('not-a-contact'), 3],
  ])('for %s is told once for all that wait', async (_name, error, told) => {
    await queue('a', 'b', 'c');
    relay.before = () => {
      throw error;
    };
    await outbox.flush(conversationId);
    expect(shown()).toEqual(['id of a: failed', 'id of b: failed', 'id of c: failed']);
    expect(onFailed).toHaveBeenCalledTimes(told);
    expect(relay.calls).toHaveLength(told);
  });

  it('does not stop the one behind it', async () => {
    await queue('a', 'b');
    let first = true;
    relay.before = () => {
      if (first) {
        first = false;
        throw new ApiError({ status: 422, code: 'invalid-request', detail: 'Too large.' });
      }
    };
    await outbox.flush(conversationId);
    expect(logged()).toEqual(['b']);
    expect(shown()).toEqual(['id of a: failed', 'id of b: sent']);
  });

  it('keeps waiting when the keys are locked under it', async () => {
    await queue('a');
    worker.prepareMessage = () => Promise.reject(Object.assign(new Error('locked'), { code: 'locked' }));
    await expect(outbox.flush(conversationId)).rejects.toMatchObject({ code: 'locked' });
    expect(device.waiting.get('id of a')?.status).toBe('sending');
    expect(onFailed).not.toHaveBeenCalled();
  });

  it('is forgotten quietly when the person discards it meanwhile', async () => {
    await queue('a');
    relay.before = (call) => {
      if (call !== 'sendUserMessage') return;
      device.waiting.delete('id of a');
      throw refused('not-a-contact');
    };
    await outbox.flush(conversationId);
    expect(shown()).toEqual([]);
  });

  it('needs the other person to have a device', async () => {
    Object.assign(device, { membership: 'none', epoch: 0, lastSeq: 0, joinedSeq: 0 });
    relay.log.length = 0;
    deps = testDeps({
      api: { ...relay.apiFor(me, 'own-device'), claimKeyPackages: () => Promise.resolve([]) },
      crypto: worker,
    });
    await queue('a');
    await createTab(deps).flush(conversationId);
    expect(onFailed.mock.calls).toEqual([[expect.objectContaining({ code: 'no-device' })]]);
    expect(device.waiting.get('id of a')).toMatchObject({ status: 'failed', failure: 'no-device' });
  });
});

describe('while the members of a group are in doubt', () => {
  beforeEach(() => {
    Object.assign(device, { membership: 'member', epoch: 1, lastSeq: 1 });
    relay.begin(peer, 0);
    maySend.mockResolvedValue(false);
  });

  it('messages go on waiting, without a word', async () => {
    await queue('one', 'two');
    await outbox.flush(conversationId);
    expect(relay.log).toHaveLength(1);
    expect([...device.waiting.values()].map(({ status }) => status)).toEqual(['sending', 'sending']);
    expect(onFailed).not.toHaveBeenCalled();
  });

  it('messages are sent when it is over, those retried in the meantime too', async () => {
    await queue('one');
    await worker.messageFailed?.([...device.waiting.keys()][0] ?? '', 'network');
    await outbox.flush(conversationId, [...device.waiting.keys()][0]);
    maySend.mockResolvedValue(true);
    await outbox.flush(conversationId);
    expect(relay.log.at(-1)).toMatchObject({ kind: 'application', content: 'one' });
  });

  it('that cannot be settled messages fail with what stopped it', async () => {
    maySend.mockRejectedValue(new NetworkError('unreachable'));
    await queue('one', 'two');
    await outbox.flush(conversationId);
    expect([...device.waiting.values()].map(({ failure }) => failure)).toEqual(['network', 'network']);
    expect(onFailed).toHaveBeenCalledOnce();
  });
});
