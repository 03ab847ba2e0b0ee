import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ClientPacket } from '../../src/mqtt/decode.ts';
import { Inbox } from '../../src/mqtt/inbox.ts';
import { deferred } from './harness.ts';
import { bytesOf, connectBytes, publishBytes } from './rawClient.ts';

const someone = { id: 'someone' };

/** An inbox whose packets are handled once `gate` opens. */
function createInbox() {
  const gate = deferred();
  const handled: ClientPacket['type'][] = [];
  const pressure: boolean[] = [];
  const inbox = new Inbox({
    handle: async (packet) => {
      await gate.promise;
      handled.push(packet.type);
    },
    onError: (error) => {
      throw error;
    },
    onPressure: (isFull) => pressure.push(isFull),
  });
  inbox.push(connectBytes({ token: 'token' }));
  return { inbox, gate, handled, pressure };
}

function repeat(count: number, bytes: Uint8Array): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => bytes));
}

test('reading stops when 64 packets wait, and goes on when half of them are handled', async () => {
  const { inbox, gate, handled, pressure } = createInbox();
  inbox.push(repeat(64, bytesOf({ cmd: 'pingreq' })));
  expect(pressure).toEqual([]);
  inbox.push(repeat(2, bytesOf({ cmd: 'pingreq' })));
  expect(pressure).toEqual([true]);
  gate.resolve();
  await inbox.settled();
  expect(pressure).toEqual([true, false]);
  expect(handled).toEqual(['connect', ...Array.from({ length: 66 }, () => 'pingreq')]);
});

test('reading stops when a megabyte waits', async () => {
  const { inbox, gate, pressure } = createInbox();
  const publish = publishBytes(0, someone, someone, { content: 'A'.repeat(200_000) });
  inbox.push(repeat(5, publish));
  expect(pressure).toEqual([]);
  inbox.push(publish);
  expect(pressure).toEqual([true]);
  gate.resolve();
  await inbox.settled();
  expect(pressure).toEqual([true, false]);
});

test('stopping drops what waits and lets what is being handled finish', async () => {
  const { inbox, gate, handled } = createInbox();
  inbox.push(repeat(3, bytesOf({ cmd: 'pingreq' })));
  inbox.stop();
  gate.resolve();
  await inbox.settled();
  expect(handled).toEqual(['connect']);
});

test('a failure drops what waits and is reported once', async () => {
  const failure = new Error('failed');
  const errors: unknown[] = [];
  let count = 0;
  const inbox = new Inbox({
    handle: () => {
      count += 1;
      return Promise.reject(failure);
    },
    onError: (error) => errors.push(error),
    onPressure: () => {},
  });
  inbox.push(Buffer.concat([connectBytes({ token: 'token' }), repeat(3, bytesOf({ cmd: 'pingreq' }))]));
  await inbox.settled();
  expect([count, errors]).toEqual([1, [failure]]);
});

describe('packets whose answers are open', () => {
  /** An inbox whose QoS 1 packets are answered when `answer` says so, by their identifiers. */
  function createAnsweringInbox() {
    const open = new Map<number, { give: () => void; fail: (error: unknown) => void }>();
    const [handled, answered]: [(string | number)[], number[]] = [[], []];
    const errors: unknown[] = [];
    const inbox = new Inbox({
      handle: async (packet) => {
        if (packet.type !== 'publish' || packet.qos === 0) return void handled.push(packet.type);
        const { packetId } = packet;
        handled.push(packetId);
        const answer = new Promise<() => void>((resolve, reject) => {
          open.set(packetId, { give: () => resolve(() => answered.push(packetId)), fail: reject });
        });
        return { answer };
      },
      onError: (error) => errors.push(error),
      onPressure: () => {},
    });
    inbox.push(connectBytes({ token: 'token' }));
    const publish = (packetId: number) => inbox.push(publishBytes(packetId, someone, someone));
    const give = (packetId: number) => open.get(packetId)?.give();
    const fail = (packetId: number, error: unknown) => open.get(packetId)?.fail(error);
    return { inbox, publish, give, fail, handled, answered, errors };
  }

  test('let others of QoS 1 be handled, and are answered in the order in which they came', async () => {
    const { inbox, publish, give, handled, answered } = createAnsweringInbox();
    for (const packetId of [1, 2, 3]) publish(packetId);
    await nextTurn();
    expect(handled).toEqual(['connect', 1, 2, 3]);
    give(3);
    give(2);
    await nextTurn();
    expect(answered).toEqual([]);
    give(1);
    await inbox.settled();
    expect(answered).toEqual([1, 2, 3]);
  });

  test.each([
    ['pingreq', bytesOf({ cmd: 'pingreq' })],
    ['publish', publishBytes(0, someone, someone)],
    ['disconnect', bytesOf({ cmd: 'disconnect' })],
  ])('keep %s and all behind it waiting', async (type, bytes) => {
    const { inbox, publish, give, handled } = createAnsweringInbox();
    publish(1);
    inbox.push(bytes);
    publish(2);
    await nextTurn();
    expect(handled).toEqual(['connect', 1]);
    give(1);
    await nextTurn();
    expect(handled).toEqual(['connect', 1, type, 2]);
  });

  test('let acknowledgements pass', async () => {
    const { inbox, publish, handled } = createAnsweringInbox();
    publish(1);
    inbox.push(bytesOf({ cmd: 'puback', messageId: 9 }));
    await nextTurn();
    expect(handled).toEqual(['connect', 1, 'puback']);
  });

  test('are waited for when it settles, and what waits for them is dropped when it stops', async () => {
    const { inbox, publish, give, handled, answered } = createAnsweringInbox();
    publish(1);
    inbox.push(bytesOf({ cmd: 'pingreq' }));
    await nextTurn();
    inbox.stop();
    const settled = inbox.settled().then(() => [...answered]);
    give(1);
    expect(await settled).toEqual([1]);
    expect(handled).toEqual(['connect', 1]);
  });

  test('end it when their answer can not be given', async () => {
    const failure = new Error('failed');
    const errors: unknown[] = [];
    const fails = () => {
      throw failure;
    };
    const inbox = new Inbox({
      handle: async (packet) => (packet.type === 'publish' ? { answer: Promise.resolve(fails) } : undefined),
      onError: (error) => errors.push(error),
      onPressure: () => {},
    });
    inbox.push(Buffer.concat([connectBytes({ token: 'token' }), publishBytes(1, someone, someone)]));
    await inbox.settled();
    await nextTurn();
    expect(errors).toEqual([failure]);
  });

  test('end it when their answer fails', async () => {
    const { inbox, publish, fail, handled, errors } = createAnsweringInbox();
    publish(1);
    inbox.push(bytesOf({ cmd: 'pingreq' }));
    await nextTurn();
    const failure = new Error('failed');
    fail(1, failure);
    await inbox.settled();
    expect([errors, handled]).toEqual([[failure], ['connect', 1]]);
  });
});
