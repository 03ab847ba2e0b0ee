import { afterAll, beforeAll, expect, test } from 'vitest';
import { topics } from '../../contract/index.ts';
import { befriend, logIn, signUpOnDevice, startTestRelay, type TestRelay } from '../helpers.ts';
import { createClients, granted, nextMessage } from '../mqtt/mqttClient.ts';
import { arriveAt } from './tab.ts';

let relay: TestRelay;

beforeAll(async () => {
  relay = await startTestRelay();
});

afterAll(() => relay.close());

test('accepting and removing a contact over HTTP changes who sees whom', async () => {
  const [alice, bob] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  const { tab: aliceTab, online } = await arriveAt(relay, alice);
  expect(online).toEqual([]);
  await arriveAt(relay, bob);
  await aliceTab.expectNothing();
  await befriend(alice, bob);
  expect(await aliceTab.next()).toEqual({ type: 'online_users', userIds: [bob.id] });
  await bob.call('DELETE', `/contacts/${alice.id}`);
  expect(await aliceTab.next()).toEqual({ type: 'online_users', userIds: [] });
});

test('a change of status reaches the subscribers of the status topic', async () => {
  const [alice, bob] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(alice, bob);
  const clients = createClients();
  const client = await clients.connect(relay.mqttUrl, alice);
  expect(await granted(client, topics.userStatus(bob.id))).toEqual([1]);
  const change = nextMessage(client);
  await arriveAt(relay, bob);
  expect(await change).toEqual({
    topic: topics.userStatus(bob.id),
    payload: { userId: bob.id, online: true },
  });
  await clients.endAll();
});

test('logging out closes the socket of that session, not that of another', async () => {
  const alice = await signUpOnDevice(relay);
  const elsewhere = await logIn(relay, alice);
  const { tab } = await arriveAt(relay, alice);
  const { tab: other } = await arriveAt(relay, elsewhere);
  await alice.call('POST', '/logout');
  expect(await tab.closed).toBe(4401);
  await other.expectNothing();
});

test('stopping the relay closes every socket with 1001', async () => {
  const stopping = await startTestRelay();
  const { tab } = await arriveAt(stopping, await signUpOnDevice(stopping));
  await stopping.close();
  expect(await tab.closed).toBe(1001);
});
