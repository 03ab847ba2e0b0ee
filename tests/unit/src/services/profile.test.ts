import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { updateProfile } from '#src/services/account/profile.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { me, refused, type TestDeps, testConfirmation, testDeps } from './support/deps.ts';

const anna = {
  id: me,
  username: 'anna',
  email: 'anna@example.org',
  full_name: 'anna',
  created_at: '2026-03-01T12:00:00.000Z',
};

const put = vi.fn<Api['updateProfile']>();
const writeLocal = vi.fn<CryptoApi['writeLocal']>();
const signName = vi.fn<CryptoApi['signName']>();
const signedNames = vi.fn<Api['signedNames']>();
const takeNames = vi.fn<CryptoApi['takeNames']>();
let deps: TestDeps;
let confirmation: ReturnType<typeof testConfirmation>;

beforeEach(() => {
  put.mockReset().mockImplementation(async ({ email, username }) => ({
    ...anna,
    email,
    username,
    full_name: 'as the relay says',
  }));
  writeLocal.mockReset().mockResolvedValue();
  signName.mockReset().mockImplementation(async (name) => `signed ${name}`);
  signedNames.mockReset().mockResolvedValue([{ user_id: me, signed_name: 'signed on the phone' }]);
  takeNames.mockReset().mockResolvedValue();
  deps = testDeps({ api: { signedNames, updateProfile: put }, crypto: { signName, takeNames, writeLocal } });
  deps.store.set(currentUserAtom, anna);
  confirmation = testConfirmation();
});

const user = () => deps.store.get(currentUserAtom);
const change = (names: { username: string; email: string }) => updateProfile(deps, names, confirmation);

describe('changing the profile', () => {
  it("makes the relay's answer the current user, also for the next offline start", async () => {
    await change({ username: ' Änna ', email: ' anna@sinetti.example ' });
    expect(put).toHaveBeenCalledExactlyOnceWith(
      { username: 'Änna', email: 'anna@sinetti.example', signed_name: 'signed Änna' },
      confirmation.prove,
    );
    const target = 'Änna anna@sinetti.example';
    expect(confirmation.asked).toEqual([{ kind: 'change-names', target, id: null }]);
    const changed = {
      ...anna,
      username: 'Änna',
      email: 'anna@sinetti.example',
      full_name: 'as the relay says',
    };
    expect(user()).toEqual(changed);
    expect(writeLocal).toHaveBeenCalledExactlyOnceWith('profile', JSON.stringify(changed));
  });

  it.each([
    ['Annika', anna.email],
    ['anna', 'Annika@Example.org'],
  ])('takes the password for another username or email: %s, %s', async (username, email) => {
    await change({ username, email });
    const asked = { kind: 'change-names', target: `${username} ${email}`, id: null };
    expect(confirmation.asked).toEqual([asked]);
  });

  it('signs a newer name than another device has since', async () => {
    await change({ username: 'annika', email: anna.email });
    expect(signedNames).toHaveBeenCalledExactlyOnceWith([me]);
    expect(takeNames).toHaveBeenCalledExactlyOnceWith([{ userId: me, signedName: 'signed on the phone' }]);
    expect(takeNames.mock.invocationCallOrder[0]).toBeLessThan(signName.mock.invocationCallOrder[0] ?? 0);
  });

  it('takes no password for the same names in another case', async () => {
    await change({ username: 'ANNA', email: 'Anna@Example.org' });
    expect(put).toHaveBeenCalledExactlyOnceWith({ username: 'ANNA', email: 'Anna@Example.org' }, undefined);
    expect(confirmation.asked).toEqual([]);
  });

  it('stands even when it could not be kept for that', async () => {
    writeLocal.mockRejectedValue(Object.assign(new Error(), { code: 'storage-failed' }));
    await change({ username: 'annika', email: anna.email });
    expect(user()?.username).toBe('annika');
  });

  it.each([
    ['a blank username', '   ', anna.email, 'invalid-username'],
    ['one letter', 'a', anna.email, 'invalid-username'],
    ['33 letters', 'a'.repeat(33), anna.email, 'invalid-username'],
    ['a space inside', 'an na', anna.email, 'invalid-username'],
    ['an invisible letter', 'an\u3164na', anna.email, 'invalid-username'],
    ['no email', 'anna', '', 'invalid-email'],
    ['no address', 'anna', 'anna@', 'invalid-email'],
    ['too long an address', 'anna', `${'a'.repeat(250)}@example.org`, 'invalid-email'],
  ])('refuses %s without asking the relay', async (_name, username, email, code) => {
    await expect(change({ username, email })).rejects.toMatchObject({ code });
    expect(put).not.toHaveBeenCalled();
    expect(user()).toEqual(anna);
  });

  it.each([
    [
      'username-taken',
      refused('username-taken', 'This username is already taken.'),
      'This username is already taken.',
    ],
    [
      'email-taken',
      refused('email-taken', 'This email is already registered.'),
      'This email is already registered.',
    ],
    ['internal', refused('internal'), 'Failed to update profile'],
    ['unreachable', new NetworkError('timeout'), 'Failed to update profile'],
  ])('fails as %s and changes nothing', async (code, error, message) => {
    put.mockRejectedValue(error);
    await expect(change({ username: 'bert', email: anna.email })).rejects.toMatchObject({
      code,
      message,
    });
    expect(user()).toEqual(anna);
    expect(writeLocal).not.toHaveBeenCalled();
  });
});
