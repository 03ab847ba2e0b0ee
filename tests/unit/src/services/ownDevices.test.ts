import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConversationState, CryptoApi } from '#src/crypto/client.ts';
import { createOwnDevices, type OwnDevices } from '#src/services/account/ownDevices.ts';
import { createBackground } from '#src/services/core/failures.ts';
import { timings } from '#src/services/core/timings.ts';
import { bannerAtom } from '#src/store/banners.ts';
import { devicesAtom, type OwnDevice } from '#src/store/devices.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, state, type TestDeps, testDeps } from './support/deps.ts';

const own = `self:${me}`;
const worker = {
  conversation: vi.fn<CryptoApi['conversation']>(),
  shareKeys: vi.fn<CryptoApi['shareKeys']>(),
  ownRevisions: vi.fn<CryptoApi['ownRevisions']>(),
  tellRevisions: vi.fn<CryptoApi['tellRevisions']>(),
  acknowledgeOlderStates: vi.fn<CryptoApi['acknowledgeOlderStates']>(),
};
const isSettled = vi.fn<() => Promise<boolean>>();
const catchUp = vi.fn<(id: string) => Promise<ConversationState>>();
const start = vi.fn<(id: string) => Promise<void>>();
const flush = vi.fn<(id: string) => Promise<void>>();
let deps: TestDeps;
let devices: OwnDevices;

const is = (status: ConversationState['status']) =>
  worker.conversation.mockResolvedValue(state({ conversationId: own, status }));
const said = (conversationId = own) =>
  deps.sessionEvents.emit('entriesProcessed', { messages: [], events: [], state: state({ conversationId }) });

/** The oldest first. */
function list(...isThisOne: boolean[]): void {
  const at = '2026-03-01T12:00:00.000Z';
  const listed = isThisOne.map((isThis, i): OwnDevice => {
    const createdAt = `2026-03-01T12:00:0${i}.000Z`;
    return { id: `${i}`, name: '', createdAt, lastSeenAt: at, isThisOne: isThis };
  });
  deps.store.set(devicesAtom, () => listed);
}

beforeEach(() => {
  vi.resetAllMocks();
  deps = testDeps({ crypto: worker });
  catchUp.mockResolvedValue(state({ conversationId: own }));
  worker.shareKeys.mockResolvedValue(true);
  is('outside');
  const background = createBackground(deps.log);
  devices = createOwnDevices({
    deps,
    ownUserId: me,
    sync: { catchUp, moveReadPosition: vi.fn<(id: string, seq: number) => Promise<void>>() },
    joiner: { start },
    outbox: { flush },
    accountStates: { isSettled },
    background,
  });
});

describe("the group of the person's own devices", () => {
  it('is started by the newest device that finds another one and no group, once in a while', async () => {
    list(true);
    await devices.settle();
    expect(start).not.toHaveBeenCalled();
    list(false, true);
    await devices.settle();
    await devices.settle();
    expect(start.mock.calls).toEqual([[own]]);
    expect(catchUp.mock.calls).toEqual([[own]]);
    await deps.clock.advance(timings.rejoinPause);
    await devices.settle();
    expect(start).toHaveBeenCalledTimes(2);
  });

  it('is started by an older device only where the newest has not done so after a while', async () => {
    list(true, false);
    await devices.settle();
    await devices.settle();
    await deps.clock.advance(timings.keysPatience - 1);
    expect(start).not.toHaveBeenCalled();
    await deps.clock.advance(1);
    expect(start.mock.calls).toEqual([[own]]);
    await deps.clock.advance(timings.rejoinPause);
    await devices.settle();
    is('joined');
    await deps.clock.advance(timings.keysPatience);
    expect(start).toHaveBeenCalledOnce();
    is('outside');
    await devices.settle();
    devices.stop();
    await deps.clock.advance(timings.keysPatience);
    expect(start).toHaveBeenCalledOnce();
  });

  it.each(['joined', 'forked', 'starting'] as const)('is not started where it is %s', async (status) => {
    list(false, true);
    is(status);
    await devices.settle();
    expect(start).not.toHaveBeenCalled();
  });
});

describe('the newest keys', () => {
  it('are shared at once when this device has renewed them', async () => {
    deps.sessionEvents.emit('keysRenewed', { vaultVersion: 2 });
    await settled();
    expect(flush.mock.calls).toEqual([[own]]);
  });

  it.each([
    ['somebody has said something', async () => said()],
    ['they were taken over', async () => deps.sessionEvents.emit('keysTakenOver', { vaultVersion: 2 })],
    [
      'everything has been read',
      () => {
        is('joined');
        return devices.settle();
      },
    ],
  ])('are shared within some seconds once %s, by one device of many', async (_why, happens) => {
    await happens();
    said();
    await settled();
    expect(worker.shareKeys).not.toHaveBeenCalled();
    await deps.clock.advance(timings.keysSharing);
    expect(worker.shareKeys).toHaveBeenCalledOnce();
    expect(flush.mock.calls).toEqual([[own]]);
  });

  it('are not sent where that is not due, nor for what is said elsewhere, nor after the session', async () => {
    said('direct:elsewhere');
    await deps.clock.advance(timings.keysSharing);
    expect(worker.shareKeys).not.toHaveBeenCalled();
    worker.shareKeys.mockResolvedValue(false);
    said();
    await deps.clock.advance(timings.keysSharing);
    expect(worker.shareKeys).toHaveBeenCalledOnce();
    expect(flush).not.toHaveBeenCalled();
    said();
    devices.stop();
    said();
    await deps.clock.advance(timings.keysSharing);
    expect(worker.shareKeys).toHaveBeenCalledOnce();
  });
});

describe('what the relay gives to own devices', () => {
  const others = { userId: me, deviceIds: ['1', '2'] };
  const saidAmongOthers = () =>
    deps.sessionEvents.emit('entriesProcessed', {
      messages: [],
      events: [],
      state: state({ conversationId: own, members: [others] }),
    });
  const older = [{ place: 'there', deviceId: '2', keys: false, state: true }] as const;

  beforeEach(() => {
    worker.shareKeys.mockResolvedValue(false);
    worker.ownRevisions.mockResolvedValue({ askAfter: 7, older: [] });
    worker.tellRevisions.mockResolvedValue(true);
    isSettled.mockResolvedValue(true);
  });

  it('is said after all of it was asked for, where that is due', async () => {
    saidAmongOthers();
    await deps.clock.advance(timings.keysSharing);
    await vi.waitFor(() => expect(flush.mock.calls).toEqual([[own]]));
    expect(worker.tellRevisions.mock.calls).toEqual([[7]]);
    expect(isSettled.mock.invocationCallOrder[0]).toBeGreaterThan(
      worker.ownRevisions.mock.invocationCallOrder[0]!,
    );
  });

  it.each([
    ['it is not due', () => worker.ownRevisions.mockResolvedValue({ askAfter: null, older: [] })],
    ['this device lacks something of it', () => isSettled.mockResolvedValue(false)],
    ['the device is alone', () => (others.deviceIds.length = 1)],
  ])('is not said where %s', async (_why, prepare) => {
    prepare();
    saidAmongOthers();
    await deps.clock.advance(timings.keysSharing);
    await settled();
    expect(worker.tellRevisions).not.toHaveBeenCalled();
    others.deviceIds = ['1', '2'];
  });

  it('is shown where it is older, until the person knows', async () => {
    worker.ownRevisions.mockResolvedValue({ askAfter: null, older });
    saidAmongOthers();
    await deps.clock.advance(timings.keysSharing);
    await vi.waitFor(() => expect(deps.store.get(bannerAtom)).toBe('older-state'));
    await devices.acknowledgeOlderStates();
    expect(worker.acknowledgeOlderStates).toHaveBeenCalledOnce();
    expect(deps.store.get(bannerAtom)).toBeNull();
  });
});
