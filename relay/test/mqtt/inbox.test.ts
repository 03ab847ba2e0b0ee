import { expect, test } from 'vitest';
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
