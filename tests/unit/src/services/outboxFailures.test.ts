import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError, NetworkError } from '#src/net/errors.ts';
import { conversationId, me, received, refused, testDeps } from './support/deps.ts';
import {
  createTab,
  device,
  logged,
  member,
  onFailed,
  outbox,
  queue,
  relay,
  shown,
  withOutbox,
  worker,
} from './support/outbox.ts';

withOutbox();

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

  it('is told where it is a note, and not where own devices tell each other something', async () => {
    const own = { conversationId: `self:${me}` };
    const contents = [{ kind: 'unknown' }, { kind: 'text', text: 'milk' }] as const;
    for (const [told, content] of contents.entries()) {
      const waiting = received(1, { ...own, messageId: 'own', status: 'sending', content });
      worker.outbox = async () => [waiting];
      worker.messageFailed = async (_id, failure) => ({ ...waiting, status: 'failed', failure });
      worker.prepareMessage = () => Promise.reject(refused('invalid-request'));
      await outbox.flush(own.conversationId);
      expect(onFailed).toHaveBeenCalledTimes(told);
    }
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
    const deviceless = testDeps({
      api: { ...relay.apiFor(me, 'own-device'), claimKeyPackages: () => Promise.resolve([]) },
      crypto: worker,
    });
    await queue('a');
    await createTab(deviceless).flush(conversationId);
    expect(onFailed.mock.calls).toEqual([[expect.objectContaining({ code: 'no-device' })]]);
    expect(device.waiting.get('id of a')).toMatchObject({ status: 'failed', failure: 'no-device' });
  });
});
