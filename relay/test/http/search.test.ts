import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { UserSummary } from '../../contract/index.ts';
import { SqliteThread } from '../../src/db/sqlite/thread/client.ts';
import { befriend, type Person, signUp, signUpOnDevice, startTestRelay, type TestRelay } from '../helpers.ts';

let relay: TestRelay;
let seeker: Person;
beforeAll(async () => {
  relay = await startTestRelay();
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
    await signUp(relay, { username: '𐐨𐐩𐐪𐐫' });
    expect(await search('𐐩𐐪')).toEqual([]);
    expect(await search('𐐩𐐪𐐫')).toEqual(['𐐨𐐩𐐪𐐫']);
  });

  it.each([
    '""',
    '""abc',
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

describe.runIf(onSqlite)('on SQLite', () => {
  it('a search asks no thread that messages are stored by', async () => {
    const friend = await signUpOnDevice(relay);
    await befriend(seeker, friend);
    const calls = vi.spyOn(SqliteThread.prototype, 'call');
    await relay.relay.services.accounts.search(seeker.id, 'someone', 20);
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
