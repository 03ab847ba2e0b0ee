import { expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { loadRetention } from '#src/services/backup/retention.ts';

it('is asked of the relay; a failure has a sentence', async () => {
  const api = {
    getStorage: vi
      .fn<Api['getStorage']>()
      .mockResolvedValue({ entryDays: 90, fewestEntryDays: 90, historyDays: null }),
  };
  const deps = { api: api as unknown as Api };
  expect(await loadRetention(deps)).toEqual({ entryDays: 90, fewestEntryDays: 90, historyDays: null });
  api.getStorage.mockRejectedValue(new Error('boom'));
  await expect(loadRetention(deps)).rejects.toMatchObject({
    name: 'AppError',
    message: 'How long the server keeps messages could not be asked.',
  });
});
