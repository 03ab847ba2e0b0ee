import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { channels } from '../../src/backplane/keys.ts';
import type { Hub } from '../../src/realtime/hub.ts';
import { eventually } from '../eventually.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { createRelays, newSecrets, serverAt } from './relays.ts';

let server: RedisServer;
const relays = createRelays(() => serverAt(server.url));
beforeAll(async () => {
  server = await startRedis();
});
afterEach(() => relays.closeAll());
afterAll(() => server.remove());

/** Records the payloads that a relay's clients get on a topic from now on. */
async function listenTo(hub: Hub, topic: string) {
  const heard: string[] = [];
  const stop = hub.subscribe(topic, (payload) => heard.push(payload));
  await hub.subscribed();
  return { heard, stop };
}

/** Proves that everything that was published before has arrived. */
async function flush(from: Hub, to: Hub): Promise<void> {
  const topic = `flush/${randomUUID()}`;
  const { heard, stop } = await listenTo(to, topic);
  from.publish(topic, 'x');
  await eventually(() => expect(heard).toEqual(['x']));
  stop();
}

const openTwo = async () => {
  const [one, other] = [await relays.open(), await relays.open()];
  return { one: one.hub, other: other.hub };
};

describe('the hub of several relays', () => {
  it("delivers once to every relay's listeners, in the order of publishing", async () => {
    const { one, other } = await openTwo();
    const [here, there] = [await listenTo(one, 'a'), await listenTo(other, 'a')];
    const elsewhere = await listenTo(other, 'b');
    const sent = Array.from({ length: 200 }, (_none, index) => `${index} with spaces and "ä"`);
    for (const payload of sent) one.publish('a', payload);
    expect(here.heard).toEqual(sent);
    await flush(one, other);
    await flush(other, one);
    expect(there.heard).toEqual(sent);
    expect(here.heard).toEqual(sent);
    expect(elsewhere.heard).toEqual([]);
  });

  it('asks Redis for what somebody listens to, and for nothing else', async () => {
    const { one, other } = await openTwo();
    const observer = new Redis(server.url);
    const asked = async () => (await observer.pubsub('CHANNELS', `${channels.topicPrefix}*`)) as string[];
    const first = await listenTo(other, 'a');
    const second = await listenTo(other, 'a');
    first.stop();
    await flush(one, other);
    expect(await asked()).toEqual([channels.topic('a')]);
    one.publish('a', 'x');
    await flush(one, other);
    expect(second.heard).toEqual(['x']);
    second.stop();
    await eventually(async () => expect(await asked()).toEqual([]));
    const third = await listenTo(other, 'a');
    one.publish('a', 'y');
    await flush(one, other);
    expect(third.heard).toEqual(['y']);
    observer.disconnect();
  });

  it('passes signals to every relay', async () => {
    const { one, other } = await openTwo();
    const heard: unknown[] = [];
    const signal = { type: 'session-ended', sessionId: randomUUID(), code: 'password-changed' } as const;
    one.onSignal(signal.sessionId, (heardHere) => heard.push(['one', heardHere]));
    other.onSignal(signal.sessionId, (heardThere) => heard.push(['other', heardThere]));
    one.signal(signal);
    expect(heard).toEqual([['one', signal]]);
    await flush(one, other);
    expect(heard).toEqual([
      ['one', signal],
      ['other', signal],
    ]);
  });

  it.each(['not JSON', '{"type":"from-the-future"}', '{"type":"session-ended"}'])(
    'has clients look again at a signal that it does not know: %s',
    async (payload) => {
      const { one } = await openTwo();
      let interruptions = 0;
      one.onInterruption(() => {
        interruptions += 1;
      });
      const stranger = new Redis(server.url);
      await stranger.publish(channels.signals, `- ${payload}`);
      await eventually(() => expect(interruptions).toBe(1));
      stranger.disconnect();
      expect(relays.failures).toEqual([]);
    },
  );

  it('serves its own listeners while Redis is away, and interrupts those who may have missed something', async () => {
    const { one, other } = await openTwo();
    const [here, there] = [await listenTo(one, 'a'), await listenTo(other, 'a')];
    const interrupted = { one: 0, other: 0 };
    one.onInterruption(() => {
      interrupted.one += 1;
    });
    other.onInterruption(() => {
      interrupted.other += 1;
    });
    await server.crash();
    one.publish('a', 'while it is away');
    const later = await listenTo(other, 'b');
    expect(here.heard).toEqual(['while it is away']);
    expect(there.heard).toEqual([]);

    await server.start();
    await eventually(() =>
      expect([interrupted.one, interrupted.other].every((count) => count > 0)).toBe(true),
    );
    // An interruption shows that a relay receives again; a message that arrives shows that it publishes
    // again.
    const back = await listenTo(other, 'back');
    await eventually(() => {
      one.publish('back', 'x');
      expect(back.heard).not.toEqual([]);
    });
    one.publish('a', 'when it is back');
    one.publish('b', 'when it is back');
    await flush(one, other);
    expect(there.heard).toEqual(['when it is back']);
    expect(later.heard).toEqual(['when it is back']);
  }, 30_000);
});

describe('opening the hub of several relays', () => {
  it('is refused with a sentence to a relay with other secrets, until the others are gone', async () => {
    const strangers = newSecrets();
    const first = await relays.open();
    await expect(relays.open(strangers)).rejects.toThrow(
      "This relay's secrets differ from those of the relays at REDIS_URL. Copy their secrets.json into DATA_DIR.",
    );
    await first.close();
    await expect(relays.open(strangers)).resolves.toBeDefined();
  });
});
