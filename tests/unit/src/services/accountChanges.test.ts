import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccountChange, Api } from '#src/net/api.ts';
import { type AccountChanges, createAccountChanges } from '#src/services/account/accountChanges.ts';
import { accountChangesAtom } from '#src/store/accountChanges.ts';
import { me, type TestDeps, testDeps } from './support/deps.ts';

const here = '10000000-0000-4000-8000-000000000001';
const there = '10000000-0000-4000-8000-000000000002';

function change(id: string, minute: number, deviceId: string | null = there): AccountChange {
  return {
    id,
    kind: 'recovery-key',
    device_id: deviceId,
    device_name: deviceId === null ? null : 'Chrome on Linux',
    created_at: `2026-03-01T12:0${minute}:00.000Z`,
  };
}

const listAccountChanges = vi.fn<Api['listAccountChanges']>();
let localEntries: Map<string, string>;
let deps: TestDeps;
let accountChanges: AccountChanges;

beforeEach(() => {
  listAccountChanges.mockReset();
  localEntries = new Map();
  deps = testDeps({
    api: { listAccountChanges },
    crypto: {
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
  accountChanges = createAccountChanges(deps);
});

const ids = () => deps.store.get(accountChangesAtom).map(({ id }) => id);

describe('changes of the account', () => {
  it('are those that were made elsewhere, by a device or by none', async () => {
    listAccountChanges.mockResolvedValue([change('a', 1), change('b', 2, here), change('c', 3, null)]);
    await accountChanges.load();
    expect(deps.store.get(accountChangesAtom)).toEqual([
      {
        id: 'a',
        kind: 'recovery-key',
        deviceName: 'Chrome on Linux',
        createdAt: '2026-03-01T12:01:00.000Z',
      },
      { id: 'c', kind: 'recovery-key', deviceName: null, createdAt: '2026-03-01T12:03:00.000Z' },
    ]);
  });

  it('are judged one after another, for good in this browser', async () => {
    listAccountChanges.mockResolvedValue([change('a', 1), change('b', 2)]);
    await accountChanges.load();
    await accountChanges.acknowledge();
    expect(ids()).toEqual(['b']);
    await accountChanges.load();
    expect(ids()).toEqual(['b']);
    await accountChanges.acknowledge();
    await accountChanges.acknowledge();
    await accountChanges.load();
    expect(ids()).toEqual([]);
  });
});
