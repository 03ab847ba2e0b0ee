import type { Packet } from 'mqtt-packet';
import { afterEach, expect, test, vi } from 'vitest';
import { topics } from '../../contract/index.ts';
import { eventually } from '../eventually.ts';
import { fakeTimeouts } from '../fakeTimeouts.ts';
import { deferred, type Realtime, startRealtime } from './harness.ts';
import { connectBytes, publishBytes, RawClient, subscribeBytes } from './rawClient.ts';

const open: Realtime[] = [];

async function start(options: Parameters<typeof startRealtime>[0] = {}): Promise<Realtime> {
  const relay = await startRealtime(options);
  open.push(relay);
  return relay;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((relay) => relay.close()));
});

async function startWithFriends(options: Parameters<typeof startRealtime>[0] = {}) {
  const relay = await start(options);
  const [alice, bob] = [relay.signUp(), relay.signUp()];
  relay.befriend(alice, bob);
  return { relay, alice, bob };
}

/** A connected client that gets what is published for its person. */
async function subscribed(relay: Realtime, qos: 0 | 1, properties: object = {}) {
  const person = relay.signUp();
  const client = await RawClient.connect(relay.mqttUrl, person, properties);
  client.send(subscribeBytes(1, topics.userMessages(person.id), qos));
  expect(await client.next()).toMatchObject({ cmd: 'suback', granted: [qos] });
  return { client, publish: (text: string) => relay.hub.publish(topics.userMessages(person.id), text) };
}

function textOf(packet: Packet): string {
  return packet.cmd === 'publish' ? String(packet.payload) : packet.cmd;
}

async function acknowledge(client: RawClient, packet: Packet): Promise<void> {
  client.sendPacket({ cmd: 'puback', messageId: packet.messageId ?? 0 });
}

test('32 packets may wait for their PUBACK, 33 may not', async () => {
  const { relay, alice, bob } = await startWithFriends();
  const commit = deferred();
  relay.state.beforeCommit = () => commit.promise;
  const packets = Array.from({ length: 32 }, (_, index) => publishBytes(index + 1, alice, bob));

  const modest = await RawClient.connect(relay.mqttUrl, alice);
  modest.send(Buffer.concat(packets));
  const greedy = await RawClient.connect(relay.mqttUrl, bob);
  greedy.send(
    Buffer.concat([
      ...packets.map((_, index) => publishBytes(index + 1, bob, alice)),
      publishBytes(33, bob, alice),
    ]),
  );
  expect((await greedy.ending()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x93 }]);

  commit.resolve();
  for (let id = 1; id <= 32; id += 1) {
    expect(await modest.next()).toMatchObject({ cmd: 'puback', messageId: id });
  }
  modest.send(publishBytes(1, alice, bob));
  expect(await modest.next()).toMatchObject({ cmd: 'puback', messageId: 1 });
});

test('packets of one connection are stored side by side, in their order, and acknowledged in it', async () => {
  const { relay, alice, bob } = await startWithFriends();
  const stranger = relay.signUp();
  const commit = deferred();
  const begun: string[] = [];
  relay.state.beforeCommit = ({ content }) => {
    begun.push(content);
    return commit.promise;
  };
  const client = await RawClient.connect(relay.mqttUrl, alice);
  client.send(
    Buffer.concat([
      publishBytes(1, alice, bob, { content: 'AAAA' }),
      // Refused at once, and told in its turn.
      publishBytes(2, alice, stranger),
      publishBytes(3, alice, bob, { content: 'BBBB' }),
    ]),
  );
  await eventually(() => expect(begun).toEqual(['AAAA', 'BBBB']));
  commit.resolve();
  expect(await client.next()).toMatchObject({ cmd: 'puback', messageId: 1, reasonCode: 0 });
  expect(await client.next()).toMatchObject({ cmd: 'puback', messageId: 2, reasonCode: 0x87 });
  expect(await client.next()).toMatchObject({ cmd: 'puback', messageId: 3, reasonCode: 0 });
});

test('a packet identifier that waits for its PUBACK may not be used again', async () => {
  const { relay, alice, bob } = await startWithFriends();
  const commit = deferred();
  relay.state.beforeCommit = () => commit.promise;
  const client = await RawClient.connect(relay.mqttUrl, alice);
  client.send(Buffer.concat([publishBytes(5, alice, bob), publishBytes(5, alice, bob)]));
  expect((await client.ending()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x82 }]);
  commit.resolve();
});

test('a flood of QoS 0 is read no faster than it is stored, and none of it is lost', async () => {
  const { relay, alice, bob } = await startWithFriends();
  const [started, commit] = [deferred(), deferred()];
  relay.state.beforeCommit = () => {
    started.resolve();
    return commit.promise;
  };
  const client = await RawClient.connect(relay.mqttUrl, alice);
  const content = 'A'.repeat(100_000);
  for (let index = 0; index < 200; index += 1) client.send(publishBytes(0, alice, bob, { content }));
  await started.promise;
  const other = await RawClient.connect(relay.mqttUrl, bob);
  // Time enough for all of it, if it were read.
  for (let index = 0; index < 500; index += 1) await other.ping();
  // 20 MB don't fit into the gateway's queue and the kernel's buffers, so some are still here.
  expect(client.socket.bufferedAmount).toBeGreaterThan(1_000_000);
  commit.resolve();
  await client.ping();
  expect(relay.stored).toHaveLength(200);
});

test('a packet in single bytes is read', async () => {
  const { relay, alice, bob } = await startWithFriends();
  const client = await RawClient.open(relay.mqttUrl);
  for (const byte of Buffer.concat([connectBytes(alice), publishBytes(3, alice, bob)])) {
    client.send(Uint8Array.of(byte));
  }
  expect(await client.next()).toMatchObject({ cmd: 'connack', reasonCode: 0 });
  expect(await client.next()).toMatchObject({ cmd: 'puback', messageId: 3 });
});

test('a flood of pings ends its own connection only', async () => {
  const { relay, alice, bob } = await startWithFriends();
  const [client, other] = [
    await RawClient.connect(relay.mqttUrl, alice),
    await RawClient.connect(relay.mqttUrl, bob),
  ];
  for (let index = 0; index < 1500; index += 1) client.send(Uint8Array.of(0xc0, 0));
  const { packets } = await client.ending();
  expect(packets.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x97 });
  await other.ping();
});

test('deliveries keep to the Receive Maximum of the client, and to their order', async () => {
  const relay = await start();
  const { client, publish } = await subscribed(relay, 1, { receiveMaximum: 2 });
  for (const text of ['1', '2', '3', '4', '5']) publish(text);
  const first = await client.next();
  const second = await client.next();
  // Were a third on its way, it would come before the answer to this.
  await client.ping();
  expect([first, second].map(textOf)).toEqual(['1', '2']);
  await acknowledge(client, second);
  const third = await client.next();
  await client.ping();
  await acknowledge(client, first);
  await acknowledge(client, third);
  expect([third, await client.next(), await client.next()].map(textOf)).toEqual(['3', '4', '5']);
});

test('an acknowledgement that nothing waits for changes nothing', async () => {
  const relay = await start();
  const { client, publish } = await subscribed(relay, 1, { receiveMaximum: 1 });
  publish('1');
  publish('2');
  const first = await client.next();
  client.sendPacket({ cmd: 'puback', messageId: 999 });
  await client.ping();
  await acknowledge(client, first);
  expect(textOf(await client.next())).toBe('2');
});

test('a packet beyond the Maximum Packet Size of the client is not sent, and holds nothing up', async () => {
  const relay = await start();
  const { client, publish } = await subscribed(relay, 1, { maximumPacketSize: 1000, receiveMaximum: 1 });
  publish('x'.repeat(1000));
  publish('small');
  expect(textOf(await client.next())).toBe('small');
});

test('who is writing is told to nobody who is behind, and waits for nobody', async () => {
  const relay = await start();
  const person = relay.signUp();
  const client = await RawClient.connect(relay.mqttUrl, person, { receiveMaximum: 1 });
  client.send(subscribeBytes(1, topics.userMessages(person.id)));
  client.send(subscribeBytes(2, topics.userTyping(person.id)));
  expect([await client.next(), await client.next()]).toMatchObject([{ granted: [1] }, { granted: [0] }]);
  const say = (text: string) => relay.hub.publish(topics.userTyping(person.id), text);
  const publish = (text: string) => relay.hub.publish(topics.userMessages(person.id), text);
  publish('1');
  say('while all is well');
  publish('2');
  say('while 2 waits');
  const [first, fleeting] = [await client.next(), await client.next()];
  await acknowledge(client, first);
  const second = await client.next();
  say('again');
  expect([first, fleeting, second, await client.next()].map(textOf)).toEqual([
    '1',
    'while all is well',
    '2',
    'again',
  ]);
});

test('who is writing is not told to a client that does not read', async () => {
  const relay = await start({ mqtt: { maxBufferedBytes: 64 * 1024 * 1024 } });
  const person = relay.signUp();
  const client = await RawClient.connect(relay.mqttUrl, person);
  client.send(subscribeBytes(1, topics.userMessages(person.id), 0));
  client.send(subscribeBytes(2, topics.userTyping(person.id), 0));
  expect([await client.next(), await client.next()]).toMatchObject([{ granted: [0] }, { granted: [0] }]);
  client.socket.pause();
  // More than the kernel's buffers take.
  for (let index = 0; index < 100; index += 1)
    relay.hub.publish(topics.userMessages(person.id), 'x'.repeat(200_000));
  relay.hub.publish(topics.userTyping(person.id), 'behind it');
  client.socket.resume();
  for (let index = 0; index < 100; index += 1) expect(textOf(await client.next())[0]).toBe('x');
  relay.hub.publish(topics.userTyping(person.id), 'later');
  expect(textOf(await client.next())).toBe('later');
});

test('a client that does not acknowledge is dropped, others go on', async () => {
  const relay = await start({ mqtt: { maxBufferedBytes: 1000 } });
  const { client, publish } = await subscribed(relay, 1, { receiveMaximum: 1 });
  const { client: other, publish: publishToOther } = await subscribed(relay, 1, { receiveMaximum: 1 });
  publish('taken');
  publish('x'.repeat(900));
  await client.ping().catch(() => {});
  publish('x'.repeat(101));
  expect((await client.ending()).packets.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x97 });
  publishToOther('still');
  expect(textOf(await other.next())).toBe('still');
});

test('a client that does not read is dropped, others go on', async () => {
  const relay = await start({ mqtt: { closeTimeoutMs: 20_000 } });
  const { client, publish } = await subscribed(relay, 0);
  const { client: other, publish: publishToOther } = await subscribed(relay, 0);
  client.socket.pause();
  const text = 'x'.repeat(200_000);
  for (let index = 0; index < 100; index += 1) publish(text);
  publishToOther('still');
  expect(textOf(await other.next())).toBe('still');
  client.socket.resume();
  const { packets } = await client.ending();
  expect(packets.length).toBeLessThan(100);
  expect(packets.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x97 });
});

test('a client that neither reads nor closes is cut off', async () => {
  const relay = await start({ mqtt: { closeTimeoutMs: 20 } });
  const { client } = await subscribed(relay, 0);
  client.socket.pause();
  await relay.gateway.close();
  client.socket.resume();
  expect((await client.ending()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x8b }]);
});

test('a client that is dropped while it may not send goes at once', async () => {
  const { relay, alice, bob } = await startWithFriends({ mqtt: { closeTimeoutMs: 3_600_000 } });
  const [started, commit] = [deferred(), deferred()];
  relay.state.beforeCommit = () => {
    started.resolve();
    return commit.promise;
  };
  const client = await RawClient.connect(relay.mqttUrl, alice);
  const content = 'A'.repeat(100_000);
  for (let index = 0; index < 200; index += 1) client.send(publishBytes(0, alice, bob, { content }));
  await started.promise;
  const other = await RawClient.connect(relay.mqttUrl, bob);
  for (let index = 0; index < 500; index += 1) await other.ping();
  const closed = relay.gateway.close();
  expect((await client.ending()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x8b }]);
  commit.resolve();
  await closed;
  expect(relay.stored).toHaveLength(1);
});

test('any packet keeps a connection alive', async () => {
  const relay = await start();
  const client = await RawClient.open(relay.mqttUrl);
  fakeTimeouts();
  client.send(connectBytes(relay.signUp(), {}, 20));
  expect(await client.next()).toMatchObject({ cmd: 'connack', reasonCode: 0 });
  for (let index = 0; index < 7; index += 1) {
    vi.advanceTimersByTime(29_000);
    await client.ping();
  }
});

test('a client that falls silent for one and a half times its Keep Alive is dropped', async () => {
  const relay = await start();
  const client = await RawClient.open(relay.mqttUrl);
  fakeTimeouts();
  client.send(connectBytes(relay.signUp(), {}, 20));
  expect(await client.next()).toMatchObject({ cmd: 'connack', reasonCode: 0 });
  vi.advanceTimersByTime(30_000);
  expect((await client.ending()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x8d }]);
});

test('a connection outlives the time that its session had before it got a device', async () => {
  const relay = await start();
  const person = relay.signUp({ deviceId: null, expiresAt: Date.now() + 10_000 });
  const client = await RawClient.open(relay.mqttUrl);
  fakeTimeouts();
  client.send(connectBytes(person, {}, 20));
  expect(await client.next()).toMatchObject({ cmd: 'connack', reasonCode: 0 });
  relay.bindDevice(person);
  vi.advanceTimersByTime(10_001);
  await client.ping();
});

test('bytes of a packet that never ends keep no connection alive', async () => {
  const { relay, alice, bob } = await startWithFriends();
  const other = await RawClient.connect(relay.mqttUrl, bob);
  const client = await RawClient.open(relay.mqttUrl);
  fakeTimeouts();
  client.send(connectBytes(alice, {}, 20));
  expect(await client.next()).toMatchObject({ cmd: 'connack', reasonCode: 0 });
  for (const byte of [0x30, 0x7f]) {
    client.send(Uint8Array.of(byte));
    await other.ping();
    await other.ping();
    vi.advanceTimersByTime(15_000);
  }
  expect((await client.ending()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x8d }]);
});
