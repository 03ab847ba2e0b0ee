import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { waitingLimits } from '../../src/realtime/waitingBytes.ts';
import { fakeTimeouts } from '../fakeTimeouts.ts';
import { deferred, type Person, type Realtime, startRealtime } from '../mqtt/harness.ts';
import { type Arrival, arriveAt, hello, Tab } from './tab.ts';

let relay: Realtime;
let alice: Person;
let bob: Person;
let stranger: Person;

beforeEach(async () => {
  relay = await startRealtime();
  alice = relay.signUp();
  bob = relay.signUp();
  stranger = relay.signUp();
  relay.befriend(alice, bob);
});

afterEach(() => relay.close());

/** A tab whose person is online, and the contacts it found online. */
function arrive(person: Person, where = relay): Promise<Arrival> {
  return arriveAt(where, person);
}

describe('contacts see one another', () => {
  test('as they come and go', async () => {
    const { tab: aliceTab, online: atFirst } = await arrive(alice);
    expect(atFirst).toEqual([]);
    const { tab: bobTab, online } = await arrive(bob);
    expect(online).toEqual([alice.id]);
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: true });
    await bobTab.leave();
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: false });
  });

  test('as they say themselves that they are online or offline', async () => {
    const { tab: aliceTab } = await arrive(alice);
    const { tab: bobTab } = await arrive(bob);
    bobTab.send({ userId: bob.id, online: false });
    bobTab.send({ userId: bob.id, online: false });
    bobTab.send({ userId: bob.id, online: true });
    await bobTab.leave();
    const seen = [await aliceTab.next(), await aliceTab.next(), await aliceTab.next(), await aliceTab.next()];
    expect(seen).toEqual([true, false, true, false].map((online) => ({ userId: bob.id, online })));
    await aliceTab.expectNothing();
  });

  test('while strangers see nothing', async () => {
    const { tab: strangerTab, online } = await arrive(stranger);
    const { tab: aliceTab } = await arrive(alice);
    expect(online).toEqual([]);
    await aliceTab.leave();
    await strangerTab.expectNothing();
  });

  test('as offline with the last of their tabs', async () => {
    const { tab: aliceTab } = await arrive(alice);
    const { tab: first } = await arrive(bob);
    const { tab: second, online } = await arrive(bob);
    expect(online).toEqual([alice.id]);
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: true });
    await first.leave();
    second.send({ userId: bob.id, online: true });
    await second.expectNothing();
    await aliceTab.expectNothing();
    await second.leave();
    expect(await aliceTab.next()).toEqual({ userId: bob.id, online: false });
  });

  test('on the status topic, where each change is published once', async () => {
    const changes = relay.statusOf(bob);
    const { tab: first } = await arrive(bob);
    await arrive(bob);
    await first.leave();
    expect(changes).toEqual([{ userId: bob.id, online: true }]);
  });
});

describe('when contacts change', () => {
  test('a new one is seen at once, on both sides', async () => {
    const { tab: aliceTab } = await arrive(alice);
    const { tab: strangerTab } = await arrive(stranger);
    relay.befriend(alice, stranger);
    expect(await aliceTab.next()).toEqual({ type: 'online_users', userIds: [stranger.id] });
    expect(await strangerTab.next()).toEqual({ type: 'online_users', userIds: [alice.id] });
    await strangerTab.leave();
    expect(await aliceTab.next()).toEqual({ userId: stranger.id, online: false });
  });

  test('a former one is seen no more', async () => {
    const { tab: aliceTab } = await arrive(alice);
    const { tab: bobTab } = await arrive(bob);
    await aliceTab.next();
    relay.unfriend(alice, bob);
    expect(await aliceTab.next()).toEqual({ type: 'online_users', userIds: [] });
    expect(await bobTab.next()).toEqual({ type: 'online_users', userIds: [] });
    await bobTab.leave();
    await aliceTab.expectNothing();
  });

  test('while they are being read, the newest answer counts', async () => {
    const { tab: strangerTab } = await arrive(stranger);
    let asked = 0;
    relay.state.beforeContacts = async () => {
      asked += 1;
      if (asked === 1) relay.befriend(alice, stranger);
    };
    const { tab: aliceTab, online } = await arrive(alice);
    expect(online).toEqual([stranger.id]);
    await aliceTab.expectNothing();
    await strangerTab.leave();
    expect(await aliceTab.next()).toEqual({ userId: stranger.id, online: false });
  });

  test('a former one is seen no more even while the new list is being read', async () => {
    const { tab: aliceTab } = await arrive(alice);
    const { tab: bobTab } = await arrive(bob);
    await aliceTab.next();
    const answer = deferred();
    relay.state.beforeContacts = () => answer.promise;
    relay.unfriend(alice, bob);
    await bobTab.leave();
    await aliceTab.expectNothing();
    answer.resolve();
    expect(await aliceTab.next()).toEqual({ type: 'online_users', userIds: [] });
    await aliceTab.expectNothing();
  });

  test('a tab that leaves while they are being read leaves nothing behind', async () => {
    const [asked, answer] = [deferred(), deferred()];
    relay.state.beforeContacts = () => {
      asked.resolve();
      return answer.promise;
    };
    const tab = await Tab.open(relay);
    tab.send(hello(alice));
    await asked.promise;
    await tab.leave();
    await relay.allSocketsClosed();
    answer.resolve();
    await relay.close();
    expect(relay.hub.listeners.size).toBe(0);
    relay = await startRealtime();
  });
});

test('a ping is answered', async () => {
  const { tab } = await arrive(alice);
  tab.send({ type: 'ping' });
  expect(await tab.next()).toEqual({ type: 'pong' });
});

test('more bytes of pings than a socket may send before its first message are answered', async () => {
  const { tab } = await arrive(alice);
  for (let sent = 0; sent <= waitingLimits.ofOne; sent += 4096) {
    tab.send('{"type":"ping"}'.padEnd(4096));
    expect(await tab.next()).toEqual({ type: 'pong' });
  }
});

test('what is sent right behind the first message waits for its turn', async () => {
  const { tab: bobTab } = await arrive(bob);
  const tab = await Tab.open(relay);
  tab.send(hello(alice));
  tab.send({ type: 'ping' });
  tab.send({ userId: alice.id, online: false });
  const answers = [await tab.next(), await tab.next()];
  expect(answers).toContainEqual({ type: 'pong' });
  expect(answers).toContainEqual({ type: 'online_users', userIds: [bob.id] });
  expect([await bobTab.next(), await bobTab.next()]).toEqual([
    { userId: alice.id, online: true },
    { userId: alice.id, online: false },
  ]);
});

describe('a presence socket', () => {
  test('is closed with 4401 unless its first message proves whose it is', async () => {
    const firsts = [
      { type: 'ping' },
      { userId: alice.id, online: true },
      { userId: alice.id, online: false, token: alice.token },
      { userId: alice.id, online: true, token: 'forged' },
      { userId: bob.id, online: true, token: alice.token },
    ];
    for (const first of firsts) {
      const tab = await Tab.open(relay);
      tab.send(first);
      expect(await tab.closed).toBe(4401);
    }
    const { online } = await arrive(bob);
    expect(online).toEqual([]);
  });

  test('is closed with 4401 if the first message does not come', async () => {
    const impatient = await startRealtime({ presence: { authenticationTimeoutMs: 20 } });
    const tab = await Tab.open(impatient);
    expect(await tab.closed).toBe(4401);
    await impatient.close();
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '7'],
    ['an unknown type', { type: 'presence' }],
    ['a wrong type', { userId: 'not-an-id', online: true }],
    ['an overlong token', { userId: crypto.randomUUID(), online: true, token: 'x'.repeat(4097) }],
    ['another person', { userId: crypto.randomUUID(), online: true }],
  ])('is closed with 1008 for a message that is %s, and others go on', async (_, message) => {
    const { tab: other } = await arrive(bob);
    const { tab } = await arrive(alice);
    expect(await other.next()).toEqual({ userId: alice.id, online: true });
    tab.send(message);
    expect(await tab.closed).toBe(1008);
    expect(await other.next()).toEqual({ userId: alice.id, online: false });
  });

  test('is closed with 1008 for talking on before it is answered', async () => {
    const proof = deferred();
    relay.state.beforeVerify = () => proof.promise;
    const tab = await Tab.open(relay);
    tab.send(hello(alice));
    for (let index = 0; index < 9; index += 1) tab.send({ type: 'ping' });
    expect(await tab.closed).toBe(1008);
    proof.resolve();
    const { online } = await arrive(bob);
    expect(online).toEqual([]);
  });

  test('is closed with 4401 when its session ends while it is being proven', async () => {
    const changes = relay.statusOf(alice);
    let proofs = 0;
    relay.state.beforeVerify = async () => {
      proofs += 1;
      if (proofs === 2) relay.signOut(alice);
    };
    const tab = await Tab.open(relay);
    tab.send(hello(alice));
    expect(await tab.closed).toBe(4401);
    expect(changes).toEqual([]);
  });

  test('is closed with 1003 for a binary message and 1009 for a huge one', async () => {
    const { tab: binary } = await arrive(alice);
    binary.socket.send(Buffer.from('{"type":"ping"}'));
    expect(await binary.closed).toBe(1003);
    const { tab: huge } = await arrive(alice);
    huge.send('x'.repeat(10_000));
    expect(await huge.closed).toBe(1009);
    await arrive(bob);
  });

  test('is closed with 4408 when pings stop, and its person is offline', async () => {
    const quiet = await startRealtime({ presence: { pingTimeoutMs: 60_000 } });
    fakeTimeouts();
    const [one, other] = [quiet.signUp(), quiet.signUp()];
    quiet.befriend(one, other);
    const changes = quiet.statusOf(one);
    const { tab } = await arrive(one, quiet);
    vi.advanceTimersByTime(60_000);
    expect(await tab.closed).toBe(4408);
    expect(changes).toEqual([true, false].map((online) => ({ userId: one.id, online })));
    await quiet.close();
  });

  test('stays open while pings come', async () => {
    const patient = await startRealtime({ presence: { pingTimeoutMs: 60_000 } });
    fakeTimeouts();
    const { tab } = await arrive(patient.signUp(), patient);
    for (let index = 0; index < 7; index += 1) {
      vi.advanceTimersByTime(59_000);
      await tab.expectNothing();
    }
    expect(tab.socket.readyState).toBe(tab.socket.OPEN);
    await patient.close();
  });

  test('is closed with 4401 when its session ends, and others stay', async () => {
    const { tab: other } = await arrive(bob);
    const { tab } = await arrive(alice);
    expect(await other.next()).toEqual({ userId: alice.id, online: true });
    relay.signOut(alice);
    expect(await tab.closed).toBe(4401);
    expect(await other.next()).toEqual({ userId: alice.id, online: false });
  });

  test('is closed with 1001 when the relay stops', async () => {
    const { tab } = await arrive(alice);
    await relay.presence.close();
    expect(await tab.closed).toBe(1001);
  });

  test('is closed with 1011 and a log line for a failure of the relay itself', async () => {
    relay.state.beforeContacts = () => Promise.reject(new Error('inner detail'));
    const tab = await Tab.open(relay);
    tab.send(hello(alice));
    expect(await tab.closed).toBe(1011);
    expect(relay.logLines.join('')).toContain('inner detail');
    expect(relay.logLines.join('')).not.toContain(alice.token);
  });
});
