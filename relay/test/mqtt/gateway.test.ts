import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { topics } from '../../contract/index.ts';
import { deferred, type Person, type Realtime, startRealtime } from './harness.ts';
import {
  createClients,
  disconnectReason,
  granted,
  nextMessage,
  nextPacket,
  pingOf,
  puback,
} from './mqttClient.ts';
import { connectBytes, messagePayload, RawClient, subscribeBytes } from './rawClient.ts';

let relay: Realtime;
let alice: Person;
let bob: Person;
let stranger: Person;
const clients = createClients();

beforeEach(async () => {
  relay = await startRealtime();
  alice = relay.signUp();
  bob = relay.signUp();
  stranger = relay.signUp();
  relay.befriend(alice, bob);
});

afterEach(async () => {
  await clients.endAll();
  await relay.close();
});

describe('CONNECT', () => {
  test('an accepted client is told every limit', async () => {
    const connack = await clients.connack(relay.mqttUrl, alice, {
      clientId: '',
      keepalive: 0,
    });
    expect(connack).toMatchObject({
      reasonCode: 0,
      sessionPresent: false,
      properties: {
        receiveMaximum: 32,
        maximumQoS: 1,
        retainAvailable: false,
        maximumPacketSize: 256 * 1024,
        wildcardSubscriptionAvailable: false,
        subscriptionIdentifiersAvailable: false,
        sharedSubscriptionAvailable: false,
        serverKeepAlive: 30,
        assignedClientIdentifier: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    });
  });

  test('a shorter keep-alive and a client identifier of its own are kept', async () => {
    const connack = await clients.connack(relay.mqttUrl, alice, {
      clientId: 'mine',
      keepalive: 20,
    });
    expect(connack).not.toHaveProperty('properties.serverKeepAlive');
    expect(connack).not.toHaveProperty('properties.assignedClientIdentifier');
  });

  test('a client without a valid token is refused', async () => {
    await expect(clients.connect(relay.mqttUrl, { ...alice, token: 'forged' })).rejects.toMatchObject({
      code: 0x87,
    });
    await expect(clients.connect(relay.mqttUrl, alice, { properties: {} })).rejects.toMatchObject({
      code: 0x87,
    });
  });

  test('the same client identifier takes over, for the same person alone', async () => {
    const first = await clients.connect(relay.mqttUrl, alice, { clientId: 'tab' });
    const other = await clients.connect(relay.mqttUrl, bob, { clientId: 'tab' });
    const reason = disconnectReason(first);
    const second = await clients.connect(relay.mqttUrl, alice, { clientId: 'tab' });
    expect(await reason).toBe(0x8e);
    expect(await puback(second, topics.ping, pingOf(alice))).toEqual({ reasonCode: 0 });
    expect(await puback(other, topics.ping, pingOf(bob))).toEqual({ reasonCode: 0 });
  });
});

describe('SUBSCRIBE', () => {
  test('grants own messages and the status of contacts, and nothing else', async () => {
    const client = await clients.connect(relay.mqttUrl, alice);
    const filters = [
      topics.userMessages(alice.id),
      topics.userStatus(bob.id),
      topics.userMessages(bob.id),
      topics.userStatus(alice.id),
      topics.userStatus(stranger.id),
      topics.groupMessages(alice.id),
      topics.ping,
      `user/${alice.id.toUpperCase()}/messages`,
      `${topics.userMessages(alice.id)}/more`,
      '$SYS/broker',
    ];
    expect(await granted(client, ...filters)).toEqual([1, 1, ...Array.from({ length: 8 }, () => 0x87)]);
  });

  test('grants no wildcard and no shared subscription', async () => {
    const client = await clients.connect(relay.mqttUrl, alice);
    expect(await granted(client, '#', 'user/+/messages', `user/${alice.id}/#`, '$share/all/ping')).toEqual([
      0xa2, 0xa2, 0xa2, 0x9e,
    ]);
  });

  test('grants at most 20, and a repeated one counts once', async () => {
    const client = await clients.connect(relay.mqttUrl, alice);
    const friends = Array.from({ length: 20 }, () => relay.signUp());
    for (const friend of friends) relay.befriend(alice, friend);
    const filters = friends.map((friend) => topics.userStatus(friend.id));
    expect(await granted(client, ...filters)).toEqual(filters.map(() => 1));
    expect(await granted(client, filters[0] as string)).toEqual([1]);
    expect(await granted(client, topics.userMessages(alice.id))).toEqual([0x97]);
    await client.unsubscribeAsync(filters[0] as string);
    expect(await granted(client, topics.userMessages(alice.id))).toEqual([1]);
  });

  test('asks for no more than 64 filters of one packet', async () => {
    const client = await clients.connect(relay.mqttUrl, alice);
    let asked = 0;
    relay.state.beforeContacts = async () => {
      asked += 1;
    };
    const filters = Array.from({ length: 3000 }, () => topics.userStatus(crypto.randomUUID()));
    const answer = await granted(client, ...filters);
    expect(answer).toEqual(filters.map((_, index) => (index < 64 ? 0x87 : 0x97)));
    expect(asked).toBe(64);
  });

  test('the status of a contact where one has blocked the other is granted as before, and silent', async () => {
    relay.block(bob, alice);
    const client = await clients.connect(relay.mqttUrl, alice);
    expect(await granted(client, topics.userStatus(bob.id), topics.userMessages(alice.id))).toEqual([1, 1]);
    const first = nextMessage(client);
    relay.hub.publishStatus({ userId: bob.id, online: true });
    relay.hub.publishToUsers([alice.id], { type: 'contacts', lists: ['contacts'] });
    expect(await first).toMatchObject({ topic: topics.userMessages(alice.id) });
  });

  test('a status is delivered until the contact is removed', async () => {
    const client = await clients.connect(relay.mqttUrl, alice);
    expect(await granted(client, topics.userStatus(bob.id), topics.userMessages(alice.id))).toEqual([1, 1]);
    const first = nextMessage(client);
    relay.hub.publishStatus({ userId: bob.id, online: true });
    expect(await first).toEqual({
      topic: topics.userStatus(bob.id),
      payload: { userId: bob.id, online: true },
    });

    relay.unfriend(alice, bob);
    const second = nextMessage(client);
    relay.hub.publishStatus({ userId: bob.id, online: false });
    relay.hub.publishToUsers([alice.id], { type: 'contacts', lists: ['contacts'] });
    expect(await second).toEqual({
      topic: topics.userMessages(alice.id),
      payload: { type: 'contacts', lists: ['contacts'] },
    });
    expect(await granted(client, topics.userStatus(bob.id))).toEqual([0x87]);
  });

  test('a contact removed while the question is open is not granted', async () => {
    const client = await clients.connect(relay.mqttUrl, alice);
    let asked = 0;
    relay.state.beforeContacts = async () => {
      asked += 1;
      // The first answer is looked up before the removal, as a slow database would.
      if (asked === 2) relay.unfriend(alice, bob);
    };
    await granted(client, topics.userStatus(bob.id));
    expect(await granted(client, topics.userStatus(bob.id))).toEqual([0x87]);
    expect(asked).toBe(3);
  });

  test('UNSUBSCRIBE ends deliveries and says whether there was a subscription', async () => {
    const client = await clients.connect(relay.mqttUrl, alice);
    await granted(client, topics.userMessages(alice.id), topics.userStatus(bob.id));
    const answer = nextPacket(client, 'unsuback');
    await client.unsubscribeAsync([topics.userMessages(alice.id), topics.ping]);
    expect(await answer).toMatchObject({ granted: [0, 0x11] });
    const message = nextMessage(client);
    relay.hub.publishToUsers([alice.id], { type: 'contacts', lists: ['contacts'] });
    relay.hub.publishStatus({ userId: bob.id, online: true });
    expect(await message).toMatchObject({ topic: topics.userStatus(bob.id) });
  });
});

describe('MQTT connections: the end', () => {
  test('of the session ends its connections with Not authorized, and no others', async () => {
    const [client, other] = [
      await clients.connect(relay.mqttUrl, alice),
      await clients.connect(relay.mqttUrl, bob),
    ];
    const said = nextPacket(client, 'disconnect');
    relay.signOut(alice);
    expect(await said).toMatchObject({
      reasonCode: 0x87,
      properties: { userProperties: { code: 'session-expired' } },
    });
    expect(await puback(other, topics.ping, pingOf(bob))).toEqual({ reasonCode: 0 });
  });

  test('of the session during CONNECT is the end of the connection', async () => {
    let proofs = 0;
    relay.state.beforeVerify = async () => {
      proofs += 1;
      if (proofs === 2) relay.signOut(alice);
    };
    const client = await RawClient.open(relay.mqttUrl);
    client.send(connectBytes(alice));
    expect((await client.ending()).packets).not.toContainEqual(expect.objectContaining({ reasonCode: 0 }));
  });

  test('of the socket during CONNECT leaves nothing behind', async () => {
    const [asked, proof] = [deferred(), deferred()];
    relay.state.beforeVerify = () => {
      asked.resolve();
      return proof.promise;
    };
    const client = await RawClient.open(relay.mqttUrl);
    client.send(Buffer.concat([connectBytes(alice), subscribeBytes(1, topics.userMessages(alice.id))]));
    await asked.promise;
    client.close();
    await relay.allSocketsClosed();
    proof.resolve();
    await Promise.all([relay.gateway.close(), relay.presence.close()]);
    expect(relay.hub.listeners.size).toBe(0);
  });

  test('of the socket during SUBSCRIBE leaves nothing behind', async () => {
    const [asked, answer] = [deferred(), deferred()];
    relay.state.beforeContacts = () => {
      asked.resolve();
      return answer.promise;
    };
    const client = await RawClient.connect(relay.mqttUrl, alice);
    client.send(subscribeBytes(1, topics.userStatus(bob.id)));
    await asked.promise;
    client.close();
    await relay.allSocketsClosed();
    const closed = Promise.all([relay.gateway.close(), relay.presence.close()]);
    answer.resolve();
    await closed;
    expect(relay.hub.listeners.size).toBe(0);
  });

  test('of the token ends its connection', async () => {
    const hasty = relay.signUp({ expiresAt: Date.now() + 400 });
    const client = await clients.connect(relay.mqttUrl, hasty);
    expect(await disconnectReason(client)).toBe(0x87);
  });

  test('of the server is announced', async () => {
    const [client, other] = [
      await clients.connect(relay.mqttUrl, alice),
      await clients.connect(relay.mqttUrl, bob),
    ];
    const reasons = Promise.all([disconnectReason(client), disconnectReason(other)]);
    await relay.gateway.close();
    expect(await reasons).toEqual([0x8b, 0x8b]);
  });

  test('of the server waits for what is being stored', async () => {
    const [started, commit] = [deferred(), deferred()];
    relay.state.beforeCommit = () => {
      started.resolve();
      return commit.promise;
    };
    const client = await clients.connect(relay.mqttUrl, alice);
    client.publish(topics.userMessages(bob.id), messagePayload(alice, bob), { qos: 1 }, () => {});
    await started.promise;
    const reason = disconnectReason(client);
    let isClosed = false;
    const closed = relay.gateway.close().finally(() => {
      isClosed = true;
    });
    expect(await reason).toBe(0x8b);
    await relay.allSocketsClosed();
    expect([isClosed, relay.stored.length]).toEqual([false, 0]);
    commit.resolve();
    await closed;
    expect(relay.stored).toHaveLength(1);
  });
});
