import { expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { loadDiscoverability, setDiscoverability } from '#src/services/account/discoverability.ts';
import { account } from './support/exported.ts';

it('is read from what the relay holds, and changed there; failures have a sentence', async () => {
  const api = {
    accountData: vi.fn<Api['accountData']>().mockResolvedValue(account),
    putDiscoverability: vi.fn<Api['putDiscoverability']>().mockResolvedValue(undefined),
  };
  const deps = { api: api as unknown as Api };
  expect(await loadDiscoverability(deps)).toEqual({ found_by: 'both', shows_email: false });
  await setDiscoverability(deps, { found_by: 'none', shows_email: false });
  expect(api.putDiscoverability).toHaveBeenCalledExactlyOnceWith({ found_by: 'none', shows_email: false });
  api.accountData.mockRejectedValue(new Error('boom'));
  api.putDiscoverability.mockRejectedValue(new Error('boom'));
  const failure = { name: 'AppError', message: 'This could not be loaded or changed. Please try again.' };
  await expect(loadDiscoverability(deps)).rejects.toMatchObject(failure);
  await expect(setDiscoverability(deps, { found_by: 'both', shows_email: true })).rejects.toMatchObject(
    failure,
  );
});
