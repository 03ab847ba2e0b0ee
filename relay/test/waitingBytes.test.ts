import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { WaitingBytes, waitingLimits } from '../src/realtime/waitingBytes.ts';
import { signUpOnDevice, startTestRelay, type TestRelay } from './helpers.ts';
import { createClients } from './mqtt/mqttClient.ts';

const clients = createClients();
let relay: TestRelay | null = null;
afterEach(async () => {
  await clients.endAll();
  await relay?.close();
  relay = null;
});

/** Sockets of which each has a name, and the names of those that were dropped, in order. */
function waitingRoom(limits: { ofOne: number; ofAll: number }) {
  const room = new WaitingBytes(limits);
  const dropped: string[] = [];
  const enter = (name: string, received = 0) => {
    const transport = new PassThrough();
    const admitted = room.add(transport, received, () => void dropped.push(name));
    return { admitted, transport, send: (bytes: number) => transport.emit('data', Buffer.alloc(bytes)) };
  };
  return { dropped, enter };
}

describe('sockets that nobody has logged in on', () => {
  it('are dropped one by one when one has sent too much', () => {
    const { dropped, enter } = waitingRoom({ ofOne: 10, ofAll: 100 });
    const [one, other] = [enter('one'), enter('other')];
    one.send(10);
    other.send(5);
    expect(dropped).toEqual([]);
    one.send(1);
    one.send(1);
    expect(dropped).toEqual(['one']);
    enter('third', 11);
    expect(dropped).toEqual(['one', 'third']);
  });

  it('are dropped by how much they have sent when all together have sent too much, and not the short ones', () => {
    const { dropped, enter } = waitingRoom({ ofOne: 10, ofAll: 25 });
    const short = enter('short', 3);
    for (let index = 0; index < 20; index += 1) enter(`${index}`, index % 2 === 0 ? 8 : 9);
    short.send(2);
    expect(dropped).not.toContain('short');
    expect(dropped).toHaveLength(18);
  });

  it('are dropped by how long they have waited where they have sent as much', () => {
    const { dropped, enter } = waitingRoom({ ofOne: 10, ofAll: 25 });
    const [first, second, third, fourth] = ['first', 'second', 'third', 'fourth'].map((name) => enter(name));
    for (const socket of [second, first, third]) socket?.send(8);
    expect(dropped).toEqual([]);
    fourth?.send(8);
    expect(dropped).toEqual(['first']);
    second?.transport.emit('close');
    fourth?.send(2);
    third?.send(2);
    expect(dropped).toEqual(['first']);
  });

  it('count no more once somebody has logged in', () => {
    const { dropped, enter } = waitingRoom({ ofOne: 10, ofAll: 25 });
    const one = enter('one');
    one.send(8);
    one.admitted();
    one.admitted();
    one.send(100);
    expect(one.transport.listenerCount('close')).toBe(0);
    for (const name of ['second', 'third']) enter(name, 10);
    enter('fourth', 5);
    expect(dropped).toEqual([]);
  });

  it.each(['mqttUrl', 'presenceUrl'] as const)('end when a message is left half sent: %s', async (url) => {
    relay = await startTestRelay();
    const socket = new WebSocket(relay[url], url === 'mqttUrl' ? ['mqtt'] : []);
    socket.on('error', () => undefined);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    for (let sent = 0; sent <= waitingLimits.ofOne; sent += 1024) {
      socket.send(Buffer.alloc(1024), { fin: false, binary: true });
    }
    expect(await closed).toBeDefined();
  });

  it('may send long messages after it', async () => {
    relay = await startTestRelay();
    const aino = await signUpOnDevice(relay);
    const client = await clients.connect(relay.mqttUrl, aino);
    const packet = Buffer.alloc(200_000, 'a').toString();
    await client.publishAsync('ping', packet, { qos: 0 });
    await client.publishAsync('ping', packet, { qos: 0 });
    expect(await client.subscribeAsync(`user/${aino.id}/messages`)).toHaveLength(1);
  });
});
