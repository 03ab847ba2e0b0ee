import { beforeEach, expect, it, vi } from 'vitest';
import type { CryptoApi, GivenReceipt } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { retentionRules } from '#src/services/conversations/retentionRules.ts';
import type { SessionDeps } from '#src/services/core/deps.ts';
import { refused } from './support/deps.ts';

const id = 'direct:aino-id:veikko-id';
const receiptOf = (deviceId: string): GivenReceipt => ({
  userId: 'aino-id',
  deviceId,
  epoch: 2,
  position: 7,
  sealed: 'sealed',
  signature: 'signature',
});

const asked: string[] = [];
const listReceipts = vi.fn<Api['listReceipts']>();
const start = vi.fn<CryptoApi['start']>();
const deps = {
  api: {
    listReceipts,
    getStorage: async () => {
      asked.push('storage');
      return { entryDays: 90, fewestEntryDays: 30, historyDays: null };
    },
    putStart: async () => {
      asked.push('start');
      return { number: 2, tag: 'tag' };
    },
  },
  crypto: { start, startAnswered: async () => 'registered', openDevice: async () => ({ deviceId: 'mine' }) },
  events: new EventTarget(),
} as unknown as SessionDeps;

beforeEach(() => {
  asked.length = 0;
  start
    .mockReset()
    .mockResolvedValue({ number: 2, tag: 'tag', from: [], signature: 's', isRegistered: false });
  listReceipts.mockReset().mockResolvedValue([receiptOf('theirs'), receiptOf('mine')]);
});

it('the relay is asked for the fewest days that held, and for the receipt of this device', async () => {
  const { deviceId: _device, userId: _user, ...own } = receiptOf('mine');
  expect(await retentionRules(deps, id)).toEqual({ days: 30, ownReceipt: own });
});

it('a device without a receipt is told the days, and so is one whose conversation the relay does not list', async () => {
  listReceipts.mockResolvedValueOnce([receiptOf('theirs')]).mockRejectedValueOnce(refused('not-found'));
  for (const _ of [1, 2]) expect(await retentionRules(deps, id)).toEqual({ days: 30, ownReceipt: null });
});

it('a failure to ask is one of reading the log, which is tried again', async () => {
  listReceipts.mockRejectedValue(refused('rate-limited'));
  await expect(retentionRules(deps, id)).rejects.toMatchObject({ code: 'rate-limited' });
});

it('a storage that is a copy of another finds that out first', async () => {
  start.mockRejectedValue(Object.assign(new Error('copied'), { code: 'device-copied' }));
  await expect(retentionRules(deps, id)).rejects.toMatchObject({ code: 'device-copied' });
  expect(asked).toEqual([]);
});
