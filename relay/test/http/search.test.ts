import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Route, routes, type UserSummary } from '../../contract/index.ts';
import { SqliteThread } from '../../src/db/sqlite/thread/client.ts';
import { befriend, type Person, signUp, signUpOnDevice, startTestRelay, type TestRelay } from '../helpers.ts';
import { addMember, commitBody, createGroup } from './conversation.ts';

let relay: TestRelay;
let seeker: Person;
beforeAll(async () => {
  // One person searches for all the tests.
  const limits = ['sign-up.address', 'search.account', 'search.address'];
  relay = await startTestRelay({
    environment: { RATE_LIMITS: limits.map((limit) => `${limit}=off`).join(',') },
  });
  seeker = await signUp(relay);
});
afterAll(() => relay.close());

const search = async (q: string) =>
  (await seeker.call<UserSummary[]>('GET', `/users/search?q=${encodeURIComponent(q)}`)).body.map(
    ({ username }) => username,
  );
const onSqlite = process.env.TEST_DATABASE_URL === undefined;

describe('a search for people', () => {
  it('finds by the beginning first, in order, and then by what is in the middle', async () => {
    for (const username of ['xylitol.b', 'the.xylitol', 'xylitol.a', 'xylitol']) {
      await signUp(relay, { username });
    }
    expect(await search('xylitol')).toEqual(['xylitol', 'xylitol.a', 'xylitol.b', 'the.xylitol']);
  });

  it('of two characters finds beginnings only, of three parts too', async () => {
    await signUp(relay, { username: 'zöllner' });
    expect(await search('ZÖ')).toEqual(['zöllner']);
    expect(await search('öl')).toEqual([]);
    expect(await search('ÖLL')).toEqual(['zöllner']);
  });

  it('finds a part of any length, and no name that has its letters elsewhere', async () => {
    await signUp(relay, { username: 'cdeabcbcdzz' });
    const name = 'abcdefghijk';
    await signUp(relay, { username: `_${name}_` });
    for (let length = 3; length <= name.length; length += 1) {
      expect([length, await search(name.slice(0, length))]).toEqual([
        length,
        length === 3 ? [`_${name}_`, 'cdeabcbcdzz'] : [`_${name}_`],
      ]);
    }
  });

  it('counts characters, whatever their encoding', async () => {
    const name = '\u{1e922}\u{1e923}\u{1e924}\u{1e925}';
    await signUp(relay, { username: name });
    expect(await search('\u{1e923}\u{1e924}')).toEqual([]);
    expect(await search('\u{1e923}\u{1e924}\u{1e925}')).toEqual([name]);
  });

  it.each([
    '""',
    '""abc',
    'ab"',
    'abc" or "def',
    "'abc",
    'NEAR(abc',
    'abc*',
    '^abc',
    'username_key:abc',
    '-abc',
    'a%c',
  ])('takes %j for what it is', async (q) => {
    await signUp(relay, { username: `u${randomUUID().slice(0, 8)}abc` });
    expect(await search(q)).toEqual([]);
  });

  it('shows twenty at most, whoever else has such a name', async () => {
    for (let index = 10; index < 35; index += 1) await signUp(relay, { username: `n${index}quorum${index}` });
    expect(await search('quorum')).toHaveLength(20);
    expect(new Set(await search('quorum')).size).toBe(20);
  });

  it('finds a person by their present name, and nobody who has gone', async () => {
    const [renamed, gone] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    const names = { username: `w${randomUUID().slice(0, 12)}`, email: renamed.email };
    expect((await renamed.call('PUT', '/users/me', names)).status).toBe(200);
    await gone.call('DELETE', '/user');
    expect(await search(renamed.username.slice(1))).toEqual([]);
    expect(await search(names.username.slice(1))).toEqual([names.username]);
    expect(await search(gone.username.slice(1))).toEqual([]);
  });
});

describe('an email', () => {
  const emailsOf = async (q: string) =>
    (await seeker.call<UserSummary[]>('GET', `/users/search?q=${encodeURIComponent(q)}`)).body.map(
      ({ email }) => email,
    );

  it('is given to who types it in full, in any case, and masked in other results', async () => {
    const email = 'Bonnie.Clyde@mail.example.org';
    const { username } = await signUp(relay, { email });
    expect(await emailsOf('BONNIE.clyde@mail.example.org')).toEqual([email]);
    expect(await emailsOf(username)).toEqual(['B•••@•••.org']);
    expect(await emailsOf(username.slice(1, -1))).toEqual(['B•••@•••.org']);
    expect(await emailsOf('bonnie.clyde@')).toEqual([]);
    expect(await emailsOf('mail.example.org')).toEqual([]);
  });

  it('is in no answer to a fellow member of a group, or to who asks to be a contact', async () => {
    const [creator, person, fellow] = [
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
      await signUpOnDevice(relay),
    ];
    await befriend(creator, person);
    await befriend(creator, fellow);
    const groupId = await createGroup(creator);
    for (const [epoch, member] of [person, fellow].entries()) {
      await addMember(creator, groupId, member, commitBody(epoch));
    }
    const id = person.id;
    const asked = await fellow.call('POST', `/contacts/request/${id}`);
    expect(asked.status).toBe(201);
    const ids = [id, groupId, `group:${groupId}`];
    const paths = Object.values<Route>(routes)
      .filter(({ method }) => method === 'GET')
      .flatMap((route) => route.paths.flatMap((path) => ids.map((one) => path.replace(/\{\w+\}/g, one))));
    const answers = [];
    for (const path of [...new Set(paths), `/users/search?q=${person.username}`]) {
      answers.push(JSON.stringify((await fellow.call('GET', path)).body ?? null));
    }
    expect(answers.filter((answer) => answer.includes(person.username)).length).toBeGreaterThan(2);
    expect(answers.filter((answer) => answer.includes(person.email))).toEqual([]);
  });

  it('is learnt of nobody by a hundred searches for parts of names', async () => {
    const people = [];
    for (let index = 0; index < 40; index += 1) people.push(await signUp(relay));
    const given = new Set<string>();
    for (const { username } of people) {
      for (const q of [username, username.slice(0, 5), username.slice(4)]) {
        for (const email of await emailsOf(q)) given.add(email);
      }
    }
    expect(given.size).toBeGreaterThan(0);
    expect(people.filter(({ email }) => given.has(email))).toEqual([]);
  });
});

describe('what others can find', () => {
  it.each([
    ['both', true, true],
    ['name', true, false],
    ['email', false, true],
    ['none', false, false],
  ])('is what the person says: %s', async (found_by, byName, byEmail) => {
    const person = await signUp(relay);
    const change = { found_by, shows_email: false };
    expect((await person.call('PUT', '/users/me/discoverability', change)).status).toBe(204);
    expect((await person.call('GET', '/users/me')).body).toMatchObject({ discoverability: change });
    const { email, username } = person;
    for (const part of [username, username.slice(0, 7), username.slice(2)]) {
      expect([part, (await search(part)).includes(username)]).toEqual([part, byName]);
    }
    expect((await search(email)).includes(username)).toBe(byEmail);
  });

  it('is what one person says for themselves alone', async () => {
    const [person, other] = [await signUp(relay), await signUp(relay)];
    await other.call('PUT', '/users/me/discoverability', { found_by: 'none', shows_email: true });
    expect((await person.call('GET', '/users/me')).body).toMatchObject({
      discoverability: { found_by: 'both', shows_email: false },
    });
    expect(await search(person.username)).toEqual([person.username]);
  });

  it('includes the email where the person shows it', async () => {
    const person = await signUp(relay);
    const { email, username } = person;
    await person.call('PUT', '/users/me/discoverability', { found_by: 'name', shows_email: true });
    const found = await seeker.call<UserSummary[]>('GET', `/users/search?q=${username}`);
    expect(found.body).toMatchObject([{ username, email }]);
  });
});

describe('names that are taken', () => {
  it('are told to who asks for them, though their owner lets nobody find them', async () => {
    const [person, other] = [await signUp(relay), await signUp(relay)];
    await person.call('PUT', '/users/me/discoverability', { found_by: 'none', shows_email: false });
    const { email, username } = other;
    expect(await other.call('PUT', '/users/me', { username, email: person.email })).toMatchObject({
      body: { code: 'email-taken' },
    });
    expect(await other.call('PUT', '/users/me', { username: person.username, email })).toMatchObject({
      body: { code: 'username-taken' },
    });
  });
});

// Other databases have no such thread, and a test that is left out there would count as skipped.
describe.each(onSqlite ? ['SQLite'] : [])('on %s', () => {
  it('a search asks no thread that messages are stored by', async () => {
    const friend = await signUpOnDevice(relay);
    await befriend(seeker, friend);
    const calls = vi.spyOn(SqliteThread.prototype, 'call');
    await relay.relay.services.people.search(seeker.id, 'someone', 20);
    const readers = new Set(calls.mock.contexts);
    calls.mockClear();
    await relay.relay.services.contacts.remove(seeker.id, friend.id);
    const writers = new Set(calls.mock.contexts);
    calls.mockRestore();
    expect(readers.size).toBeGreaterThan(0);
    expect(writers.size).toBe(1);
    expect([...readers].filter((reader) => writers.has(reader))).toEqual([]);
  });
});
