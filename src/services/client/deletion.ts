import { t } from '../../i18n/i18n.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import type { GroupSummary } from '../../net/api.ts';
import { operationOf, routes } from '../../net/contract.ts';
import { type DeletionProgress, deletionProgressAtom } from '../../store/account.ts';
import { currentUserAtom } from '../../store/session.ts';
import type { Confirmation } from '../core/confirmation.ts';
import type { Deps } from '../core/deps.ts';
import { isUnreachable, toAppError } from '../core/failures.ts';
import { timings } from '../core/timings.ts';
import type { GroupActions } from '../groups/groupActions.ts';
import type { Session } from '../session/session.ts';

const groupsAtOnce = 4;

export interface DeletionOptions {
  readonly deps: Deps;
  readonly ownUserId: string;
  readonly groups: Pick<GroupActions, 'leave' | 'delete'>;
  readonly session: Pick<Session, 'endAccount'>;
  readonly confirmation: Pick<Confirmation, 'confirmWithPassword'>;
}

const deletion = { operation: operationOf(routes.deleteAccount, undefined, undefined), body: '' };

/**
 * Asks for the password, then deletes the account: first the groups that the person has made, for everybody, and the membership of the others, so
 * that their members see it end; then what the relay has; then what this browser has.
 * @throws AppError with the catalogue's sentence; the account is still there then
 */
export async function deleteAccount(options: DeletionOptions): Promise<void> {
  const { api, store } = options.deps;
  const tell = (progress: DeletionProgress | null) => store.set(deletionProgressAtom, () => progress);
  try {
    const target = store.get(currentUserAtom)?.username ?? '';
    // Before any group is ended, so that calling it off changes nothing.
    const { confirmWithPassword } = options.confirmation;
    const proof = await confirmWithPassword({ kind: 'delete-account', target, id: null })(deletion);
    tell({ step: 'groups', done: 0, total: 0 });
    await endGroups(options, tell);
    tell({ step: 'account' });
    await options.session.endAccount(() => api.deleteAccount(async () => proof));
  } catch (error) {
    throw toAppError(error, t('errors.deleteAccountFailed'));
  } finally {
    tell(null);
  }
}

/**
 * Ends as many memberships as it can while the proof is good: with the account the relay ends those that are left.
 */
async function endGroups(
  { deps, groups, ownUserId }: DeletionOptions,
  tell: (progress: DeletionProgress) => void,
): Promise<void> {
  const { api, clock, log } = deps;
  const until = clock.monotonicNow() + timings.groupsBeforeDeletion;
  const own = await api.listGroups().catch((): GroupSummary[] => []);
  let done = 0;
  let isServerSilent = false;
  tell({ step: 'groups', done, total: own.length });
  await forEachLimited(own, groupsAtOnce, async ({ id, creator_id }) => {
    if (isServerSilent || clock.monotonicNow() >= until) return;
    try {
      await (creator_id === ownUserId ? groups.delete(id) : groups.leave(id));
    } catch (error) {
      log.warn('group-not-left', { code: errorCode(error) });
      isServerSilent = isUnreachable(error) || errorCode(error) === 'unreachable';
    }
    done += 1;
    tell({ step: 'groups', done, total: own.length });
  });
}
