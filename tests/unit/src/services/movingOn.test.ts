import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import { cancelled } from '#src/lib/appError.ts';
import type { Api } from '#src/net/api.ts';
import { moveOn } from '#src/services/account/movingOn.ts';
import {
  refused,
  rotatedVault,
  storedVault,
  type TestDeps,
  testConfirmation,
  testDeps,
  testRenewal,
} from './support/deps.ts';

const here = 'd0000000-0000-4000-8000-000000000001';
const phone = 'd0000000-0000-4000-8000-000000000002';
const anew = 'd0000000-0000-4000-8000-000000000003';

const api = { listDevices: vi.fn<Api['listDevices']>(), moveOn: vi.fn<Api['moveOn']>() };
const worker = {
  moveOn: vi.fn<CryptoApi['moveOn']>(),
  openDevice: vi.fn<CryptoApi['openDevice']>(),
  conversations: vi.fn<CryptoApi['conversations']>(),
};
const order: string[] = [];
const step = (name: string) => async () => void order.push(name);
const made = {
  password: 'new-auth-key',
  passwordParams: { salt: 'AAAA', opsLimit: 3, memLimit: 8192 },
  passwordProofKey: 'proof-key',
  vault: rotatedVault,
  accountKey: 'account-key',
  revocations: [{ id: here, statement: 'c3RhdGVtZW50' }],
};
let deps: TestDeps;
let confirmation: ReturnType<typeof testConfirmation>;

beforeEach(() => {
  vi.resetAllMocks();
  order.length = 0;
  const device = { created_at: '', last_seen_at: '', certificate: '', name: '' };
  api.listDevices.mockResolvedValue([
    { ...device, id: here, current: true },
    { ...device, id: phone, current: false },
  ]);
  api.moveOn.mockImplementation(async () => {
    order.push('relay');
    return { version: 8 };
  });
  worker.moveOn.mockResolvedValue(made);
  worker.openDevice.mockResolvedValue({
    userId: here,
    deviceId: anew,
    certificate: 'AAAA',
    isNew: false,
    former: null,
  });
  worker.conversations.mockResolvedValue([]);
  deps = testDeps({ api, crypto: worker });
  confirmation = testConfirmation();
});

const tellTabs = vi.fn<(deviceId: string) => void>();
const move = () =>
  moveOn({
    deps,
    confirmation,
    keyRenewal: testRenewal,
    sync: { syncAll: step('read') },
    register: step('registered'),
    tellTabs,
    connect: () => void order.push('connected'),
    disconnect: () => void order.push('disconnected'),
  });

describe('moving on after a theft', () => {
  it('reads what was sent to this device first, and begins anew as another one once the relay has taken it', async () => {
    const shown = vi.fn<() => void>();
    deps.sessionEvents.on('conversationsChanged', shown);
    await move();
    expect(confirmation.asked).toEqual([{ kind: 'move-on', target: '', id: null }]);
    expect(worker.moveOn).toHaveBeenCalledWith({ vault: storedVault, deviceIds: [here, phone] });
    expect(api.moveOn).toHaveBeenCalledWith(
      { ...made, vault: { ...rotatedVault, recoveryWrap: null } },
      confirmation.prove,
    );
    expect(order).toEqual(['read', 'disconnected', 'relay', 'registered', 'connected']);
    expect(shown).toHaveBeenCalledOnce();
    expect(tellTabs).toHaveBeenCalledExactlyOnceWith(anew);
  });

  it('asks nothing of the worker or the relay when the person calls it off', async () => {
    vi.spyOn(confirmation, 'confirm').mockRejectedValue(cancelled());
    await expect(move()).rejects.toMatchObject({ code: 'cancelled' });
    expect(worker.moveOn).not.toHaveBeenCalled();
    expect(order).toEqual([]);
  });

  it('goes on as it was when the relay refuses it, and says why', async () => {
    api.moveOn.mockRejectedValue(refused('device-conflict', 'Another device has signed in meanwhile.'));
    await expect(move()).rejects.toMatchObject({ message: 'Another device has signed in meanwhile.' });
    expect(order).toEqual(['read', 'disconnected', 'connected']);
    expect(tellTabs).not.toHaveBeenCalled();
  });
});
