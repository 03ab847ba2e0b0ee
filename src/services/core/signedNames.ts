import type { Deps } from './deps.ts';

/** Takes names as the relay has them signed; of the own one, the next that this device signs is a newer one. */
export async function takeSignedNames(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  userIds: readonly string[],
): Promise<void> {
  const names = await api.signedNames(userIds);
  await crypto.takeNames(
    names.map(({ signed_name, user_id }) => ({ userId: user_id, signedName: signed_name })),
  );
}
