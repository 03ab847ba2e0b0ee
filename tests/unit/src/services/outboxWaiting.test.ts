import { beforeEach, describe, expect, it } from 'vitest';
import { NetworkError } from '#src/net/errors.ts';
import { settled } from '../net/support/fakeClock.ts';
import { conversationId, peer, type TestDeps } from './support/deps.ts';
import {
  createTab,
  deps,
  device,
  logged,
  maySend,
  member,
  offline,
  onFailed,
  onIdentityChanged,
  outbox,
  queue,
  relay,
  setOffline,
  withOutbox,
  worker,
} from './support/outbox.ts';

withOutbox();

describe('while the members of a group are in doubt', () => {
  beforeEach(() => {
    Object.assign(device, { membership: 'member', epoch: 1, lastSeq: 1 });
    relay.begin(peer, 0);
    maySend.mockResolvedValue('held');
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
    maySend.mockResolvedValue('yes');
    await outbox.flush(conversationId);
    expect(relay.log.at(-1)).toMatchObject({ kind: 'application', content: 'one' });
  });

  it('into which this device comes back as it sends, messages go on waiting', async () => {
    await queue('one');
    maySend.mockResolvedValueOnce('yes');
    relay.append('commit', 'news', peer);
    await outbox.flush(conversationId);
    expect(logged()).toEqual([]);
    expect(device.epoch).toBe(2);
    expect([...device.waiting.values()].map(({ status }) => status)).toEqual(['sending']);
    expect(onFailed).not.toHaveBeenCalled();
  });

  it('that are read for a message before it is sent, it goes on waiting', async () => {
    await queue('one');
    maySend.mockResolvedValueOnce('yes');
    const tab = createTab(deps, () => false);
    await tab.flush(conversationId);
    expect(logged()).toEqual([]);
    expect(maySend).toHaveBeenCalledTimes(2);
  });

  it('that cannot be settled messages fail with what stopped it', async () => {
    maySend.mockRejectedValue(new NetworkError('unreachable'));
    await queue('one', 'two');
    await outbox.flush(conversationId);
    expect([...device.waiting.values()].map(({ failure }) => failure)).toEqual(['network', 'network']);
    expect(onFailed).toHaveBeenCalledOnce();
  });
});

describe('while it is in doubt who the other person is', () => {
  it('everything waits, and goes once that is decided', async () => {
    await member();
    await queue('one', 'two');
    const { prepareMessage } = worker;
    worker.prepareMessage = () =>
      Promise.reject(Object.assign(new Error('identity-changed'), { code: 'identity-changed' }));
    const tab = createTab({ ...deps, crypto: worker as TestDeps['crypto'] });
    await tab.flush(conversationId);
    expect(onIdentityChanged).toHaveBeenCalledOnce();
    expect([...device.waiting.values()].map(({ status }) => status)).toEqual(['sending', 'sending']);
    expect(onFailed).not.toHaveBeenCalled();
    Object.assign(worker, { prepareMessage });
    await tab.flush(conversationId);
    expect(logged()).toEqual(['one', 'two']);
  });
});

it('a message that was held is sent once the doubt about its conversation is over', async () => {
  await member();
  await queue('held');
  deps.sessionEvents.emit('holdReleased', { conversationId });
  await settled();
  expect(logged()).toEqual(['held']);
});

describe('an outbox that is offline', () => {
  beforeEach(member);

  it('everything waits, and goes in order once there is a connection', async () => {
    setOffline(true);
    await queue('a', 'b');
    await outbox.flush(conversationId);
    await outbox.flushAll();
    expect(relay.calls).toEqual([]);
    expect(device.waiting.get('id of a')?.status).toBe('sending');
    setOffline(false);
    await outbox.flushAll();
    expect(logged()).toEqual(['a', 'b']);
    expect(onFailed).not.toHaveBeenCalled();
  });

  it('what was on its way when the connection went goes on waiting', async () => {
    await queue('a', 'b');
    relay.before = (call) => {
      if (call !== 'sendUserMessage' || offline) return;
      setOffline(true);
      throw new NetworkError('unreachable');
    };
    await outbox.flush(conversationId);
    expect([...device.waiting.values()].map(({ status }) => status)).toEqual(['sending', 'sending']);
    expect(onFailed).not.toHaveBeenCalled();
    setOffline(false);
    relay.before = () => undefined;
    await outbox.flushAll();
    expect(logged()).toEqual(['a', 'b']);
  });

  it('a failed message that is tried again waits as well', async () => {
    await queue('a');
    await worker.messageFailed?.('id of a', 'network');
    setOffline(true);
    await outbox.flush(conversationId, 'id of a');
    setOffline(false);
    await outbox.flushAll();
    expect(logged()).toEqual(['a']);
  });
});
