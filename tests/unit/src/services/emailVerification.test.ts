import { cancelEmailChange, confirmEmail, sendEmailCode } from '@sinetti/relay/contract/emails';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { updateEmailVerification } from '#src/services/account/emailVerification.ts';
import { currentUserAtom } from '#src/store/session.ts';
import { refused, type TestDeps, testDeps } from './support/deps.ts';
import { account, anna } from './support/exported.ts';

const call = vi.fn<(route: unknown, input: unknown) => Promise<unknown>>();
const accountData = vi.fn<Api['accountData']>();
const writeLocal = vi.fn<CryptoApi['writeLocal']>();
let deps: TestDeps;
beforeEach(() => {
  vi.resetAllMocks();
  accountData.mockResolvedValue({ ...account, email_verified: false, pending_email: 'new@example.org' });
  deps = testDeps({
    api: { accountData, call: call as Api['call'] },
    crypto: { writeLocal },
  });
});

describe('the state of the email', () => {
  it('is what the relay has', async () => {
    expect(await updateEmailVerification(deps, undefined)).toEqual({
      isVerified: false,
      pending: 'new@example.org',
    });
    expect(call).not.toHaveBeenCalled();
  });

  it('is none where the relay verifies none', async () => {
    accountData.mockResolvedValue(account);
    expect(await updateEmailVerification(deps, undefined)).toBeNull();
  });
});

describe('a code', () => {
  it('is asked for, which leaves the state as it is', async () => {
    expect(await updateEmailVerification(deps, 'send')).toMatchObject({ pending: 'new@example.org' });
    expect(call).toHaveBeenCalledExactlyOnceWith(sendEmailCode, {});
  });

  it('is sent without its spaces, and the profile that comes back is shown and kept', async () => {
    const user = { ...anna, email: 'new@example.org' };
    call.mockResolvedValue(user);
    expect(await updateEmailVerification(deps, { code: ' 1234 5678' })).toEqual({
      isVerified: true,
      pending: null,
    });
    expect(call).toHaveBeenCalledExactlyOnceWith(confirmEmail, { body: { code: '12345678' } });
    expect(deps.store.get(currentUserAtom)).toEqual(user);
    expect(writeLocal).toHaveBeenCalledExactlyOnceWith('profile', JSON.stringify(user));
    // An answer that does not come would make a success look like a failure.
    expect(accountData).not.toHaveBeenCalled();
  });

  it.each(['1234567', '123456789', 'abcdefgh', ''])('that is none is not sent: %j', async (code) => {
    await expect(updateEmailVerification(deps, { code })).rejects.toMatchObject({ code: 'wrong-code' });
    expect(call).not.toHaveBeenCalled();
  });

  it.each([
    ['wrong-code', refused('wrong-code')],
    ['unreachable', new NetworkError('unreachable')],
  ])('that is not taken has the code of the failure: %s', async (code, error) => {
    call.mockRejectedValue(error);
    await expect(updateEmailVerification(deps, { code: '12345678' })).rejects.toMatchObject({ code });
    expect(deps.store.get(currentUserAtom)).toBeNull();
  });
});

it('an email that is pending is taken back', async () => {
  expect(await updateEmailVerification(deps, 'cancel')).toEqual({ isVerified: false, pending: null });
  expect(call).toHaveBeenCalledExactlyOnceWith(cancelEmailChange, {});
});
