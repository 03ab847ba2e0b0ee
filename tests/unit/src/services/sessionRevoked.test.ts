import { describe, expect, it } from 'vitest';
import { authErrorEvent } from '#src/services/session/session.ts';
import { authErrorAtom, connectionBannerAtom } from '#src/store/session.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { settled } from '../net/support/fakeClock.ts';
import { peer, refused } from './support/deps.ts';
import {
  answers,
  api,
  calls,
  deps,
  expectSignedOut,
  localEntries,
  logIn,
  refuse,
  session,
  status,
  withSession,
  worker,
} from './support/session.ts';

withSession();

describe('a device that was revoked', () => {
  it('is signed out and locked, with the reason', async () => {
    await logIn();
    await session.onDeviceRevoked();
    expectSignedOut();
    expect(calls.at(-1)).toBe('lock');
    expect(status()).toBe('error');
    expect(deps.store.get(authErrorAtom)).toMatch(/removed from your account/);
  });

  it('is told so by the first call that hears of it, and no more of a session after that', async () => {
    await logIn();
    session.onTokenRefused('device-revoked');
    deps.events.dispatchEvent(new Event(authErrorEvent));
    await settled();
    expect(deps.store.get(authErrorAtom)).toMatch(/removed from your account/);
    await logIn();
    deps.events.dispatchEvent(new Event(authErrorEvent));
    await settled();
    expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
  });

  it('is signed out with the reason, not left with the banner, when the check hears of it', async () => {
    await logIn();
    refuse('device-revoked');
    await session.check();
    expect(deps.store.get(connectionBannerAtom)).toBe(false);
    expect(deps.store.get(authErrorAtom)).toMatch(/removed from your account/);
    expectSignedOut();
  });

  it('is told so when its browser opens again', async () => {
    await logIn();
    session.dispose();
    refuse('device-revoked');
    await session.resume();
    expect(deps.store.get(authErrorAtom)).toMatch(/removed from your account/);
    expect(status()).toBe('error');
  });

  it('begins as another one at the next log-in, when its person says so', async () => {
    api.putDevice?.mockRejectedValueOnce(refused('device-conflict'));
    api.revokedDevices = answers('revokedDevices', [{ id: peer, statement: 'cmV2b2tlZA' }]);
    worker.resetDevice = answers('resetDevice', undefined);
    Object.assign(deps.api, { revokedDevices: api.revokedDevices });
    Object.assign(deps.crypto, { resetDevice: worker.resetDevice });
    await logIn();
    expect(worker.resetDevice).toHaveBeenCalledWith('cmV2b2tlZA');
    expect(api.putDevice).toHaveBeenCalledTimes(2);
    expect(deps.store.get(toastsAtom).map(({ text }) => text)).toEqual([
      'This browser had been removed from your account. It begins again as a new device.',
    ]);
    expect(status()).toBe('success');
  });

  it('keeps what it has when nobody has revoked it', async () => {
    api.putDevice?.mockRejectedValueOnce(refused('device-conflict'));
    Object.assign(deps.api, { revokedDevices: answers('revokedDevices', []) });
    await expect(logIn()).rejects.toMatchObject({ code: 'device-conflict' });
  });

  it('keeps the name that its person has given it', async () => {
    localEntries.set('device-name', 'Kitchen laptop');
    await logIn();
    expect(api.putDevice).toHaveBeenCalledWith(peer, {
      name: 'Kitchen laptop',
      certificate: 'Y2VydA',
      signature: 'c2lnbmVk',
    });
  });
});

describe('a session that ended with its password', () => {
  const sentence = 'Your password was changed on another device. Log in with the new one.';

  it('says so, and leaves no banner, when the check hears of it', async () => {
    await logIn();
    refuse('password-changed');
    await session.check();
    expect(deps.store.get(connectionBannerAtom)).toBe(false);
    expect(deps.store.get(authErrorAtom)).toBe(sentence);
    expectSignedOut();
  });

  it('says so when its browser opens again', async () => {
    await logIn();
    session.dispose();
    refuse('password-changed');
    await session.resume();
    expect(deps.store.get(authErrorAtom)).toBe(sentence);
  });
});
