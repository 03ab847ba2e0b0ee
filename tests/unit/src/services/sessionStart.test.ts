import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, NetworkError } from '#src/net/errors.ts';
import { offlineAtom, relayTroubleAtom } from '#src/store/connection.ts';
import { authErrorAtom, currentUserAtom } from '#src/store/session.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused } from './support/deps.ts';
import {
  answers,
  api,
  calls,
  deps,
  expectSignedOut,
  forgetCalls,
  localEntries,
  logIn,
  refuse,
  scope,
  session,
  setOnline,
  status,
  tokenFor,
  user,
  withSession,
  worker,
} from './support/session.ts';

withSession();

/** How many KeyPackages are left is asked after the start. */
const keysCounted = () => vi.waitFor(() => expect(calls).toContain('keyPackageCount'));

describe('the start of a page', () => {
  it.each([
    ['no token', null],
    ['a token of two parts', 'a.b'],
    ['an expired token', tokenFor(me, -1)],
  ])('%s means no session, without asking the relay', async (_name, token) => {
    if (token !== null) localStorage.setItem('token', token);
    await session.resume();
    expect(status()).toBe('idle');
    expect(deps.store.get(authErrorAtom)).toBeNull();
    expect(calls).toEqual([]);
    expectSignedOut();
  });

  it('takes up a stored session without the password', async () => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    await session.resume();
    await keysCounted();
    expect(calls).toEqual(['profile', 'resume', 'openDevice', 'putDevice', 'keyPackageCount']);
    expect(status()).toBe('success');
    expect(scope.start).toHaveBeenCalledOnce();
  });

  describe('while its keys are being opened', () => {
    let open: (isOpen: boolean) => void;
    let resumed: Promise<void>;
    beforeEach(async () => {
      localStorage.setItem('token', tokenFor(me, 1e6));
      worker.resume?.mockImplementationOnce(() => new Promise((resolve) => void (open = resolve)));
      resumed = session.resume();
      await settled();
    });

    it('shows nothing, and does not connect to the relay yet', async () => {
      expect(scope.start).not.toHaveBeenCalled();
      expect(deps.store.get(currentUserAtom)).toBeNull();
      open(true);
      await resumed;
      expect(scope.start).toHaveBeenCalledOnce();
    });

    it('lets go of the connection when there are none', async () => {
      open(false);
      await resumed;
      expect(scope.stop).toHaveBeenCalledOnce();
      expect(scope.start).not.toHaveBeenCalled();
      expectSignedOut();
    });

    it('is not shown any more once the person has logged out', async () => {
      await session.logOut();
      expect(scope.stop).toHaveBeenCalledOnce();
      open(true);
      await resumed;
      expect(scope.start).not.toHaveBeenCalled();
      expect(status()).toBe('idle');
      expectSignedOut();
    });
  });

  it('draws its start once the first screen has what it shows, which would wait for the disk else', async () => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    let show = () => {};
    scope.start.mockImplementationOnce(() => new Promise<void>((resolve) => void (show = resolve)));
    const start = vi.spyOn(deps.crypto, 'start');
    const resumed = session.resume();
    await settled();
    expect(scope.start).toHaveBeenCalledOnce();
    expect(start).not.toHaveBeenCalled();
    show();
    await resumed;
    expect(start).toHaveBeenCalled();
  });

  it('a part of the app that does not load ends no session: the next start takes it up', async () => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    scope.start.mockRejectedValueOnce(new TypeError('Failed to fetch dynamically imported module'));
    await session.resume();
    expect(status()).toBe('error');
    expect(deps.store.get(currentUserAtom)).toBeNull();
    expect(deps.store.get(authErrorAtom)).toBe(
      'The app could not open. You are still logged in: reload the page to try again.',
    );
    expect(calls).toContain('lock');
    await session.resume();
    expect(status()).toBe('success');
    expect(deps.store.get(authErrorAtom)).toBeNull();
  });

  describe('with what was kept', () => {
    let answer: { resolve: (profile: unknown) => void; reject: (error: unknown) => void };
    let resumed: Promise<void>;

    beforeEach(async () => {
      localStorage.setItem('token', tokenFor(me, 1e6));
      localEntries.set('profile', JSON.stringify(user));
      api.profile?.mockImplementation(() => new Promise((resolve, reject) => (answer = { resolve, reject })));
      resumed = session.resume();
      await settled();
    });

    it('is on screen before the relay has answered, and talks to it only then', async () => {
      expect(status()).toBe('success');
      expect(deps.store.get(currentUserAtom)).toEqual(user);
      expect(deps.store.get(offlineAtom)).toBe(false);
      expect(calls).toEqual(['resume']);
      expect(scope.connect).not.toHaveBeenCalled();
      answer.resolve(user);
      await resumed;
      await keysCounted();
      expect(calls).toEqual(['resume', 'openDevice', 'putDevice', 'keyPackageCount']);
      expect(scope.start).toHaveBeenCalledOnce();
      expect(scope.connect).toHaveBeenCalledOnce();
    });

    it('takes over what has changed of the person', async () => {
      const renamed = { ...user, username: 'anna-maria' };
      answer.resolve(renamed);
      await resumed;
      expect(deps.store.get(currentUserAtom)).toEqual(renamed);
      expect(localEntries.get('profile')).toBe(JSON.stringify(renamed));
    });

    it('ends, and is locked, when the relay refuses it', async () => {
      answer.reject(refused('session-expired'));
      await resumed;
      expectSignedOut();
      expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
      expect(calls).toContain('lock');
      expect(scope.stop).toHaveBeenCalledOnce();
      expect(scope.connect).not.toHaveBeenCalled();
    });

    it('is not taken for offline when the network came while the first question went unanswered', async () => {
      const unanswered = answer;
      setOnline(false);
      session.onNetworkChanged();
      setOnline(true);
      session.onNetworkChanged();
      answer.resolve(user);
      await settled();
      expect(deps.store.get(offlineAtom)).toBe(false);
      unanswered.reject(new NetworkError('unreachable'));
      await resumed;
      expect(deps.store.get(offlineAtom)).toBe(false);
      expect(scope.connect).toHaveBeenCalledOnce();
    });

    it('ends when the relay takes the token for somebody else', async () => {
      answer.resolve({ ...user, id: peer });
      await resumed;
      expectSignedOut();
      expect(calls).toContain('lock');
    });

    it('is shown anew where this browser begins as another device', async () => {
      api.putDevice?.mockRejectedValueOnce(refused('device-conflict'));
      Object.assign(deps.api, { revokedDevices: answers('revokedDevices', [{ id: peer, statement: 'eA' }]) });
      Object.assign(deps.crypto, { resetDevice: answers('resetDevice', undefined) });
      answer.resolve(user);
      await resumed;
      expect(scope.stop).toHaveBeenCalledOnce();
      expect(scope.start).toHaveBeenCalledTimes(2);
      expect(scope.connect).toHaveBeenCalledOnce();
      expect(status()).toBe('success');
    });

    it.each([
      ['answers', () => answer.resolve(user)],
      ['refuses', () => answer.reject(refused('session-expired'))],
    ])('that was left meanwhile stays left when the relay %s', async (_name, happen) => {
      await session.logOut();
      happen();
      await resumed;
      expect(status()).toBe('idle');
      expect(deps.store.get(authErrorAtom)).toBeNull();
      expect(scope.connect).not.toHaveBeenCalled();
    });
  });

  it('shows nothing of a session that is refused before its keys are open', async () => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    localEntries.set('profile', JSON.stringify(user));
    api.profile?.mockRejectedValue(refused('session-expired'));
    worker.resume?.mockImplementation(() => settled().then(() => true));
    await session.resume();
    expect(scope.start).not.toHaveBeenCalled();
    expectSignedOut();
  });

  it.each(['session-expired', 'not-found'] as const)(
    'says that the session has expired when the relay refuses the profile as %s',
    async (code) => {
      localStorage.setItem('token', tokenFor(me, 1e6));
      api.profile?.mockRejectedValue(refused(code));
      await session.resume();
      expect(status()).toBe('error');
      expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
      expect(calls).toContain('lock');
      expectSignedOut();
    },
  );

  it('says plainly that the browser has lost the keys', async () => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    worker.resume?.mockResolvedValue(false);
    await session.resume();
    expect(status()).toBe('error');
    expect(deps.store.get(authErrorAtom)).toContain('This browser no longer holds your keys');
    expect(calls).toContain('lock');
    expectSignedOut();
  });
});

describe('the start of a page without an answer', () => {
  beforeEach(() => {
    localStorage.setItem('token', tokenFor(me, 1e6));
    localEntries.set('profile', JSON.stringify(user));
  });

  const offline = () => deps.store.get(offlineAtom);

  it.each([
    ['the relay is silent', new NetworkError('unreachable'), 'silent'],
    ['the relay is in trouble', refused('internal'), 'failing'],
    [
      'a proxy says that the relay is down',
      new ApiError({ status: 502, code: 'invalid-response', detail: null }),
      'failing',
    ],
    ['the relay asks to wait', new ApiError({ status: 429, code: 'rate-limited', detail: null }), 'failing'],
  ])('opens what this browser has when %s, and knows why', async (_name, error, trouble) => {
    api.profile?.mockRejectedValue(error);
    await session.resume();
    expect(calls).toEqual(['resume', 'openDevice']);
    expect(status()).toBe('success');
    expect(offline()).toBe(true);
    expect(deps.store.get(relayTroubleAtom)).toBe(trouble);
    expect(deps.store.get(currentUserAtom)).toEqual(user);
    expect(localStorage.getItem('token')).toBe(tokenFor(me, 1e6));
    expect(scope.start).toHaveBeenCalledOnce();
  });

  it('does not wait for ever', async () => {
    api.profile?.mockReturnValue(new Promise(() => undefined));
    const resumed = session.resume();
    await deps.clock.advance(3_999);
    expect(offline()).toBe(false);
    expect(scope.connect).not.toHaveBeenCalled();
    await deps.clock.advance(1);
    await resumed;
    expect(status()).toBe('success');
    expect(offline()).toBe(true);
    expect(scope.connect).toHaveBeenCalledOnce();
  });

  it('goes on where the relay falls silent after the profile', async () => {
    api.putDevice?.mockRejectedValue(new NetworkError('timeout'));
    await session.resume();
    expect(status()).toBe('success');
    expect(offline()).toBe(true);
  });

  it.each([
    ['nothing was kept', null],
    ['what was kept is damaged', '{"id":'],
    ["another person's was kept", JSON.stringify({ ...user, id: peer })],
  ])('knows who it is by the token when %s', async (_name, kept) => {
    if (kept === null) localEntries.clear();
    else localEntries.set('profile', kept);
    api.profile?.mockRejectedValue(new NetworkError('unreachable'));
    await session.resume();
    expect(deps.store.get(currentUserAtom)).toMatchObject({ id: me, username: '' });
  });

  it('says plainly that the browser has lost the keys', async () => {
    api.profile?.mockRejectedValue(new NetworkError('unreachable'));
    worker.resume?.mockResolvedValue(false);
    await session.resume();
    expect(deps.store.get(authErrorAtom)).toContain('This browser no longer holds your keys');
    expectSignedOut();
  });

  describe('later', () => {
    beforeEach(async () => {
      api.profile?.mockRejectedValueOnce(new NetworkError('unreachable'));
      await session.resume();
      forgetCalls();
    });

    it.each([
      ['the network is back', async () => session.onNetworkChanged()],
      ['the real-time connection is up', async () => session.onConnected()],
      ['it is looked for again', () => deps.clock.advance(10_000)],
      ['the token is checked', () => session.check()],
    ])('takes the session up when %s', async (_name, happen) => {
      const renamed = { ...user, username: 'anna-maria' };
      api.profile?.mockImplementation(async () => {
        calls.push('profile');
        return renamed;
      });
      await happen();
      await settled();
      await keysCounted();
      expect(calls).toEqual(['profile', 'openDevice', 'putDevice', 'keyPackageCount']);
      expect(offline()).toBe(false);
      expect(scope.onReachable).toHaveBeenCalledOnce();
      expect(deps.store.get(currentUserAtom)).toEqual(renamed);
      expect(localEntries.get('profile')).toBe(JSON.stringify(renamed));
    });

    it('ends it when the relay does not know it any more', async () => {
      api.profile?.mockRejectedValue(refused('session-expired'));
      session.onNetworkChanged();
      await settled();
      expect(deps.store.get(authErrorAtom)).toBe('Session expired. Please login again.');
      expectSignedOut();
    });

    it('ends it with the reason when this device was revoked meanwhile', async () => {
      refuse('device-revoked');
      session.onNetworkChanged();
      await settled();
      expect(deps.store.get(authErrorAtom)).toMatch(/removed from your account/);
      expectSignedOut();
    });

    it('stays offline while it is not served, and knows why', async () => {
      api.profile?.mockRejectedValue(refused('internal'));
      await deps.clock.advance(60_000);
      expect(deps.store.get(relayTroubleAtom)).toBe('failing');
      api.profile?.mockRejectedValue(new NetworkError('unreachable'));
      await deps.clock.advance(60_000);
      expect(deps.store.get(relayTroubleAtom)).toBe('silent');
      expect(offline()).toBe(true);
      expect(status()).toBe('success');
      expect(scope.onReachable).not.toHaveBeenCalled();
    });

    it('leaves a session alone that began in the meantime', async () => {
      let answer: (value: unknown) => void = () => undefined;
      api.profile?.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
      session.onNetworkChanged();
      await session.logOut();
      await logIn();
      answer({ ...user, username: 'late' });
      await settled();
      expect(deps.store.get(currentUserAtom)).toEqual(user);
      expect(scope.onReachable).not.toHaveBeenCalled();
    });
  });
});
