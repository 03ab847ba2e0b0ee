import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi, SealedState } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { type AccountStates, createAccountStates } from '#src/services/core/accountState.ts';
import { realtimeStatusAtom } from '#src/store/connection.ts';
import { refused, type TestDeps, testDeps } from './support/deps.ts';

const api = {
  getVault: vi.fn<Api['getVault']>(),
  getAccountState: vi.fn<Api['getAccountState']>(),
  putAccountState: vi.fn<Api['putAccountState']>(),
};
const worker = {
  adoptState: vi.fn<CryptoApi['adoptState']>(),
  vaultVersion: vi.fn<CryptoApi['vaultVersion']>(),
};
const whole = (sealed: string): SealedState => ({ sealed, segments: [] });
let deps: TestDeps;
let states: AccountStates;

beforeEach(() => {
  vi.resetAllMocks();
  api.getAccountState.mockResolvedValue({ version: 3, sealed: 'b2xk', segments: [] });
  api.putAccountState.mockResolvedValue({ version: 4 });
  worker.adoptState.mockResolvedValue(null);
  deps = testDeps({ api, crypto: worker });
  states = createAccountStates(deps);
});

describe('reading the account state', () => {
  it('takes over what is there, and writes nothing', async () => {
    await states.load();
    expect(worker.adoptState.mock.calls).toEqual([[whole('b2xk')]]);
    expect(api.putAccountState).not.toHaveBeenCalled();
  });

  it('finds none at first', async () => {
    api.getAccountState.mockResolvedValue({ version: 0, sealed: null, segments: [] });
    await states.load();
    expect(worker.adoptState.mock.calls).toEqual([[null]]);
  });

  it('puts there what the worker has sealed anew', async () => {
    worker.adoptState.mockResolvedValueOnce(whole('YW5ldw'));
    await states.load();
    expect(api.putAccountState.mock.calls).toEqual([[{ version: 3, sealed: 'YW5ldw', segments: [] }]]);
    expect(worker.adoptState).toHaveBeenLastCalledWith(whole('YW5ldw'));
  });

  it('is merged with the state of a device that was quicker', async () => {
    worker.adoptState.mockResolvedValueOnce(whole('YW5ldw')).mockResolvedValueOnce(whole('bWVyZ2Vk'));
    api.getAccountState
      .mockResolvedValueOnce({ version: 3, sealed: 'b2xk', segments: [] })
      .mockResolvedValueOnce({ version: 4, sealed: 'dGhlaXJz', segments: [] });
    api.putAccountState.mockRejectedValueOnce(refused('stale-version'));
    await states.load();
    expect(worker.adoptState.mock.calls).toEqual([[whole('b2xk')], [whole('dGhlaXJz')], [whole('bWVyZ2Vk')]]);
    expect(api.putAccountState).toHaveBeenLastCalledWith({ version: 4, sealed: 'bWVyZ2Vk', segments: [] });
  });

  it('puts there, of one in segments, those that the relay lacks', async () => {
    const state = (sealed: string, ...segments: string[]) => ({ sealed, segments });
    api.getAccountState.mockResolvedValue({ version: 3, ...state('b2xk', 'b25l', 'dHdv') });
    const next = state('YW5ldw', 'b25l', 'b3RoZXI');
    worker.adoptState.mockResolvedValueOnce(next);
    await states.load();
    expect(api.putAccountState.mock.calls).toEqual([[{ version: 3, ...state('YW5ldw', 'b3RoZXI') }]]);
    expect(worker.adoptState.mock.calls).toEqual([[state('b2xk', 'b25l', 'dHdv')], [next]]);
  });

  it('writes nothing on a device that has just signed in', async () => {
    worker.adoptState.mockResolvedValue(whole('YW5ldw'));
    await states.read();
    expect(worker.adoptState.mock.calls).toEqual([[whole('b2xk')]]);
    expect(api.putAccountState).not.toHaveBeenCalled();
  });

  it('fails when the relay is not reached', async () => {
    api.getAccountState.mockRejectedValue(new NetworkError('unreachable'));
    await expect(states.load()).rejects.toThrow('unreachable');
  });
});

describe("the relay's word that the account state has changed", () => {
  const write = async () => {
    worker.adoptState.mockResolvedValueOnce(whole('YW5ldw'));
    await states.load();
  };

  it('is no news where this tab has changed it, once for each time', async () => {
    deps.store.set(realtimeStatusAtom, 'connected');
    await write();
    expect([states.takeEcho(), states.takeEcho()]).toEqual([true, false]);
    api.putAccountState.mockRejectedValueOnce(new NetworkError('unreachable'));
    await expect(write()).rejects.toThrow('unreachable');
    expect(states.takeEcho()).toBe(false);
    await write();
    states.forgetEchoes();
    expect(states.takeEcho()).toBe(false);
  });

  it('is news while it is not heard of its own', async () => {
    deps.store.set(realtimeStatusAtom, 'reconnecting');
    await write();
    expect(states.takeEcho()).toBe(false);
  });
});

describe('changing the account state', () => {
  it('counts once the relay has it', async () => {
    await states.replace(async (state) => whole(`${state?.sealed}-changed`));
    expect(api.putAccountState.mock.calls).toEqual([[{ version: 3, sealed: 'b2xk-changed', segments: [] }]]);
    expect(worker.adoptState.mock.calls).toEqual([[whole('b2xk-changed')]]);
  });

  it('is made upon what another device changed meanwhile', async () => {
    api.getAccountState
      .mockResolvedValueOnce({ version: 3, sealed: 'b2xk', segments: [] })
      .mockResolvedValueOnce({ version: 4, sealed: 'bmV3ZXI', segments: [] });
    api.putAccountState.mockRejectedValueOnce(refused('stale-version'));
    await states.replace(async (state) => whole(`${state?.sealed}-changed`));
    expect(api.putAccountState).toHaveBeenLastCalledWith({
      version: 4,
      sealed: 'bmV3ZXI-changed',
      segments: [],
    });
  });

  it('counts for nothing when the state moves again and again', async () => {
    api.putAccountState.mockRejectedValue(refused('stale-version'));
    await expect(states.replace(async () => whole('YW5ldw'))).rejects.toMatchObject({
      code: 'stale-version',
    });
    expect(api.putAccountState).toHaveBeenCalledTimes(4);
    expect(worker.adoptState).not.toHaveBeenCalled();
  });
});

describe('whether this device has all that the relay has', () => {
  beforeEach(() => {
    api.getVault.mockResolvedValue({ version: 2, sealedVault: 'dmF1bHQ', hasRecoveryKey: false });
    worker.vaultVersion.mockResolvedValue(2);
  });

  it('is asked after what it adds was put there', async () => {
    worker.adoptState.mockResolvedValueOnce(whole('YW5ldw'));
    expect(await states.isSettled()).toBe(true);
    expect(api.putAccountState).toHaveBeenCalledOnce();
    expect(api.getAccountState).toHaveBeenCalledTimes(2);
  });

  it('is no where its own could not be put there', async () => {
    worker.adoptState.mockResolvedValue(whole('YW5ldw'));
    api.putAccountState.mockRejectedValue(refused('stale-version'));
    expect(await states.isSettled()).toBe(false);
  });

  it.each([1, 3])(
    'is no where the relay has vault %d, and this device the keys of another',
    async (version) => {
      api.getVault.mockResolvedValue({ version, sealedVault: 'dmF1bHQ', hasRecoveryKey: false });
      expect(await states.isSettled()).toBe(false);
    },
  );
});
