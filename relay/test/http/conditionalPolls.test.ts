import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ContactRequest, LogEntry, Notification } from '../../contract/index.ts';
import { leastSpacing, tagLifetime } from '../../src/http/entityTags.ts';
import {
  befriend,
  call,
  logIn,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { createRandom } from '../random.ts';
import { commitBody, log, messageBody, send } from './conversation.ts';

const polled = ['/contacts', '/contacts/requests', '/contacts/sent-requests', '/notifications'] as const;

let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now, environment: { RATE_LIMITS: 'off' } });
});
afterAll(() => relay.close());

/** Asks as a client that polls does, well after it has asked before. */
async function poll(token: string, path: string, etag?: string) {
  now += leastSpacing;
  const headers = etag === undefined ? {} : { 'if-none-match': etag };
  const answer = await call<unknown>(relay, 'GET', path, { token, headers });
  return { status: answer.status, body: answer.body, etag: answer.headers.get('etag') ?? '' };
}

/** Runs an action, and returns how often a session's row was read meanwhile, as every call from outside memory does. */
async function sessionsRead(action: () => Promise<unknown>): Promise<number> {
  const { sessions } = relay.relay.services;
  const verify = vi.spyOn(sessions, 'verify');
  await action();
  const { length } = verify.mock.calls;
  verify.mockRestore();
  return length;
}

describe('a list that is asked for again', () => {
  it.each(polled)(
    'is 304 without a body while it is the same, and is not read for that: %s',
    async (path) => {
      const person = await signUpOnDevice(relay);
      const { status, etag } = await poll(person.token, path);
      expect([status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]{22}"$/)]);
      const read = await sessionsRead(async () => {
        for (const header of [etag, `W/${etag}`, `"another", ${etag}`]) {
          expect(await poll(person.token, path, header)).toEqual({ status: 304, body: undefined, etag });
        }
      });
      expect(read).toBe(0);
    },
  );

  it('is read for whoever has another tag, or none', async () => {
    const person = await signUpOnDevice(relay);
    const { body, etag } = await poll(person.token, '/contacts');
    for (const header of [undefined, '"another"', `${etag}x`, '']) {
      expect(await poll(person.token, '/contacts', header)).toEqual({ status: 200, body, etag });
    }
  });

  it('has the same tag at a relay that has never answered it', async () => {
    const person = await signUpOnDevice(relay);
    const { etag } = await poll(person.token, '/contacts');
    const elsewhere = await logIn(relay, person);
    expect(await poll(elsewhere.token, '/contacts', etag)).toEqual({ status: 304, body: undefined, etag });
  });

  it('is read once more after five minutes, which is how long a change that nothing tells of is not seen', async () => {
    const person = await signUpOnDevice(relay);
    const { etag } = await poll(person.token, '/contacts');
    now += tagLifetime;
    expect(await sessionsRead(() => poll(person.token, '/contacts', etag))).toBe(1);
    expect(await sessionsRead(() => poll(person.token, '/contacts', etag))).toBe(0);
  });

  it('counts as any call for whoever asks at once again', async () => {
    const person = await signUpOnDevice(relay);
    const { etag } = await poll(person.token, '/contacts');
    const read = await sessionsRead(async () => {
      for (let count = 0; count < 5; count += 1) {
        await call(relay, 'GET', '/contacts', { token: person.token, headers: { 'if-none-match': etag } });
      }
    });
    expect(read).toBe(5);
  });

  it('is refused at once to a session that has ended', async () => {
    const person = await signUpOnDevice(relay);
    const other = await logIn(relay, person);
    const { etag } = await poll(other.token, '/contacts');
    await other.call('POST', '/logout');
    expect(await poll(other.token, '/contacts', etag)).toMatchObject({
      status: 401,
      body: { code: 'session-expired' },
    });
  });

  it('is refused to a session whose time is over', async () => {
    const person = await signUpOnDevice(relay);
    const { etag } = await poll(person.token, '/contacts');
    now += 30 * 24 * 60 * 60 * 1000 - 2000;
    expect((await poll(person.token, '/contacts', etag)).status).toBe(304);
    now += 2000;
    expect((await poll(person.token, '/contacts', etag)).status).toBe(401);
  });

  it('is not known from memory if it has changed while it was being read', async () => {
    const [person, friend] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    const { contacts } = relay.relay.services;
    const list = contacts.list.bind(contacts);
    const listing = vi.spyOn(contacts, 'list').mockImplementationOnce(async (userId) => {
      const before = await list(userId);
      await befriend(person, friend);
      return before;
    });
    const { body, etag } = await poll(person.token, '/contacts');
    listing.mockRestore();
    expect(body).toEqual([]);
    expect(await poll(person.token, '/contacts', etag)).toMatchObject({
      status: 200,
      body: [{ id: friend.id }],
    });
  });

  it('forgets sessions that ask no more', async () => {
    const { entityTags } = relay.relay.services;
    const person = await signUpOnDevice(relay);
    await poll(person.token, '/contacts');
    now += 10 * 60 * 1000;
    await poll(person.token, '/contacts');
    expect(entityTags.size).toBe(1);
  });
});

const seed =
  Number.parseInt(process.env['SINETTI_TEST_SEED']?.slice(0, 8) ?? '', 16) || randomBytes(4).readUInt32LE();

describe(`lists that are asked for again, whatever people do (seed ${seed.toString(16)})`, () => {
  it('say each change in the next answer', async () => {
    const random = createRandom(seed);
    const people: PersonOnDevice[] = [];
    for (let count = 0; count < 4; count += 1) people.push(await signUpOnDevice(relay));
    const second = await logIn(relay, people[0] as PersonOnDevice);
    for (const [index, one] of people.entries()) {
      for (const other of people.slice(index + 1)) {
        if (random.below(2) === 0) await befriend(one, other);
      }
    }
    const startChat = (one: PersonOnDevice, other: PersonOnDevice) => {
      const [lower, higher] = [one.id, other.id].toSorted();
      return one.call('POST', `/conversations/direct:${lower}:${higher}/commits`, commitBody(0));
    };
    const requests = async (one: PersonOnDevice) =>
      (await one.call<ContactRequest[]>('GET', '/contacts/requests')).body.map(({ id }) => id);
    const notifications = async (one: PersonOnDevice) =>
      (await one.call<Notification[]>('GET', '/notifications')).body.map(({ id }) => id);
    const messages = async (one: PersonOnDevice, other: PersonOnDevice) => {
      const entries = (await log(one, other)) as LogEntry[] | { code: string };
      return Array.isArray(entries) ? entries.filter((entry) => entry.sender_id === other.id) : [];
    };
    type Action = (one: PersonOnDevice, other: PersonOnDevice) => Promise<unknown>;
    const oneOf = (path: string, ids: (one: PersonOnDevice) => Promise<string[]>): Action => {
      return async (one) => {
        const all = await ids(one);
        if (all.length > 0) await one.call('POST', `${path}/${random.pick(all)}`);
      };
    };
    const actions: Readonly<Record<string, Action>> = {
      request: (one, other) => one.call('POST', `/contacts/request/${other.id}`),
      accept: oneOf('/contacts/accept', requests),
      reject: oneOf('/contacts/reject', requests),
      remove: (one, other) => one.call('DELETE', `/contacts/${other.id}`),
      block: (one, other) => one.call('PUT', `/blocks/${other.id}`),
      unblock: (one, other) => one.call('DELETE', `/blocks/${other.id}`),
      start: startChat,
      send: (one, other) => send(one, other, messageBody(1)),
      markRead: async (one, other) => {
        const [entry] = (await messages(one, other)).slice(-1 - random.below(2));
        if (entry !== undefined) await one.call('POST', `/messages/${entry.id}/read`);
      },
      readNotification: oneOf('/notifications/read', notifications),
      readAll: (one) => one.call('POST', '/notifications/read-all'),
      deleteNotification: async (one) => {
        const [id] = await notifications(one);
        if (id !== undefined) await one.call('DELETE', `/notifications/${id}`);
      },
      // One of them at most: whoever is left has others to hear of.
      leave: async () => {
        const leaving = people.at(-1);
        if (people.length === 4 && leaving !== undefined) await leaving.call('DELETE', '/user');
        if (people.length === 4) people.pop();
      },
      rename: (one) =>
        one.call('PUT', '/users/me', {
          username: `renamed${randomBytes(6).toString('hex')}`,
          email: one.email,
        }),
    };
    const known = new Map<string, string>();
    const answers = { same: 0, other: 0 };
    for (let step = 0; step < 100; step += 1) {
      const name = random.pick(Object.keys(actions));
      const one = random.pick(people);
      const other = random.pick(people.filter((each) => each !== one));
      await actions[name]?.(one, other);
      for (const { token } of [...people, second]) {
        for (const path of polled) {
          const key = `${token} ${path}`;
          const answer = await poll(token, path, known.get(key));
          const truth = await poll(token, path);
          expect(answer.etag, `${path} after ${name}, step ${step}`).toBe(truth.etag);
          answers[answer.status === 304 ? 'same' : 'other'] += 1;
          known.set(key, answer.etag);
        }
      }
    }
    expect(answers.same).toBeGreaterThan(500);
    expect(answers.other).toBeGreaterThan(15);
  }, 60_000);
});
