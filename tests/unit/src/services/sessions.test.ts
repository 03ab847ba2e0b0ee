import { beforeEach, expect, it, vi } from 'vitest';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { updateSessions } from '#src/services/account/sessions.ts';
import { refused, type TestDeps, testConfirmation, testDeps } from './support/deps.ts';

const opened = '2026-03-01T12:00:00.000Z';
const session = (id: string, change: object = {}) => ({
  id,
  device_id: null,
  created_at: opened,
  last_seen_at: opened,
  expires_at: '2026-03-01T12:15:00.000Z',
  current: false,
  ...change,
});
const api = { listSessions: vi.fn<Api['listSessions']>(), endSession: vi.fn<Api['endSession']>() };
let deps: TestDeps;
let confirmation: ReturnType<typeof testConfirmation>;

beforeEach(() => {
  vi.resetAllMocks();
  deps = testDeps({ api });
  confirmation = testConfirmation();
  api.listSessions.mockResolvedValue([
    session('of-a-device', { device_id: 'device-phone' }),
    session('this-one', { current: true }),
    session('loose'),
  ]);
});

const left = [{ id: 'loose', createdAt: opened }];

it('lists the sessions elsewhere that have no device, and ends none unasked', async () => {
  expect(await updateSessions(deps, confirmation)).toEqual(left);
  expect(api.endSession).not.toHaveBeenCalled();
});

it('ends a session without the password where the relay asks for none', async () => {
  api.endSession.mockResolvedValue(undefined);
  expect(await updateSessions(deps, confirmation, 'another')).toEqual(left);
  expect(api.endSession.mock.calls).toEqual([['another']]);
  expect(confirmation.asked).toEqual([]);
});

it('ends a session by the password where the relay asks for it', async () => {
  api.endSession.mockRejectedValueOnce(refused('proof-required')).mockResolvedValue(undefined);
  await updateSessions(deps, confirmation, 'another');
  expect(api.endSession.mock.calls).toEqual([['another'], ['another', confirmation.prove]]);
  expect(confirmation.asked).toEqual([{ kind: 'end-session', target: expect.any(String), id: 'another' }]);
});

it('takes a session that has ended by itself for ended', async () => {
  api.endSession.mockRejectedValue(refused('not-found'));
  expect(await updateSessions(deps, confirmation, 'another')).toEqual(left);
});

it('says what could not be done: ending a session, or listing them', async () => {
  api.endSession.mockRejectedValue(new NetworkError('unreachable'));
  await expect(updateSessions(deps, confirmation, 'another')).rejects.toMatchObject({
    message: 'The log-in could not be ended. Please try again.',
  });
  expect(api.listSessions).not.toHaveBeenCalled();
  api.listSessions.mockRejectedValue(new NetworkError('unreachable'));
  await expect(updateSessions(deps, confirmation)).rejects.toMatchObject({
    message: 'Log-ins without a device could not be loaded.',
  });
});
