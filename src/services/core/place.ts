/** One device, one place: each start of this browser's storage is registered before anything encrypted leaves (PROTOCOL section 3). */
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { isApiError } from '../../net/errors.ts';
import type { Deps } from './deps.ts';

/** Dispatched when this browser's data was found in another place too: nothing may be sent any more. */
export const deviceCopiedEvent = 'device-copied';

/** Other tabs may draw starts meanwhile, but not for ever. */
const maxAttempts = 8;

type PlaceDeps = Pick<Deps, 'api' | 'crypto' | 'events'>;

/**
 * Has the relay know the newest start of this storage.
 * @param isRefused it was refused: the relay is asked even if it is known to have had it
 * @returns its tag, base64url
 * @throws AppError `device-copied`, once {@link deviceCopiedEvent} has been dispatched
 */
export async function registerStart(deps: PlaceDeps, isRefused = false): Promise<string> {
  const { api, crypto } = deps;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { from, isRegistered, number, signature, tag } = await heeding(deps, () => crypto.start());
    if (isRegistered && !isRefused) return tag;
    const answer = await api.putStart({ number, tag, from: [...from], signature });
    const outcome = await heeding(deps, () => crypto.startAnswered(answer));
    if (outcome === 'copied') throw copied(deps);
    if (outcome === 'registered' && answer.tag === tag) return tag;
  }
  throw new AppError('another-start', t('errors.sendFailed'));
}

/**
 * Sends what is encrypted under the name of the registered start.
 * @param named the start as the worker has named it, or null
 */
export async function withStart<T>(
  deps: PlaceDeps,
  named: string | null,
  send: (start: string) => Promise<T>,
): Promise<T> {
  let start = named ?? (await registerStart(deps));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send(start);
    } catch (error) {
      // Another tab has started since; or another place has.
      if (!isApiError(error, 'another-start') || attempt === maxAttempts) throw error;
      start = await registerStart(deps, true);
    }
  }
}

/**
 * Takes in that the relay has another start. Of this device, it is another tab's, or another place's: the relay's answer to
 * the newest of this storage says which.
 * @throws AppError `device-copied`, once {@link deviceCopiedEvent} has been dispatched
 */
export async function startTold(
  deps: PlaceDeps,
  told: { readonly deviceId: string; readonly tag: string },
): Promise<void> {
  const { crypto } = deps;
  if ((await crypto.openDevice()).deviceId !== told.deviceId) return;
  const { tag } = await heeding(deps, () => crypto.start());
  if (tag !== told.tag) await registerStart(deps, true);
}

/** Tells the session that this browser's data is in another place too, and returns the error for whoever was about to send. */
export function copied({ events }: Pick<PlaceDeps, 'events'>): AppError {
  events.dispatchEvent(new Event(deviceCopiedEvent));
  return new AppError('device-copied', t('devices.copiedHere'));
}

/** Tells the session when the worker knows. */
async function heeding<T>(deps: PlaceDeps, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw errorCode(error) === 'device-copied' ? copied(deps) : error;
  }
}
