import { beforeEach, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { createMemberNames, type MemberNames } from '#src/services/groups/memberNames.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { memberNamesAtom, nameOfAtom } from '#src/store/names.ts';
import { me, peer, type TestDeps, testDeps } from './support/deps.ts';

const groupId = '00000000-0000-4000-8000-0000000000a1';
const group = `group:${groupId}`;
const carl = '00000000-0000-4000-8000-000000000003';

let deps: TestDeps;
let names: MemberNames;
const rememberMemberNames = vi.fn<CryptoApi['rememberMemberNames']>();
const memberNames = vi.fn<CryptoApi['memberNames']>();

beforeEach(() => {
  rememberMemberNames.mockReset().mockResolvedValue(undefined);
  memberNames.mockReset().mockResolvedValue([
    { userId: peer, name: 'bert' },
    { userId: carl, name: 'carl' },
  ]);
  deps = testDeps({ crypto: { rememberMemberNames, memberNames } });
  names = createMemberNames(deps);
});

const shown = () => Object.fromEntries(deps.store.get(memberNamesAtom));

it('the names of an earlier session are shown until the relay gives newer ones', async () => {
  const loading = names.load();
  await names.learn(group, new Map([[peer, 'bertram']]));
  await loading;
  expect(shown()).toEqual({ [peer]: 'bertram', [carl]: 'carl' });
});

it('a name is kept once, and again only when it changes or the group was forgotten', async () => {
  const both = new Map([
    [me, 'anna'],
    [peer, 'bert'],
  ]);
  await names.learn(group, both);
  await names.learn(group, both);
  expect(rememberMemberNames).toHaveBeenCalledExactlyOnceWith(group, [
    { userId: me, name: 'anna' },
    { userId: peer, name: 'bert' },
  ]);
  await names.learn(group, new Map([...both, [peer, 'bertram']]));
  expect(rememberMemberNames).toHaveBeenLastCalledWith(group, [{ userId: peer, name: 'bertram' }]);
  deps.sessionEvents.emit('groupForgotten', { groupId });
  await names.learn(group, both);
  expect(rememberMemberNames).toHaveBeenCalledTimes(3);
});

it('a map of names stays the same while no name is new, and a name is cut that has more than 256 characters', async () => {
  await names.learn(group, new Map([[peer, 'b'.repeat(70_000)]]));
  const before = deps.store.get(memberNamesAtom);
  expect(before.get(peer)).toHaveLength(256);
  await names.learn(group, new Map([[peer, 'b'.repeat(70_000)]]));
  expect(deps.store.get(memberNamesAtom)).toBe(before);
});

it('names members who have left, and prefers the name of a contact', async () => {
  await names.load();
  deps.store.set(contactsAtom, {
    items: [{ id: peer, username: 'bertil', email: 'b@example.org' }],
    loading: false,
    loaded: true,
    error: null,
  });
  const nameOf = deps.store.get(nameOfAtom);
  expect([nameOf(peer), nameOf(carl), nameOf('stranger')]).toEqual(['bertil', 'carl', 'Unknown User']);
});
