import { errorCode } from '../../lib/errorCode.ts';
import type { Deps } from '../core/deps.ts';
import { takeSignedNames } from '../core/signedNames.ts';

/**
 * Has this device sign the name that the person has just typed, for those who needn't believe the relay. To be called while
 * the vault is open. Without it the person is known by the name that the relay says. Never rejects.
 */
export async function signOwnName(
  { api, crypto, log }: Pick<Deps, 'api' | 'crypto' | 'log'>,
  { id, username }: { readonly id: string; readonly username: string },
): Promise<void> {
  try {
    await takeSignedNames({ api, crypto }, [id]);
    await api.putSignedName(await crypto.signName(username));
  } catch (error) {
    log.warn('name-not-signed', { code: errorCode(error) });
  }
}
