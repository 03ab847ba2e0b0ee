import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  directConversationId,
  type LogEntry,
  OutgoingMessage,
  type SentMessage,
  topics,
} from '../../contract/index.ts';
import { revocationOf, withSignature } from '../devices.ts';
import { eventually } from '../eventually.ts';
import {
  base64Url,
  befriend,
  call,
  onAnotherDevice,
  type PersonOnDevice,
  signUpOnDevice,
} from '../helpers.ts';
import { commitBody, messageBody, seqs } from '../http/conversation.ts';
import { createClients, disconnectReason, granted, nextMessage, pingOf, puback } from '../mqtt/mqttClient.ts';
import { messagePayload } from '../mqtt/rawClient.ts';
import { run } from '../operator/operator.ts';
import { arriveAt, Tab } from '../presence/tab.ts';
import { type Cluster, type ClusterRelay, createCluster } from './cluster.ts';

let cluster: Cluster;
let relays: [ClusterRelay, ClusterRelay, ClusterRelay];
let alice: PersonOnDevice;
let bob: PersonOnDevice;
let conversationId: string;
const clients = createClients();

beforeAll(async () => {
  cluster = await createCluster(inject('postgresUrl'), {
    RATE_LIMITS: ['request', 'send']
      .flatMap((what) => [`${what}.account=off`, `${what}.address=off`])
      .concat('search.account=5/1h')
      .join(),
  });
  relays = (await cluster.start(3)) as typeof relays;
}, 120_000);
afterAll(() => cluster.remove());

beforeEach(async () => {
  [alice, bob] = [await signUpOnDevice(relays[0]), await signUpOnDevice(relays[1])];
  await befriend(alice, bob);
  conversationId = directConversationId(alice.id, bob.id);
  await request(relays[2], alice, 'POST', `/conversations/${conversationId}/commits`, commitBody(0));
});
afterEach(() => clients.endAll());

/** Calls as a person, by way of any relay. */
const request = async <T>(
  relay: ClusterRelay,
  { deviceId, token }: PersonOnDevice,
  method: string,
  path: string,
  given?: unknown,
) => {
  const body = await withSignature(relay, { deviceId, token }, method, path, given);
  return call<T>(relay, method, path, { token, ...(body === undefined ? {} : { body }) });
};

async function listening(relay: ClusterRelay, person: PersonOnDevice, ...filters: string[]) {
  const client = await clients.connect(relay.mqttUrl, person);
  const all = [topics.userMessages(person.id), ...filters];
  expect(await granted(client, ...all)).toEqual(all.map(() => 1));
  return client;
}

describe('three relays are one', () => {
  it('to a message: it reaches every device of both, wherever it is sent and wherever they are', async () => {
    const aliceElsewhere = await onAnotherDevice(relays[2], alice);
    const devices = [
      await listening(relays[0], alice),
      await listening(relays[2], aliceElsewhere),
      await listening(relays[1], bob),
    ];
    const byMqtt = Promise.all(devices.map((device) => nextMessage(device)));
    const payload = messagePayload(alice, bob, { epoch: 1 });
    const sender = await clients.connect(relays[0].mqttUrl, alice);
    expect(await puback(sender, topics.userMessages(bob.id), payload)).toMatchObject({
      reasonCode: 0,
      seq: '2',
    });
    const { messageId } = OutgoingMessage.parse(JSON.parse(payload));
    for (const { payload: heard } of await byMqtt) expect(heard).toMatchObject({ messageId, seq: 2 });

    const byRest = Promise.all(devices.map((device) => nextMessage(device)));
    const body = messageBody(1);
    const sent = await request<SentMessage>(relays[2], bob, 'POST', `/messages/user/${alice.id}`, body);
    expect(sent).toMatchObject({ status: 201, body: { seq: 3 } });
    for (const { payload: heard } of await byRest)
      expect(heard).toMatchObject({ messageId: body.messageId, seq: 3 });
    for (const relay of relays) {
      const log = await request<LogEntry[]>(relay, alice, 'GET', `/messages/user/${bob.id}`);
      expect(seqs(log.body)).toEqual([1, 2, 3]);
    }
  });

  it('to a message that is repeated at each of them at once: it exists once', async () => {
    const body = messageBody(1);
    const answers = await Promise.all(
      [...relays, ...relays].map((relay) =>
        request<SentMessage>(relay, alice, 'POST', `/messages/user/${bob.id}`, body),
      ),
    );
    for (const { status, body: answer } of answers)
      expect({ status, answer }).toEqual({ status: 201, answer: answers[0]?.body });
    const log = await request<LogEntry[]>(relays[1], bob, 'GET', `/messages/user/${alice.id}`);
    expect(seqs(log.body)).toEqual([1, 2]);
  });

  it('to commits: of those that end one epoch exactly one succeeds, and the others hear which epoch it is', async () => {
    for (let epoch = 1; epoch <= 5; epoch += 1) {
      const contenders = [...relays, ...relays].map((relay, index) => {
        const person = index % 2 === 0 ? alice : bob;
        return request(relay, person, 'POST', `/conversations/${conversationId}/commits`, commitBody(epoch));
      });
      const answers = await Promise.all(contenders);
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      for (const { body } of answers.filter(({ status }) => status !== 201)) {
        expect(body).toMatchObject({ code: 'stale-epoch', epoch: epoch + 1 });
      }
    }
  });

  it('to a group: its messages reach who has it open, until they are no member any more', async () => {
    const groupId = randomUUID();
    await request(relays[0], alice, 'POST', '/group', { groupId, sealedName: base64Url(40) });
    const added = await request(relays[1], alice, 'POST', `/group/${groupId}/add`, {
      ...commitBody(0),
      user_id: bob.id,
    });
    expect(added.status).toBe(201);
    const topic = topics.groupMessages(groupId);
    const atBob = await listening(relays[2], bob, topic);
    const heard: unknown[] = [];
    atBob.on('message', (on, payload) => {
      heard.push([on, (JSON.parse(payload.toString()) as { type: string }).type]);
    });
    const send = (relay: ClusterRelay) =>
      request<SentMessage>(relay, alice, 'POST', `/messages/group/${groupId}`, messageBody(1));
    expect((await send(relays[0])).status).toBe(201);
    await eventually(() => {
      expect(heard).toContainEqual([topic, 'message']);
      expect(heard).toContainEqual([topics.userMessages(bob.id), 'available']);
    });
    await request(relays[1], bob, 'DELETE', `/group/${groupId}/leave`);
    await eventually(async () => expect(heard.at(-1)).toEqual([topics.userMessages(bob.id), 'groups']));
    heard.splice(0);
    expect((await send(relays[0])).body.seq).toBe(3);
    // An event sent later on another topic has arrived, so an earlier one on the group's would have too.
    await request(relays[0], alice, 'POST', `/messages/user/${bob.id}`, messageBody(1));
    await eventually(() => expect(heard).toEqual([[topics.userMessages(bob.id), 'message']]));
  });

  it('to presence: contacts see each other come and go, and stop seeing each other when they part', async () => {
    const { tab: aliceTab, online } = await arriveAt(relays[0], alice);
    expect(online).toEqual([]);
    const watcher = await listening(relays[2], alice, topics.userStatus(bob.id));
    const change = nextMessage(watcher);
    const { tab: bobTab, online: seen } = await arriveAt(relays[1], bob);
    expect(seen).toEqual([alice.id]);
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: true });
    expect((await change).payload).toEqual({ userId: bob.id, online: true });
    const { tab: secondTab } = await arriveAt(relays[2], bob);
    await bobTab.leave();
    await aliceTab.expectNothing();
    await secondTab.leave();
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: false });

    await arriveAt(relays[1], bob);
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: true });
    await request(relays[2], bob, 'DELETE', `/contacts/${alice.id}`);
    expect(await aliceTab.next()).toEqual({ type: 'online_users', userIds: [] });
    expect(await granted(watcher, topics.userStatus(bob.id))).toEqual([0x87]);
  });

  it('to a session: logging out at one ends what is open at the others, and nothing else', async () => {
    const elsewhere = await onAnotherDevice(relays[1], alice);
    const [client, other] = [await listening(relays[1], alice), await listening(relays[2], elsewhere)];
    const reason = disconnectReason(client);
    const { tab } = await arriveAt(relays[2], alice);
    expect((await request(relays[0], alice, 'POST', '/logout')).status).toBe(204);
    expect(await reason).toBe(0x87);
    expect(await tab.closed).toBe(4401);
    for (const relay of relays) {
      expect(await request(relay, alice, 'GET', '/profile')).toMatchObject({ status: 401 });
    }
    expect(await puback(other, topics.ping, pingOf(alice))).toEqual({ reasonCode: 0 });
  });

  it('to the operator: who is suspended is out at all of them', async () => {
    const atOne = disconnectReason(await clients.connect(relays[1].mqttUrl, bob));
    const { tab } = await arriveAt(relays[2], bob);
    const client = await clients.connect(relays[0].mqttUrl, alice);
    expect(await run(cluster.environment, 'people', 'suspend', bob.username)).toMatchObject({ status: 0 });
    expect(await atOne).toBe(0x87);
    await tab.closed;
    for (const relay of relays) {
      expect(await request(relay, bob, 'GET', '/profile')).toMatchObject({
        body: { code: 'account-suspended' },
      });
      expect((await request(relay, alice, 'GET', '/profile')).status).toBe(200);
    }
    expect(client.connected).toBe(true);
  });

  it('to a device: revoking it at one ends what is open at the others', async () => {
    const lost = await onAnotherDevice(relays[1], alice);
    const client = await listening(relays[1], lost);
    const reason = disconnectReason(client);
    const { tab } = await arriveAt(relays[2], lost);
    const statement = revocationOf(alice, lost.deviceId);
    const revoked = await alice.call('DELETE', `/devices/${lost.deviceId}`, { statement });
    expect(revoked.status).toBe(204);
    expect(await reason).toBe(0x87);
    expect(await tab.closed).toBe(4401);
    expect(await request(relays[2], lost, 'GET', '/profile')).toMatchObject({ status: 401 });
  });

  it('to a limit: it is one for all', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const relay = relays[index % 3] as ClusterRelay;
      statuses.push((await request(relay, alice, 'GET', '/users/search?q=someone')).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe('a relay that is killed', () => {
  it('is missed: its people go offline, come back elsewhere, and nothing acknowledged is lost', async () => {
    const { tab: aliceTab } = await arriveAt(relays[0], alice);
    const bobTab = await Tab.open(relays[1]);
    bobTab.send({ userId: bob.id, online: true, token: bob.token });
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: true });

    // Everybody writes all the time; Alice by the relay that dies.
    const acknowledged: SentMessage[] = [];
    const writing = new AbortController();
    const writeAt = async (relay: () => ClusterRelay, from: PersonOnDevice, to: PersonOnDevice) => {
      while (!writing.signal.aborted) {
        const body = messageBody(1);
        let sent: SentMessage | null = null;
        // Again and again with the same id, as clients do, at another relay if need be.
        while (sent === null) {
          const answer = await request<SentMessage>(
            relay(),
            from,
            'POST',
            `/messages/user/${to.id}`,
            body,
          ).catch(() => null);
          if (answer?.status === 201) sent = answer.body;
        }
        acknowledged.push(sent);
      }
    };
    let reachable: readonly ClusterRelay[] = relays;
    let turn = 0;
    const anyRelay = () => {
      turn += 1;
      return reachable[turn % reachable.length] as ClusterRelay;
    };
    const writers = [writeAt(anyRelay, alice, bob), writeAt(anyRelay, bob, alice)];
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(50));

    relays[1].program.child.kill('SIGKILL');
    await relays[1].program.ended;
    const killedAt = acknowledged.length;
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(killedAt + 50));
    reachable = [relays[0], relays[2]];

    const [replacement] = await cluster.start(1);
    if (replacement === undefined) throw new Error('no relay was started');
    relays[1] = replacement;
    reachable = relays;
    const { tab: bobAgain, online } = await arriveAt(replacement, bob);
    expect(online).toEqual([alice.id]);
    const atBob = await listening(replacement, bob);
    expect(await nextMessage(atBob)).toMatchObject({ payload: { conversationId } });
    writing.abort();
    await Promise.all(writers);

    const log: LogEntry[] = [];
    for (let page: LogEntry[] | null = null; page === null || page.length > 0; ) {
      const after = log.at(-1)?.seq ?? 0;
      page = (
        await request<LogEntry[]>(
          relays[2],
          bob,
          'GET',
          `/messages/user/${alice.id}?after=${after}&limit=200`,
        )
      ).body;
      log.push(...page);
    }
    expect(seqs(log)).toEqual(log.map((_entry, index) => index + 1));
    const stored = new Map(log.map((entry) => [entry.id, entry.seq]));
    for (const { id, seq } of acknowledged) expect(stored.get(id)).toBe(seq);
    expect(log).toHaveLength(acknowledged.length + 1);

    // He goes, and the dead relay, where he still seemed to be, is missed.
    await bobAgain.leave();
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: false });
  }, 120_000);
});
