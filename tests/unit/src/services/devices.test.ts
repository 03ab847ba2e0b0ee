import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createDevices, type Devices } from '#src/services/account/devices.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { devicesAtom, newDevicesAtom } from '#src/store/devices.ts';
import { settled } from '../net/support/fakeClock.ts';
import {
  conversationId,
  me,
  peer,
  refused,
  rotatedVault,
  state,
  storedVault,
  type TestDeps,
  testConfirmation,
  testDeps,
  testRenewal,
} from './support/deps.ts';

const here = 'device-here';
const phone = 'device-phone';

function listed(id: string, change: Partial<Awaited<ReturnType<Api['listDevices']>>[number]> = {}) {
  return {
    id,
    name: id,
    certificate: 'Y2VydA',
    created_at: '2026-03-01T12:00:00.000Z',
    last_seen_at: '2026-03-01T12:00:00.000Z',
    current: id === here,
    ...change,
  };
}

let localEntries: Map<string, string>;
let deps: TestDeps;
let devices: Devices;
const api = {
  listDevices: vi.fn<Api['listDevices']>(),
  visibleRevocations: vi.fn<Api['visibleRevocations']>(),
  revokeDevice: vi.fn<Api['revokeDevice']>(),
  putDevice: vi.fn<Api['putDevice']>(),
};
const worker = {
  revokeDevice: vi.fn<CryptoApi['revokeDevice']>(),
  setRevoked: vi.fn<CryptoApi['setRevoked']>(),
  conversations: vi.fn<CryptoApi['conversations']>(),
};
const settle = vi.fn<(conversationId: string) => Promise<void>>();
let confirmation: ReturnType<typeof testConfirmation>;
const onThisRevoked = vi.fn<() => Promise<void>>();

function restart(): void {
  deps = testDeps({
    api,
    crypto: {
      ...worker,
      openDevice: async () => ({
        userId: me,
        deviceId: here,
        certificate: 'Y2VydA',
        isNew: false,
        former: null,
      }),
      readLocal: async (name) => localEntries.get(name) ?? null,
      writeLocal: async (name, text) => void localEntries.set(name, text ?? ''),
    },
  });
  const background = createBackground(deps.log);
  confirmation = testConfirmation();
  devices = createDevices({
    deps,
    ownUserId: me,
    commitSubmitter: { settle },
    confirmation,
    keyRenewal: testRenewal,
    onThisRevoked,
    background,
  });
}

beforeEach(() => {
  vi.resetAllMocks();
  localEntries = new Map();
  api.listDevices.mockResolvedValue([listed(here)]);
  api.visibleRevocations.mockResolvedValue([]);
  worker.revokeDevice.mockResolvedValue(revocation);
  worker.conversations.mockResolvedValue([]);
  restart();
});

const revocation = { statement: 'c2lnbmVk', vault: rotatedVault };
const ids = () => deps.store.get(devicesAtom)?.map(({ id }) => id);
const newIds = () => deps.store.get(newDevicesAtom).map(({ id }) => id);
const holding = (...deviceIds: string[]) => state({ members: [{ userId: me, deviceIds }] });

describe('the list of devices', () => {
  it('begins with this device, then goes by when they were seen', async () => {
    const later = { last_seen_at: '2026-03-02T12:00:00.000Z' };
    api.listDevices.mockResolvedValue([listed('old'), listed('new', later), listed(here)]);
    await devices.load();
    expect(ids()).toEqual([here, 'new', 'old']);
  });

  it('says why it could not be loaded', async () => {
    api.listDevices.mockRejectedValue(new NetworkError('unreachable'));
    await expect(devices.load()).rejects.toMatchObject({
      code: 'unreachable',
      message: 'Your devices could not be loaded. Please try again.',
    });
  });
});

describe('a new device', () => {
  it('is told of once this browser knows the others, until the person has seen it', async () => {
    await devices.load();
    expect(newIds()).toEqual([]);
    api.listDevices.mockResolvedValue([listed(here), listed(phone)]);
    await devices.load();
    expect(newIds()).toEqual([phone]);
    restart();
    await devices.load();
    expect(newIds()).toEqual([phone]);
    await devices.acknowledge();
    expect(newIds()).toEqual([]);
    restart();
    await devices.load();
    expect(newIds()).toEqual([]);
  });

  it('is noticed by its place in a conversation', async () => {
    await devices.load();
    api.listDevices.mockClear();
    deps.sessionEvents.emit('conversationsChanged', {
      states: [holding(here), state({ members: [{ userId: peer, deviceIds: ['theirs'] }] })],
    });
    await settled();
    expect(api.listDevices).not.toHaveBeenCalled();
    api.listDevices.mockResolvedValue([listed(here), listed(phone)]);
    deps.sessionEvents.emit('conversationsChanged', { states: [holding(here, phone)] });
    await settled();
    expect(newIds()).toEqual([phone]);
    deps.sessionEvents.emit('conversationsChanged', { states: [holding(here, phone)] });
    await settled();
    expect(api.listDevices).toHaveBeenCalledOnce();
  });
});

describe('revoking a device', () => {
  beforeEach(async () => {
    api.listDevices.mockResolvedValue([listed(here), listed(phone)]);
    await devices.load();
  });

  it('takes the device out of the others where one conversation is refused, as that with somebody who is blocked', async () => {
    const conversationIds = ['blocked', conversationId, `self:${me}`];
    worker.conversations.mockResolvedValue(
      conversationIds.map((id) => ({ ...holding(here, phone), conversationId: id })),
    );
    settle.mockRejectedValueOnce(refused('not-a-contact'));
    await devices.revoke(phone);
    await settled();
    expect(settle.mock.calls).toEqual(conversationIds.map((id) => [id]));
  });

  it('brings the signed statement to the relay, and takes the device out of every conversation', async () => {
    worker.conversations.mockResolvedValue([
      holding(here, phone),
      { ...holding(here), conversationId: 'without it' },
      { ...holding(here, phone), conversationId: 'not in it', status: 'forked' },
      { ...holding(here, phone), conversationId: `self:${me}` },
    ]);
    await devices.revoke(phone);
    expect(api.revokeDevice).toHaveBeenCalledWith(phone, revocation, confirmation.prove);
    expect(worker.revokeDevice).toHaveBeenCalledWith({ vault: storedVault, deviceId: phone });
    expect(confirmation.asked).toEqual([{ kind: 'revoke-device', target: expect.any(String), id: phone }]);
    expect(worker.setRevoked).toHaveBeenCalledWith([{ userId: me, deviceId: phone, statement: 'c2lnbmVk' }]);
    expect(ids()).toEqual([here]);
    await settled();
    expect(settle.mock.calls).toEqual([[conversationId], [`self:${me}`]]);
  });

  it('goes on when another device was faster', async () => {
    api.revokeDevice.mockRejectedValue(refused('not-found'));
    await devices.revoke(phone);
    expect(ids()).toEqual([here]);
  });

  it('leaves everything as it is when the relay is not reached', async () => {
    api.revokeDevice.mockRejectedValue(new NetworkError('unreachable'));
    await expect(devices.revoke(phone)).rejects.toMatchObject({
      message: 'The device could not be removed. Please try again.',
    });
    expect(worker.setRevoked).not.toHaveBeenCalled();
    expect(ids()).toEqual([here, phone]);
  });
});

describe('a revocation by others', () => {
  const revocation = {
    id: 'theirs',
    user_id: peer,
    statement: 'c3RhdGVtZW50',
    revoked_at: '2026-03-01T12:00:00.000Z',
  };

  it('is kept, and acted on with the next message', async () => {
    api.visibleRevocations.mockResolvedValue([revocation]);
    await devices.onRevoked({ userId: peer, deviceId: 'theirs' });
    expect(worker.setRevoked).toHaveBeenCalledWith([
      { userId: peer, deviceId: 'theirs', statement: 'c3RhdGVtZW50' },
    ]);
    await settled();
    expect(settle).not.toHaveBeenCalled();
  });

  it('is asked for from a day before the last time on, as clocks differ', async () => {
    await devices.catchUp();
    await deps.clock.advance(3_600_000);
    await devices.catchUp();
    expect(api.visibleRevocations.mock.calls).toEqual([[undefined], ['2026-02-28T12:00:00.000Z']]);
  });

  it('of one’s own is acted on at once', async () => {
    api.visibleRevocations.mockResolvedValue([{ ...revocation, user_id: me, id: phone }]);
    worker.conversations.mockResolvedValue([holding(here, phone)]);
    await devices.onRevoked({ userId: me, deviceId: phone });
    await settled();
    expect(settle).toHaveBeenCalledWith(conversationId);
    expect(onThisRevoked).not.toHaveBeenCalled();
  });

  it('of one’s own is acted on in a conversation, too, that is joined after it', async () => {
    api.visibleRevocations.mockResolvedValue([{ ...revocation, user_id: me, id: phone }]);
    await devices.onRevoked({ userId: me, deviceId: phone });
    await settled();
    expect(settle).not.toHaveBeenCalled();
    worker.conversations.mockResolvedValue([holding(here, phone)]);
    deps.sessionEvents.emit('conversationsChanged', { states: [holding(here)] });
    await settled();
    expect(settle).not.toHaveBeenCalled();
    deps.sessionEvents.emit('conversationsChanged', { states: [holding(here, phone)] });
    await settled();
    expect(settle).toHaveBeenCalledWith(conversationId);
  });
});

describe("this device's own revocation", () => {
  it('ends the session without a call that the relay would only refuse', async () => {
    await devices.onRevoked({ userId: me, deviceId: here });
    expect(onThisRevoked).toHaveBeenCalledOnce();
    expect(api.visibleRevocations).not.toHaveBeenCalled();
    expect(api.listDevices).not.toHaveBeenCalled();
  });
});

describe('the name of a device', () => {
  it('is of this device, and kept for the next start', async () => {
    await devices.load();
    await devices.rename('  Kitchen ');
    expect(api.putDevice).toHaveBeenCalledWith(here, { name: 'Kitchen', certificate: 'Y2VydA' });
    expect(localEntries.get('device-name')).toBe('Kitchen');
    expect(deps.store.get(devicesAtom)?.[0]?.name).toBe('Kitchen');
  });

  it('keeps nothing when the relay refuses', async () => {
    await devices.load();
    api.putDevice.mockRejectedValue(refused('internal'));
    await expect(devices.rename('Kitchen')).rejects.toMatchObject({
      message: 'The device could not be renamed. Please try again.',
    });
    expect(localEntries.has('device-name')).toBe(false);
  });
});
