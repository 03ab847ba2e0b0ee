import { t } from '../../i18n/i18n.ts';
import { isApiError } from '../../net/errors.ts';
import type { OpenSession } from '../../store/actions.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

type SessionsConfirmation = Pick<Confirmation, 'confirmWithPassword'>;

/** See AppActions.updateSessions. @throws AppError `cancelled` */
export async function updateSessions(
  deps: Pick<Deps, 'api' | 'store'>,
  confirmation: SessionsConfirmation,
  endedId?: string,
): Promise<readonly OpenSession[]> {
  if (endedId !== undefined) await end(deps, confirmation, endedId);
  try {
    const sessions = await deps.api.listSessions();
    return sessions
      .filter(({ current, device_id }) => !current && device_id === null)
      .map(({ created_at, id }) => ({ id, createdAt: created_at }));
  } catch (error) {
    throw toAppError(error, t('sessions.loadFailed'));
  }
}

/** Ends a session, by the password where the relay asks for it, which it does for one that was opened after this one. */
async function end(
  { api, store }: Pick<Deps, 'api' | 'store'>,
  { confirmWithPassword }: SessionsConfirmation,
  id: string,
): Promise<void> {
  const target = store.get(currentUserAtom)?.username ?? '';
  try {
    await api.endSession(id).catch((error: unknown) => {
      if (!isApiError(error, 'proof-required')) throw error;
      return api.endSession(id, confirmWithPassword({ kind: 'end-session', target, id }));
    });
  } catch (error) {
    // It has ended by itself.
    if (!isApiError(error, 'not-found')) throw toAppError(error, t('sessions.endFailed'));
  }
}
