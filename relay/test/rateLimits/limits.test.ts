import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId, limits, topics } from '../../contract/index.ts';
import { defaultQuotas, type QuotaName } from '../../src/rateLimits/quotas.ts';
import { publicRouteQuotas, routeActions } from '../../src/rateLimits/routeQuotas.ts';
import { eventually } from '../eventually.ts';
import {
  type Answer,
  befriend,
  call,
  onAnotherDevice,
  type PersonOnDevice,
  signUp,
  signUpBody,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { addMember, commitBody, createGroup, messageBody } from '../http/conversation.ts';
import { createClients, granted, pingOf, puback } from '../mqtt/mqttClient.ts';
import { messagePayload, typingPayload } from '../mqtt/rawClient.ts';
import { hello, Tab } from '../presence/tab.ts';
import { actions } from './actions.ts';
import { onlyLimits } from './onlyLimits.ts';

let now: number;
let relay: TestRelay;
const clients = createClients();
beforeEach(() => {
  now = Date.parse('2026-03-01T12:00:00.000Z');
});
afterEach(async () => {
  await clients.endAll();
  await relay.close();
});

const tried = new Set<QuotaName>();

/** A relay without any limit but these. */
async function relayWith(limits: Partial<Record<QuotaName, string>>): Promise<void> {
  for (const name of Object.keys(limits)) tried.add(name as QuotaName);
  relay = await startTestRelay({
    environment: { RATE_LIMITS: onlyLimits(limits), TRUST_PROXY: 'true' },
    clock: () => now,
  });
}

/** An address of one's own, as the proxy in front would report it. */
const at = (address: string) => ({ 'x-forwarded-for': address });

const isRefusal = { status: 429, body: { code: 'rate-limited' } };

function expectRefusal(answer: Answer<unknown>, seconds: number): void {
  expect(answer).toMatchObject({
    status: 429,
    body: {
      code: 'rate-limited',
      detail: 'Too many requests. Please wait a moment and try again.',
      retryAfter: seconds,
    },
  });
  expect(answer.headers.get('retry-after')).toBe(String(seconds));
}

/** Expects `action` to be taken `count` times, then refused for `seconds`, and taken again after that. */
async function expectLimit(
  count: number,
  seconds: number,
  action: () => Promise<Answer<unknown>>,
): Promise<void> {
  for (let done = 0; done < count; done++) expect(await action()).not.toMatchObject(isRefusal);
  expectRefusal(await action(), seconds);
  now += (seconds - 1) * 1000;
  expectRefusal(await action(), 1);
  now += 1000;
  expect(await action()).not.toMatchObject(isRefusal);
}

const actionNames = Object.keys(actions) as (keyof typeof actions)[];

describe.each(actionNames)('%s', (name) => {
  it('is limited for each account, on all its devices together', async () => {
    await relayWith({ [`${name}.account`]: '3/30s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    const elsewhere = await onAnotherDevice(relay, aino);
    let turn = 0;
    await expectLimit(3, 10, () => actions[name]((turn += 1) % 2 === 0 ? aino : elsewhere));
    expect(await actions[name](eero)).not.toMatchObject(isRefusal);
    expect((await aino.call('GET', '/profile')).status).toBe(200);
  });

  it('is limited for each address, whoever is there', async () => {
    await relayWith({ [`${name}.address`]: '3/30s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    let turn = 0;
    await expectLimit(3, 10, () => actions[name]((turn += 1) % 2 === 0 ? aino : eero));
    expect((await eero.call('GET', '/profile')).status).toBe(200);
  });
});

describe('claims of several people at once', () => {
  it('count as one for each of them', async () => {
    await relayWith({ 'claim.account': '4/40s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(aino, eero);
    const both = () => aino.call('POST', '/key-packages/claim', { user_ids: [aino.id, eero.id, eero.id] });
    expect((await both()).status).toBe(200);
    expect((await both()).status).toBe(200);
    expectRefusal(await both(), 10);
    expectRefusal(await actions.claim(aino), 10);
  });
});

describe('reporting', () => {
  it('is limited for each account', async () => {
    await relayWith({ 'report.account': '3/30s' });
    const [aino, eero] = [await signUp(relay), await signUp(relay)];
    const report = { user_id: eero.id, reason: 'spam', text: '', messages: [] };
    await expectLimit(3, 10, () => aino.call('POST', '/reports', report));
    expect((await eero.call('POST', '/reports', { ...report, user_id: aino.id })).status).toBe(201);
  });
});

describe('blocking', () => {
  it('is limited for each account, and for no address: neighbours keep nobody from it', async () => {
    await relayWith({ 'block.account': '3/30s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await expectLimit(3, 10, () => aino.call('PUT', `/blocks/${eero.id}`));
    expect((await eero.call('PUT', `/blocks/${aino.id}`)).status).toBe(204);
  });
});

describe('of the two quotas', () => {
  it("the account's is taken first: whoever is over it takes nothing from their neighbours", async () => {
    await relayWith({ 'search.account': '2/1h', 'search.address': '4/1h' });
    const [greedy, modest] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    for (let asked = 0; asked < 10; asked++) await actions.search(greedy);
    expect((await actions.search(modest)).status).toBe(200);
    expect((await actions.search(modest)).status).toBe(200);
  });
});

describe('messages', () => {
  it('by MQTT and by REST are counted together', async () => {
    await relayWith({ 'send.account': '3/30s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(aino, eero);
    const commits = `/conversations/${directConversationId(aino.id, eero.id)}/commits`;
    const client = await clients.connect(relay.mqttUrl, aino);
    const publish = () =>
      puback(client, topics.userMessages(eero.id), messagePayload(aino, eero, { epoch: 1 }));
    const send = () => aino.call('POST', `/messages/user/${eero.id}`, messageBody(1));

    expect((await aino.call('POST', commits, commitBody(0))).status).toBe(201);
    expect(await publish()).toMatchObject({ reasonCode: 0 });
    expect((await send()).status).toBe(201);
    expect(await publish()).toMatchObject({ reasonCode: 0 });
    expect(await publish()).toEqual({ reasonCode: 0x97, code: 'rate-limited', retryAfter: '10' });
    expectRefusal(await send(), 10);
    now += 10_000;
    expect(await publish()).toMatchObject({ reasonCode: 0, seq: '5' });
    expect((await eero.call<unknown[]>('GET', `/messages/user/${aino.id}`)).body).toHaveLength(5);
  });

  it('by MQTT count for their address as well', async () => {
    await relayWith({ 'send.address': '2/20s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    const publishers = [
      await clients.connect(relay.mqttUrl, aino),
      await clients.connect(relay.mqttUrl, eero),
    ];
    const answers: unknown[] = [];
    for (const client of [...publishers, ...publishers]) {
      const [from, to] = client === publishers[0] ? [aino, eero] : [eero, aino];
      answers.push(await puback(client, topics.userMessages(to.id), messagePayload(from, to)));
    }
    const codes = ['not-a-contact', 'not-a-contact', 'rate-limited', 'rate-limited'];
    expect(answers).toMatchObject(codes.map((code) => ({ code })));
  });
});

describe('signs of writing', () => {
  it('are limited by account and by address, and take nothing from messages', async () => {
    await relayWith({ 'typing.account': '2/20s', 'typing.address': '3/30s', 'send.account': '1/10s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(aino, eero);
    const publishers = [
      await clients.connect(relay.mqttUrl, aino),
      await clients.connect(relay.mqttUrl, eero),
    ] as const;
    const write = (index: 0 | 1) =>
      puback(publishers[index], topics.userTyping(index === 0 ? eero.id : aino.id), typingPayload());
    const limited = (retryAfter: string) => ({ reasonCode: 0x97, code: 'rate-limited', retryAfter });
    expect([await write(0), await write(0)]).toEqual([{ reasonCode: 0 }, { reasonCode: 0 }]);
    expect(await write(0)).toEqual(limited('10'));
    expect(await write(1)).toEqual({ reasonCode: 0 });
    expect(await write(1)).toEqual(limited('10'));
    const message = messagePayload(aino, eero, { epoch: 1 });
    expect(await puback(publishers[0], topics.userMessages(eero.id), message)).not.toMatchObject({
      code: 'rate-limited',
    });
  });
});

describe('commits', () => {
  it('to one conversation are limited for each account, and those of others go on', async () => {
    await relayWith({ 'commit.account-conversation': '3/30s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    await befriend(aino, eero);
    const id = directConversationId(aino.id, eero.id);
    const garbage = (from: PersonOnDevice, epoch: number) =>
      from.call('POST', `/conversations/${id}/commits`, commitBody(epoch));
    for (let epoch = 0; epoch < 3; epoch += 1) expect((await garbage(aino, epoch)).status).toBe(201);
    expectRefusal(await garbage(aino, 3), 10);
    expect((await garbage(eero, 3)).status).toBe(201);
    const groupId = await createGroup(aino);
    const add = (epoch: number) => addMember(aino, groupId, eero, commitBody(epoch));
    expect((await add(0)).status).toBe(201);
    for (let time = 0; time < 2; time += 1) expect((await add(1)).status).toBe(409);
    expectRefusal(await add(1), 10);
  });
});

describe('requests', () => {
  it('of an account are limited, whatever they ask for and by which protocol', async () => {
    await relayWith({ 'request.account': '6/60s' });
    const aino = await signUpOnDevice(relay); // takes one
    const client = await clients.connect(relay.mqttUrl, aino);
    for (const path of ['/profile', '/contacts', '/vault']) await aino.call('GET', path);
    expect(await puback(client, topics.ping, pingOf(aino))).toEqual({ reasonCode: 0 });
    expect(await granted(client, topics.userMessages(aino.id))).toEqual([1]);
    expectRefusal(await aino.call('GET', '/profile'), 10);
    expect(await puback(client, topics.ping, pingOf(aino))).toMatchObject({ code: 'rate-limited' });
    expect(await granted(client, topics.userMessages(aino.id))).toEqual([0x97]);
    now += 10_000;
    expect((await aino.call('GET', '/profile')).status).toBe(200);
  });

  it('of an account are limited by what they upload, in KiB', async () => {
    await relayWith({ 'upload.account': '100/100s' });
    const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)]; // each takes one
    const client = await clients.connect(relay.mqttUrl, aino);
    const large = { ...messageBody(1), content: 'A'.repeat(40 * 1024) };
    const send = (from: PersonOnDevice, to: PersonOnDevice) =>
      from.call('POST', `/messages/user/${to.id}`, large);
    const payload = messagePayload(aino, eero, { content: large.content });
    const publish = () => puback(client, topics.userMessages(eero.id), payload);

    expect((await send(aino, eero)).body.code).toBe('not-a-contact'); // 41 KiB, with what is around the content
    expect(await publish()).toMatchObject({ code: 'not-a-contact' });
    expectRefusal(await send(aino, eero), 24);
    expect(await publish()).toMatchObject({ code: 'rate-limited', retryAfter: '24' });
    expect((await aino.call('GET', '/profile')).status).toBe(200);
    expect((await send(eero, aino)).body.code).toBe('not-a-contact');
    now += 24_000;
    expect(await publish()).toMatchObject({ code: 'not-a-contact' });
  });

  it('of unknown length count as the longest that the call takes', async () => {
    await relayWith({ 'upload.account': '100/100s' });
    const aino = await signUpOnDevice(relay);
    const upload = () =>
      fetch(`${relay.url}/api/users/me`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${aino.token}`, 'content-type': 'application/json' },
        body: new Blob(['{}']).stream(),
        duplex: 'half',
      });
    expect((await upload()).status).toBe(422);
    expect((await upload()).status).toBe(429);
  });

  it('without a token that holds are limited by address, and take nothing from people who are signed in', async () => {
    await relayWith({ 'request.address': '2/20s' });
    const aino = await signUp(relay);
    await expectLimit(2, 10, () => call(relay, 'GET', '/profile', { token: 'forged' }));
    expectRefusal(await call(relay, 'GET', '/contacts'), 10);
    for (let asked = 0; asked < 5; asked++) expect((await aino.call('GET', '/profile')).status).toBe(200);
  });
});

describe('calls without a session', () => {
  it('sign-ups are limited by address', async () => {
    await relayWith({ 'sign-up.address': '3/30s' });
    await expectLimit(3, 10, () => call(relay, 'POST', '/register', { body: signUpBody() }));
    const elsewhere = { body: signUpBody(), headers: at('203.0.113.9') };
    expect((await call(relay, 'POST', '/signup', elsewhere)).status).toBe(201);
  });

  it('password parameters are limited by address', async () => {
    await relayWith({ 'params.address': '3/30s' });
    let turn = 0;
    const ask = (headers = {}) =>
      call(relay, 'GET', `/auth/params?identifier=user${(turn += 1)}`, { headers });
    await expectLimit(3, 10, ask);
    expect((await ask(at('203.0.113.9'))).status).toBe(200);
  });

  it('an IPv6 /64 is one address, and what a visitor claims to be is nothing', async () => {
    await relayWith({ 'params.address': '3/1h' });
    const ask = (forwardedFor: string) =>
      call(relay, 'GET', '/auth/params?identifier=x', { headers: at(forwardedFor) });
    for (const host of ['::1', '::2', ':ffff:ffff:ffff:ffff']) {
      expect((await ask(`2001:db8:5:6${host}`)).status).toBe(200);
    }
    expect((await ask('2001:db8:5:6::3')).status).toBe(429);
    expect((await ask('192.0.2.1, 2001:db8:5:6::4')).status).toBe(429);
    expect((await ask('2001:db8:5:7::1')).status).toBe(200);
  });

  it('an IPv6 /48 has what eight addresses have, however many it uses', async () => {
    await relayWith({ 'params.address': '3/1h' });
    const ask = (forwardedFor: string) =>
      call(relay, 'GET', '/auth/params?identifier=x', { headers: at(forwardedFor) });
    const answers: number[] = [];
    for (let subnet = 0; subnet < 60; subnet += 1)
      answers.push((await ask(`2001:db8:5:${subnet.toString(16)}::1`)).status);
    expect(answers.filter((status) => status === 200)).toHaveLength(24);
    expect((await ask('2001:db8:6:1::1')).status).toBe(200);
    expect((await ask('203.0.113.9')).status).toBe(200);
    // An address that is refused for it keeps its own three for when the /48 has some again.
    const three = async () => {
      const statuses: number[] = [];
      for (let asked = 0; asked < 3; asked += 1) statuses.push((await ask('2001:db8:5:99::1')).status);
      return statuses;
    };
    expect(await three()).toEqual([429, 429, 429]);
    now += 450_000;
    expect(await three()).toEqual([200, 200, 200]);
  });
});

it('new sockets are limited by address', async () => {
  await relayWith({ 'connect.address': '2/20s' });
  const upgrade = (path: string) =>
    new Promise<string>((resolve) => {
      const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
      socket.once('data', (data: Buffer) => {
        socket.destroy();
        resolve(data.toString());
      });
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
          'sec-websocket-protocol: mqtt\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      );
    });
  expect(await upgrade('/mqtt')).toMatch(/^HTTP\/1\.1 101 /);
  expect(await upgrade('/ws/presence/')).toMatch(/^HTTP\/1\.1 101 /);
  expect(await upgrade('/mqtt')).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\nRetry-After: 10\r\n/);
  expect(await upgrade('/ws/presence/')).toMatch(/^HTTP\/1\.1 429 /);
  now += 10_000;
  expect(await upgrade('/ws/presence/')).toMatch(/^HTTP\/1\.1 101 /);
});

it('live connections of one person are limited, not those of others, and a closed one makes room', async () => {
  await relayWith({});
  const [aino, eero] = [await signUp(relay), await signUp(relay)];
  const { connections } = relay.relay.services;
  for (let count = 0; count < limits.connectionsPerUser; count += 1) connections.open(aino.id);
  expect(await clients.connack(relay.mqttUrl, aino)).toMatchObject({ reasonCode: 0x97 });
  const tab = await Tab.open(relay);
  tab.send(hello(aino));
  expect(await tab.closed).toBe(1013);
  expect((await clients.connect(relay.mqttUrl, eero)).connected).toBe(true);

  connections.close(aino.id);
  const client = await clients.connect(relay.mqttUrl, aino);
  expect(await clients.connack(relay.mqttUrl, aino)).toMatchObject({ reasonCode: 0x97 });
  await client.endAsync();
  await eventually(async () => {
    expect(await clients.connack(relay.mqttUrl, aino)).toMatchObject({ reasonCode: 0 });
  });
});

it('a refusal is logged with its quota and no address beyond its network', async () => {
  await relayWith({ 'params.address': '1/1h' });
  for (let asked = 0; asked < 2; asked++) {
    await call(relay, 'GET', '/auth/params?identifier=x', { headers: at('203.0.113.77') });
  }
  const refusals = relay.logLines.filter((line) => line.includes('rate limit reached'));
  expect(refusals.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { limit: 'params.address', network: '203.0.113.0/24' },
  ]);
  expect(relay.logLines.join('')).not.toContain('203.0.113.77');
});

it('every quota has its test', async () => {
  await relayWith({});
  const inLoginTest = Object.keys(defaultQuotas).filter((name) => name.startsWith('login.'));
  const targets = ['claim', 'added'].flatMap((what) => [`${what}.account-target`, `${what}.target`]);
  const emails = 'email-code.target';
  const files = ['create', 'download', 'upload'].map((what) => `blob-${what}.account`);
  expect([...tried, ...inLoginTest, ...targets, emails, ...files, 'mail.account'].toSorted()).toEqual(
    Object.keys(defaultQuotas).toSorted(),
  );
  const quotas = Object.values(publicRouteQuotas).flat();
  const known = new Set<string>([...quotas, ...actionNames]);
  for (const action of Object.values(routeActions)) expect(known).toContain(action);
});
