import { t } from '../../i18n/i18n.ts';
import { type GroupInvitationChange, groupInvitationsAtom } from '../../store/groupInvitations.ts';
import { displayName } from '../../store/people.ts';
import { currentUserAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import type { Deps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

/** See AppActions.updateGroupInvitations. @throws AppError */
export async function updateGroupInvitations(
  { api, store }: Pick<Deps, 'api' | 'store'>,
  change?: GroupInvitationChange,
): Promise<void> {
  if (change !== undefined) {
    try {
      if ('withdrawFrom' in change) await api.withdrawGroupInvitation(change.groupId, change.withdrawFrom);
      else await api.answerGroupInvitation(change.groupId, change.answer === 'accept');
    } catch (error) {
      throw toAppError(error, t('invitations.failed'));
    }
  }
  const before = new Set(store.get(groupInvitationsAtom).map(keyOf));
  let present: Awaited<ReturnType<typeof api.listGroupInvitations>>;
  try {
    present = await api.listGroupInvitations();
  } catch (error) {
    throw toAppError(error, t('invitations.notLoaded'));
  }
  store.set(groupInvitationsAtom, present);
  const ownId = store.get(currentUserAtom)?.id;
  for (const invitation of present) {
    const { accepted, creator, user } = invitation;
    if (before.has(keyOf(invitation))) continue;
    if (user.id === ownId && !accepted)
      store.set(showToastAtom, 'info', t('invitations.came', { name: displayName(creator) }));
    else if (creator.id === ownId && accepted)
      store.set(showToastAtom, 'info', t('invitations.acceptedBy', { name: displayName(user) }));
  }
}

function keyOf({ accepted, group_id, user }: { accepted: boolean; group_id: string; user: { id: string } }) {
  return `${group_id} ${user.id} ${accepted}`;
}
