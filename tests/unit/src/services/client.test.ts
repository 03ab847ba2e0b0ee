import { IDBFactory } from 'fake-indexeddb';
import { createStore } from 'jotai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { type Client, createClient } from '#src/services/client/client.ts';
import { timings } from '#src/services/core/timings.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { authErrorAtom, authStatusAtom, connectionBannerAtom } from '#src/store/session.ts';
import { capturedLog } from '../net/support/capturedLog.ts';
import { FakeClock, settled } from '../net/support/fakeClock.ts';
import { asMqttClient, FakeMqttClient } from '../net/support/fakeMqttClient.ts';
import { me, partial, peer } from './support/deps.ts';
import { keyPackagesLeft } from './support/session.ts';

const user = {
  id: me,
  username: 'anna',
  email: 'anna@example.org',
  full_name: 'anna',
  created_at: '2026-03-01T12:00:00.000Z',
};
const device = {
  id: peer,
  name: 'Chrome',
  certificate: 'Y2VydA',
  created_at: user.created_at,
  last_seen_at: user.created_at,
  current: true,
};

let store: ReturnType<typeof createStore>;
let clock: FakeClock;
let client: Client;
let mqtt: FakeMqttClient;
/** Paths that the relay answers with 401, and the code of it. */
let refuses: (path: string) => boolean;
let refusal: 'session-expired' | 'device-revoked';
let asked: string[];
/** Holds an answer back. */
let delays: (path: string) => Promise<void>;

function answer(path: string): Response {
  if (refuses(path)) return Response.json({ detail: 'Log in again.', code: refusal }, { status: 401 });
  if (path === '/api/profile') return Response.json(user);
  if (path.startsWith('/api/devices/')) return Response.json(device);
  if (path === '/api/key-packages') return Response.json(keyPackagesLeft(50, true));
  return Response.json([]);
}

beforeEach(async () => {
  localStorage.clear();
  store = createStore();
  clock = new FakeClock();
  refuses = () => false;
  refusal = 'session-expired';
  asked = [];
  delays = () => Promise.resolve();
  client = createClient({
    indexedDB: new IDBFactory(),
    addresses: {
      apiHost: 'https://relay.example',
      mqttUrl: 'wss://relay.example/mqtt',
      presenceUrl: 'wss://relay.example/ws/presence/',
    },
    crypto: partial<CryptoApi>({
      resume: () => Promise.resolve(true),
      lock: () => Promise.resolve(),
      openDevice: () =>
        Promise.resolve({ userId: me, deviceId: peer, certificate: 'Y2VydA', isNew: false, former: null }),
      readLocal: () => Promise.resolve(null),
      writeLocal: () => Promise.resolve(),
      setRevoked: () => Promise.resolve(),
      contactTrust: () => Promise.resolve([]),
      conversations: () => Promise.resolve([]),
      memberNames: () => Promise.resolve([]),
      localEntries: () => Promise.resolve([]),
      backupState: () => Promise.resolve({ kept: true, position: 0 }),
      expireMessages: () => Promise.resolve({ gone: [], nextIn: null }),
      backupSetting: () => Promise.resolve(null),
      conversationsToBackUp: () => Promise.resolve([]),
      outbox: () => Promise.resolve([]),
    }),
    store,
    storage: localStorage,
    clock,
    random: () => 1,
    locks: { request: (_name, task) => task() },
    log: capturedLog().log,
    newId: () => peer,
    events: new EventTarget(),
    deviceName: 'Chrome',
    navigate: () => undefined,
    isOnline: () => true,
    isVisible: () => true,
    showsReceipts: () => true,
    showsTyping: () => true,
    createSocket: () =>
      Object.assign(new EventTarget(), {
        OPEN: 1,
        readyState: 0,
        close: () => undefined,
      }) as unknown as WebSocket,
    connectMqtt: (_url, options) => {
      mqtt = new FakeMqttClient(options);
      return asMqttClient(mqtt);
    },
    fetch: async (input) => {
      const { pathname } = new URL(new Request(input).url);
      asked.push(pathname);
      await delays(pathname);
      return answer(pathname);
    },
  });
});

async function resume(): Promise<void> {
  const exp = clock.now() / 1000 + 3600;
  localStorage.setItem('token', `header.${btoa(JSON.stringify({ sub: me, exp }))}.signature`);
  await client.session.resume();
  // The real-time connection doesn't come up here.
  await clock.advance(timings.subscriptionPatience);
  await vi.waitFor(() => expect(store.get(contactsAtom).loaded).toBe(true), { timeout: 60_000 });
}

describe('a session that the relay has ended', () => {
  it('ends here with the first call that hears of it', async () => {
    await resume();
    expect(store.get(authStatusAtom)).toBe('success');
    refuses = (path) => path === '/api/contacts';
    await clock.advance(10_000);
    await vi.waitFor(() => expect(store.get(authStatusAtom)).toBe('error'), { timeout: 60_000 });
    expect(store.get(authErrorAtom)).toBe('Session expired. Please login again.');
    expect(localStorage.getItem('token')).toBeNull();
  });

  it('says so where it ended because this device was revoked', async () => {
    await resume();
    refuses = (path) => path === '/api/contacts';
    refusal = 'device-revoked';
    await clock.advance(10_000);
    await vi.waitFor(() => expect(store.get(authStatusAtom)).toBe('error'), { timeout: 60_000 });
    expect(store.get(authErrorAtom)).toMatch(/removed from your account/);
  });

  it.each([
    ['session-expired', { banner: true, error: null }],
    ['device-revoked', { banner: false, error: expect.stringMatching(/removed from your account/) }],
    ['password-changed', { banner: false, error: expect.stringMatching(/^Your password was changed/) }],
    ['account-suspended', { banner: false, error: expect.stringMatching(/^This account is suspended/) }],
  ])('is not asked about with a token that is worth nothing: %s', async (code, { banner, error }) => {
    await resume();
    mqtt.accept();
    await settled();
    asked = [];
    refuses = () => true;
    const properties = { userProperties: { code } };
    mqtt.emit('disconnect', { cmd: 'disconnect', reasonCode: 0x87, properties });
    await settled();
    expect(localStorage.getItem('token')).toBeNull();
    expect(store.get(connectionBannerAtom)).toBe(banner);
    expect(store.get(authErrorAtom)).toEqual(error);
    await clock.advance(60_000);
    expect(asked).toEqual([]);
  });

  it('says why also in a tab that finds the token removed by another', async () => {
    await resume();
    mqtt.accept();
    await settled();
    localStorage.removeItem('token');
    const properties = { userProperties: { code: 'password-changed' } };
    mqtt.emit('disconnect', { cmd: 'disconnect', reasonCode: 0x87, properties });
    await settled();
    expect(store.get(connectionBannerAtom)).toBe(false);
    expect(store.get(authErrorAtom)).toMatch(/^Your password was changed/);
  });

  it('shows the banner when the check hears of it first, and asks no more', async () => {
    await resume();
    refuses = (path) => path === '/api/profile';
    await client.session.check();
    refuses = () => true;
    asked = [];
    await clock.advance(30_000);
    expect(store.get(connectionBannerAtom)).toBe(true);
    expect(store.get(authStatusAtom)).toBe('success');
    expect(localStorage.getItem('token')).toBeNull();
    expect(asked).toEqual([]);
  });
});

it('the banner of a session that has ended stays when calls that were under way are refused later', async () => {
  await resume();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  delays = (path) => (path === '/api/contacts' ? held : Promise.resolve());
  await clock.advance(10_000);
  refuses = () => true;
  await client.session.check();
  release();
  await settled();
  expect(store.get(connectionBannerAtom)).toBe(true);
  expect(store.get(authStatusAtom)).toBe('success');
});

it.each<[string, () => Promise<unknown>]>([
  ['searchUsers', () => client.actions.searchUsers('bert')],
  ['loadDiscoverability', () => client.actions.loadDiscoverability()],
  ['updateEmailVerification', () => client.actions.updateEmailVerification()],
  ['setDiscoverability', () => client.actions.setDiscoverability({ found_by: 'none', shows_email: false })],
  ['openChat', () => client.actions.openChat(peer)],
  ['sendMessage', () => client.actions.sendMessage(peer, 'hello')],
  ['retryMessage', () => client.actions.retryMessage(peer, 'm')],
  ['settleDoubt', () => client.actions.settleDoubt('u', 'sendAnyway')],
  ['updateBlocks', () => client.actions.updateBlocks()],
  ['removeContact', () => client.actions.removeContact(peer)],
])('%s needs a session', async (_name, act) => {
  await expect(act()).rejects.toMatchObject({ name: 'AppError', code: 'unauthenticated' });
  await resume();
  await client.actions.logOut();
  await expect(act()).rejects.toMatchObject({ name: 'AppError', code: 'unauthenticated' });
});
