import { beforeEach, describe, expect, it } from 'vitest';
import { NetworkError } from '#src/net/errors.ts';
import { authProgressAtom, currentUserAtom } from '#src/store/session.ts';
import { me, peer, refused, rotatedVault } from './support/deps.ts';
import {
  api,
  calls,
  deps,
  expectSignedOut,
  keyPackagesLeft,
  logIn,
  passwordParams,
  scope,
  session,
  signUp,
  status,
  steps,
  tokenFor,
  user,
  vault,
  withSession,
  worker,
} from './support/session.ts';

withSession();

describe('signing up', () => {
  beforeEach(() => {
    api.keyPackageCount?.mockImplementation(async () => {
      calls.push('keyPackageCount');
      return { available: 0, lastResort: false, suites: [] };
    });
  });

  it('makes the keys, the account, the vault and the device, in this order', async () => {
    await signUp();
    expect(calls).toEqual([
      'beginSignUp',
      'register',
      'createVault',
      'putVault',
      'openVault',
      'openDevice',
      'putDevice',
      'getAccountState',
      'forgetVault',
      'keyPackageCount',
      'createKeyPackages',
      'publishKeyPackages',
      'createKeyPackages',
      'publishKeyPackages',
    ]);
    expect(steps).toEqual(['deriving-keys', 'signing-in', 'opening-vault', 'registering-device', 'syncing']);
    expect(deps.store.get(authProgressAtom)).toBeNull();
    expect(status()).toBe('success');
    expect(deps.store.get(currentUserAtom)).toEqual(user);
    expect(localStorage.getItem('token')).toBe(tokenFor(me, 1e6));
  });

  it('sends the derived key in place of the password, and the consent with its time', async () => {
    await signUp();
    expect(api.register).toHaveBeenCalledExactlyOnceWith({
      username: 'anna',
      email: 'anna@example.org',
      password: 'YXV0aA',
      passwordProofKey: 'cHVibGlj',
      passwordParams,
      full_name: 'anna',
      consent: { privacyConsent: true, consentTimestamp: '2026-03-01T12:00:00.000Z' },
    });
    expect(worker.createKeyPackages?.mock.calls).toEqual([
      [50, true, 0xf04d],
      [20, true, 0x004d],
    ]);
    expect(api.publishKeyPackages?.mock.calls.map(([body]) => body)).toEqual(
      [0xf04d, 0x004d].map((suite) => ({ suite, keyPackages: ['a2V5'], lastResort: 'bGFzdA' })),
    );
  });

  it('sends the code of an invitation along', async () => {
    const names = { username: 'anna', email: 'anna@example.org', password: 'secret' };
    await session.signUp({ ...names, privacyConsent: true, invitation: 'aW52aXRhdGlvbiBjb2Rl' });
    expect(api.register).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ invitation: 'aW52aXRhdGlvbiBjb2Rl' }),
    );
  });

  it.each([
    ['sign-up-closed', 'This server takes no new accounts at the moment. If you have one, log in.'],
    ['invitation-refused', 'This invitation has been used or has expired. Ask for another one.'],
  ] as const)('says in the language of the page why it is refused: %s', async (code, sentence) => {
    api.register?.mockRejectedValue(refused(code, 'No.'));
    await expect(signUp()).rejects.toThrow(sentence);
    expectSignedOut();
  });

  it('sends nothing without consent', async () => {
    const attempt = session.signUp({ username: 'a', email: 'a@b.c', password: 'p', privacyConsent: false });
    await expect(attempt).rejects.toThrow('You must accept the Privacy Policy to create an account.');
    expect(calls).toEqual([]);
  });

  it.each([
    ['username', 'anna k', 'anna@example.org', 'invalid-username'],
    ['email', 'anna', 'anna@localhost', 'invalid-email'],
  ])('derives nothing for a wrong %s, and sends nothing', async (_name, username, email, code) => {
    const attempt = session.signUp({ username, email, password: 'p', privacyConsent: true });
    await expect(attempt).rejects.toMatchObject({ code });
    expect(calls).toEqual([]);
  });

  it('sends names without the blanks around them', async () => {
    await session.signUp({
      username: ' anna ',
      email: ' anna@example.org ',
      password: 'p',
      privacyConsent: true,
    });
    expect(api.register).toHaveBeenCalledWith(
      expect.objectContaining({ username: 'anna', email: 'anna@example.org', full_name: 'anna' }),
    );
  });

  it.each([
    ["the relay's sentence", refused('username-taken', 'This username is taken.'), 'This username is taken.'],
    ['a sentence of the client', refused('internal'), 'Failed to create account. Please try again.'],
    [
      'the sentence for a silent server',
      new AggregateError([new NetworkError('unreachable'), new NetworkError('unreachable')]),
      'Failed to create account. Check if the username or email is already registered or if the backend is temporarily unavailable.',
    ],
  ])('fails with %s', async (_name, error, sentence) => {
    api.register?.mockRejectedValue(error);
    await expect(signUp()).rejects.toThrow(sentence);
    expect(status()).toBe('error');
    expect(deps.store.get(authProgressAtom)).toBeNull();
    expectSignedOut();
  });

  describe('when a path failed before another called the name taken', () => {
    const taken = refused('username-taken', 'This username is taken.');

    it("has made the account when the password's key logs in to it", async () => {
      api.register?.mockRejectedValue(new AggregateError([new NetworkError('unreachable'), taken]));
      await signUp();
      expect(api.login).toHaveBeenCalledExactlyOnceWith({
        email: 'anna@example.org',
        password: 'YXV0aA',
        passwordProofKey: 'cHVibGlj',
      });
      expect(worker.openVault).toHaveBeenCalledExactlyOnceWith(me, { ...vault, version: 1 });
      expect(status()).toBe('success');
    });

    it("fails with the sentence of the taken name when the password's key does not log in", async () => {
      api.register?.mockRejectedValue(new AggregateError([refused('internal', 'Something broke.'), taken]));
      api.login?.mockRejectedValue(refused('wrong-credentials', 'Wrong username or password.'));
      await expect(signUp()).rejects.toThrow('This username is taken.');
      expectSignedOut();
    });

    it.each([
      ['the failed path does not exist', new AggregateError([refused('not-found'), taken])],
      ['no path failed otherwise', taken],
    ])('tries no account of that name when %s', async (_when, error) => {
      api.register?.mockRejectedValue(error);
      await expect(signUp()).rejects.toThrow('This username is taken.');
      expect(api.login).not.toHaveBeenCalled();
    });
  });

  it('leaves nothing half open when the vault can not be stored', async () => {
    api.putVault?.mockRejectedValue(new NetworkError('timeout'));
    await expect(signUp()).rejects.toMatchObject({ code: 'unreachable' });
    expectSignedOut();
    expect(calls.at(-1)).toBe('lock');
    expect(scope.start).not.toHaveBeenCalled();
  });

  it('takes over the vault that another browser of the same person has made meanwhile', async () => {
    api.putVault?.mockImplementationOnce(() => Promise.reject(refused('stale-version')));
    await signUp();
    expect(worker.openVault).toHaveBeenCalledExactlyOnceWith(me, { ...vault, version: 1 });
  });
});

describe('logging in', () => {
  it('makes the vault that an interrupted sign-up has left out', async () => {
    api.getVault?.mockRejectedValueOnce(refused('not-found'));
    await logIn();
    expect(api.putVault).toHaveBeenCalledExactlyOnceWith({ ...vault, version: 0 });
    expect(worker.openVault).toHaveBeenCalledExactlyOnceWith(me, { ...vault, version: 1 });
  });

  it('derives the key with the parameters of the account', async () => {
    await logIn();
    expect(api.authParams).toHaveBeenCalledWith('anna');
    expect(worker.beginLogin).toHaveBeenCalledWith('secret', passwordParams);
    expect(api.login).toHaveBeenCalledWith({
      email: 'anna',
      password: 'YXV0aA',
      passwordProofKey: 'cHVibGlj',
    });
    expect(api.putDevice).toHaveBeenCalledWith(peer, {
      name: 'Chrome on Linux',
      certificate: 'Y2VydA',
      signature: 'c2lnbmVk',
    });
    expect(status()).toBe('success');
  });

  it('shows the relay that it has logged in here before, until this browser is erased', async () => {
    api.login?.mockResolvedValue({ access_token: tokenFor(me, 1e6), user, loginProof: 'cHJvb2Y' });
    await logIn();
    await session.logOut();
    await logIn();
    expect(api.login).toHaveBeenLastCalledWith({
      email: 'anna',
      password: 'YXV0aA',
      passwordProofKey: 'cHVibGlj',
      loginProof: 'cHJvb2Y',
    });
    await session.logOut({ erase: true });
    await logIn();
    expect(api.login).toHaveBeenLastCalledWith({
      email: 'anna',
      password: 'YXV0aA',
      passwordProofKey: 'cHVibGlj',
    });
  });

  it.each([
    [50, true, null],
    [20, true, null],
    [19, true, [31, false, 0xf04d]],
    [30, false, [50, true, 0xf04d]],
    [0, false, [50, true, 0xf04d]],
  ])('with %i KeyPackages left and last resort %s publishes %j', async (available, lastResort, created) => {
    api.keyPackageCount?.mockResolvedValue(keyPackagesLeft(available, lastResort));
    await logIn();
    expect(worker.createKeyPackages?.mock.calls).toEqual(created === null ? [] : [created]);
  });

  it.each([
    [8, null],
    [7, [13, false, 0x004d]],
  ])('with %i KeyPackages left for older conversations publishes %j', async (older, created) => {
    api.keyPackageCount?.mockResolvedValue(keyPackagesLeft(50, true, older));
    await logIn();
    expect(worker.createKeyPackages?.mock.calls).toEqual(created === null ? [] : [created]);
  });

  it.each([
    [
      "the relay's sentence",
      refused('wrong-credentials', 'Wrong username or password.'),
      'Wrong username or password.',
    ],
    [
      'its own sentence, in the language of the page, for a suspended account',
      refused('account-suspended', 'Out.'),
      'This account is suspended. Ask whoever runs this server.',
    ],
    ['a sentence of the client', refused('internal'), 'Failed to log in. Please check your credentials.'],
    [
      'the sentence for a silent server',
      new NetworkError('timeout'),
      'Failed to login. Check your credentials or try again later.',
    ],
  ])('fails with %s', async (_name, error, sentence) => {
    api.login?.mockRejectedValue(error);
    await expect(logIn()).rejects.toThrow(sentence);
    expect(status()).toBe('error');
    expectSignedOut();
  });

  it('does not stay signed in with a vault that does not open', async () => {
    worker.openVault?.mockRejectedValue(Object.assign(new Error(), { code: 'wrong-password' }));
    await expect(logIn()).rejects.toMatchObject({ code: 'wrong-password' });
    expectSignedOut();
    expect(calls.at(-1)).toBe('lock');
  });
});

describe('recovering', () => {
  const recover = () =>
    session.recover({ identifier: 'anna', recoveryKey: 'ABCD-EFGH', password: 'a new one' });

  it('proves the key, opens the vault, and sets the new password before anything else', async () => {
    await recover();
    expect(calls.slice(0, 9)).toEqual([
      'beginRecovery',
      'recover',
      'getVault',
      'getVaultWraps',
      'recoverVault',
      'changePassword',
      'adoptRenewedKeys',
      'openDevice',
      'putDevice',
    ]);
    expect(api.recover).toHaveBeenCalledWith({
      email: 'anna',
      recoveryAuthKey: 'cHJvdmVz',
      recoveryProofKey: 'cmVjb3Zlcg',
    });
    expect(api.changePassword).toHaveBeenCalledWith(
      {
        password: 'bmV3',
        passwordParams,
        passwordProofKey: 'bmV3cHVibGlj',
        vault: rotatedVault,
      },
      expect.any(Function),
    );
    expect(worker.recoverVault).toHaveBeenCalledWith(me, { ...vault, version: 1 }, 'a new one');
    expect(status()).toBe('success');
    expect(deps.store.get(currentUserAtom)).toEqual(user);
  });

  it('asks nobody about a key with a typing error, and says so', async () => {
    worker.beginRecovery?.mockRejectedValue(Object.assign(new Error(), { code: 'bad-recovery-key' }));
    await expect(recover()).rejects.toMatchObject({
      code: 'bad-recovery-key',
      message: 'This recovery key has a typing error. Please check it.',
    });
    expect(api.recover).not.toHaveBeenCalled();
    expectSignedOut();
  });

  it('leaves neither a token nor open keys behind when the password could not be set', async () => {
    api.changePassword?.mockRejectedValue(refused('stale-version'));
    await expect(recover()).rejects.toMatchObject({ code: 'stale-version' });
    expect(calls.at(-1)).toBe('lock');
    expectSignedOut();
  });
});
