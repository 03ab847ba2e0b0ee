import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError, NetworkError } from '#src/net/errors.ts';
import { authErrorEvent } from '#src/services/session/session.ts';
import { offlineAtom, relayTroubleAtom } from '#src/store/connection.ts';
import {
  authErrorAtom,
  connectionBannerAtom,
  currentUserAtom,
  signedOutPathAtom,
} from '#src/store/session.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused } from './support/deps.ts';
import {
  api,
  calls,
  deps,
  expectSignedOut,
  forgetCalls,
  logIn,
  scope,
  session,
  setOnline,
  status,
  tokenFor,
  user,
  visits,
  withSession,
  worker,
} from './support/session.ts';

withSession();

describe('ending with the account', () => {
  const gone = async () => void calls.push('delete');

  beforeEach(async () => {
    api.login?.mockResolvedValue({ access_token: tokenFor(me, 1e6), user, loginProof: 'cHJvb2Y' });
    await logIn();
    forgetCalls();
  });

  it('leaves nothing of the person in this browser, and leads to the page that says so', async () => {
    await session.endAccount(gone);
    expectSignedOut();
    expect(localStorage).toHaveLength(0);
    expect(calls).toEqual(['delete', 'erase', 'eraseFiles']);
    expect(scope.stop).toHaveBeenCalledOnce();
    expect(status()).toBe('idle');
    expect(deps.store.get(authErrorAtom)).toBeNull();
    expect(deps.store.get(signedOutPathAtom)).toBe('/?deleted=true');
  });

  it('is not taken for a lost session by calls that the relay refuses meanwhile', async () => {
    await session.endAccount(async () => {
      localStorage.removeItem('token');
      deps.events.dispatchEvent(new Event(authErrorEvent));
      await settled();
      expect(deps.store.get(currentUserAtom)).toEqual(user);
    });
    expect(deps.store.get(authErrorAtom)).toBeNull();
    expect(calls).toEqual(['erase', 'eraseFiles']);
  });

  it('asks for nothing else from before the relay is told until it has answered', async () => {
    await session.endAccount(async () => {
      expect(scope.disconnect).toHaveBeenCalledOnce();
      session.onDisconnected();
      await session.check();
      await deps.clock.advance(60_000);
    });
    expect(calls).toEqual(['erase', 'eraseFiles']);
  });

  it('goes on with the session when the relay does not delete it', async () => {
    scope.connect.mockClear();
    const attempt = session.endAccount(() => Promise.reject(refused('internal')));
    await expect(attempt).rejects.toMatchObject({ code: 'internal' });
    expect(scope.connect).toHaveBeenCalledOnce();
    expect(deps.store.get(currentUserAtom)).toEqual(user);
    expect(deps.store.get(signedOutPathAtom)).toBe('/login');
    expect(calls).toEqual([]);
  });

  it('says that the session has expired when the relay has ended it already', async () => {
    const attempt = session.endAccount(() => {
      localStorage.removeItem('token');
      return Promise.reject(refused('session-expired'));
    });
    await expect(attempt).rejects.toMatchObject({ code: 'session-expired' });
    expectSignedOut();
    expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
    expect(calls).toEqual(['lock']);
  });

  it('is over even when the browser does not let go of its storage', async () => {
    worker.erase?.mockRejectedValue(Object.assign(new Error(), { code: 'storage-failed' }));
    await session.endAccount(gone);
    expectSignedOut();
    expect(deps.lines).toContain('warn erase-failed code="storage-failed"');
  });
});

describe('logging out', () => {
  let token: string | null;

  beforeEach(async () => {
    await logIn();
    token = localStorage.getItem('token');
    forgetCalls();
  });

  it('tells the relay, locks the keys and forgets the session', async () => {
    await session.logOut();
    expect(calls).toEqual(['logout', 'lock']);
    expect(api.logout).toHaveBeenCalledExactlyOnceWith(token);
    expect(scope.stop).toHaveBeenCalledOnce();
    expect(status()).toBe('idle');
    expectSignedOut();
  });

  it('is over here before the relay hears of it, so that nothing else has the token that it ends', async () => {
    api.logout?.mockImplementation(async () => {
      expectSignedOut();
      expect(scope.stop).toHaveBeenCalledOnce();
      session.onDisconnected();
      await session.check();
    });
    await session.logOut();
    expect(api.logout).toHaveBeenCalledOnce();
    expect(calls).toEqual(['lock']);
    expect(deps.store.get(connectionBannerAtom)).toBe(false);
  });

  it('removes the device and erases what is stored when asked to', async () => {
    await session.logOut({ erase: true });
    expect(calls).toEqual(['openDevice', 'ownRevocation', 'revokeOwnDevice', 'erase', 'eraseFiles']);
    expect(api.revokeOwnDevice).toHaveBeenCalledWith(peer, 'cmV2b2tlZA', token);
  });

  it('erases and ends the session when the device could not be removed', async () => {
    api.revokeOwnDevice?.mockRejectedValue(new NetworkError('unreachable'));
    await session.logOut({ erase: true });
    expect(calls.toSorted()).toEqual(['erase', 'eraseFiles', 'logout', 'openDevice', 'ownRevocation']);
    expect(api.logout).toHaveBeenCalledExactlyOnceWith(token);
  });

  it('is not told that its own device was removed when it is erased', async () => {
    api.revokeOwnDevice?.mockImplementation(() => session.onDeviceRevoked());
    await session.logOut({ erase: true });
    expect(deps.store.get(authErrorAtom)).toBeNull();
    expect(status()).toBe('idle');
  });

  it('does not wait for a relay that does not answer', async () => {
    api.logout?.mockReturnValue(new Promise(() => undefined));
    const out = session.logOut();
    await settled();
    await deps.clock.advance(3_000);
    await out;
    expect(status()).toBe('idle');
    expectSignedOut();
  });
});

describe('a session under way', () => {
  beforeEach(logIn);

  it('checks the token every 60 seconds, and shows the banner when it holds no more', async () => {
    forgetCalls();
    await deps.clock.advance(60_000);
    expect(calls).toEqual(['profile']);
    expect(deps.store.get(connectionBannerAtom)).toBe(false);
    api.profile?.mockRejectedValue(refused('session-expired'));
    await deps.clock.advance(60_000);
    expect(deps.store.get(connectionBannerAtom)).toBe(true);
  });

  it('hears what another device changed, but not what the person has changed since it asked', async () => {
    const [elsewhere, here] = [
      { ...user, full_name: 'From Elsewhere' },
      { ...user, full_name: 'From Here' },
    ];
    api.profile?.mockResolvedValue(elsewhere);
    await session.check();
    expect(deps.store.get(currentUserAtom)).toEqual(elsewhere);
    const checked = session.check();
    deps.store.set(currentUserAtom, here);
    await checked;
    expect(deps.store.get(currentUserAtom)).toEqual(here);
  });

  it('shows the banner when the token is gone, and asks nobody', async () => {
    localStorage.removeItem('token');
    forgetCalls();
    await session.check();
    expect(deps.store.get(connectionBannerAtom)).toBe(true);
    expect(calls).toEqual([]);
  });

  const trouble = () => deps.store.get(relayTroubleAtom);

  it.each([
    ['nothing answers', new NetworkError('unreachable'), 'silent'],
    [
      'a proxy answers in its place',
      new ApiError({ status: 502, code: 'unavailable', detail: null, isForeign: true }),
      'failing',
    ],
    ['it has a problem of its own', refused('internal'), 'failing'],
  ])('knows that the relay does not serve when %s, and asks until it does', async (_what, failure, found) => {
    const { profile } = api;
    profile?.mockRejectedValue(failure);
    session.onDisconnected();
    await settled();
    expect(trouble()).toBe(found);
    // The outbox fails what is sent then: this isn't the browser's own network.
    expect(deps.store.get(offlineAtom)).toBe(false);
    await deps.clock.advance(10_000);
    expect(trouble()).toBe(found);
    expect(localStorage.getItem('token')).toBe(tokenFor(me, 1e6));
    profile?.mockResolvedValue(user);
    await deps.clock.advance(10_000);
    expect(trouble()).toBeNull();
    expect(status()).toBe('success');
  });

  it.each([
    ['a connection lost without reason', () => undefined],
    ['a relay that asks to wait', () => api.profile?.mockRejectedValue(refused('rate-limited'))],
  ])('says nothing of the relay for %s', async (_what, happen) => {
    happen();
    session.onDisconnected();
    await settled();
    expect(trouble()).toBeNull();
  });

  it('no longer calls the relay unreachable once the real-time connection is up', async () => {
    api.profile?.mockRejectedValue(new NetworkError('unreachable'));
    await session.check();
    session.onConnected();
    expect(trouble()).toBeNull();
  });

  it('keeps the trouble of a failing relay when it connects, until the relay answers well', async () => {
    api.profile?.mockRejectedValue(refused('internal'));
    await session.check();
    session.onConnected();
    expect(trouble()).toBe('failing');
    api.profile?.mockResolvedValue(user);
    session.onConnected();
    await settled();
    expect(trouble()).toBeNull();
  });

  it('does not doubt the session when the relay is unreachable', async () => {
    api.profile?.mockRejectedValue(new NetworkError('unreachable'));
    await session.check();
    expect(deps.store.get(connectionBannerAtom)).toBe(false);
    expect(status()).toBe('success');
  });

  it('ends with the auth-error event', async () => {
    deps.events.dispatchEvent(new Event(authErrorEvent));
    await settled();
    expect(status()).toBe('error');
    expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
    expect(scope.stop).toHaveBeenCalledOnce();
    expect(calls.at(-1)).toBe('lock');
    expectSignedOut();
  });

  it('leaves for the login page after the time given', async () => {
    session.leaveForLogin(2_000);
    await deps.clock.advance(1_999);
    expect(visits).toEqual([]);
    await deps.clock.advance(1);
    expect(visits).toEqual(['/login']);
    expectSignedOut();
  });

  it('does not send away who has logged out before', async () => {
    session.leaveForLogin(2_000);
    await session.logOut();
    await deps.clock.advance(10_000);
    expect(visits).toEqual([]);
  });

  it('is logged out when another tab logs out', async () => {
    localStorage.removeItem('token');
    expect(session.onTokenChanged()).toBe('signed-out');
    expect(status()).toBe('idle');
    expectSignedOut();
  });

  it('stays when another tab has a new token of the same person', () => {
    localStorage.setItem('token', tokenFor(me, 2e6));
    expect(session.onTokenChanged()).toBe('unchanged');
    expect(status()).toBe('success');
  });

  it("does not lock another person's keys: only a reload helps", () => {
    localStorage.setItem('token', tokenFor(peer, 1e6));
    forgetCalls();
    expect(session.onTokenChanged()).toBe('reload');
    expect(calls).toEqual([]);
  });
});

describe('the state of the network', () => {
  const offline = () => deps.store.get(offlineAtom);

  it('is what the browser says of it, for visitors', () => {
    expect(offline()).toBe(false);
    setOnline(false);
    session.onNetworkChanged();
    expect(offline()).toBe(true);
    setOnline(true);
    session.onNetworkChanged();
    expect(offline()).toBe(false);
  });

  it('that went away in a session is back once the relay answers', async () => {
    await logIn();
    setOnline(false);
    session.onNetworkChanged();
    expect(offline()).toBe(true);
    setOnline(true);
    session.onNetworkChanged();
    expect(offline()).toBe(true);
    await settled();
    expect(offline()).toBe(false);
    expect(scope.onReachable).toHaveBeenCalledOnce();
  });

  it('that came back to a session the relay has ended shows the banner', async () => {
    await logIn();
    setOnline(false);
    session.onNetworkChanged();
    api.profile?.mockRejectedValue(refused('session-expired'));
    setOnline(true);
    session.onNetworkChanged();
    await settled();
    expect(deps.store.get(connectionBannerAtom)).toBe(true);
  });
});
