import type { Deps } from '../core/deps.ts';

/**
 * Has the worker take in who of the people that this person has to do with has revoked a device.
 * @param since RFC 3339: leaves out what was known before
 * @returns the own devices among those
 */
export async function takeInRevocations(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  ownUserId: string,
  since?: string,
): Promise<readonly string[]> {
  const revoked = await api.visibleRevocations(since);
  await crypto.setRevoked(
    revoked.map(({ id, statement, user_id }) => ({ userId: user_id, deviceId: id, statement })),
  );
  return revoked.filter(({ user_id }) => user_id === ownUserId).map(({ id }) => id);
}
