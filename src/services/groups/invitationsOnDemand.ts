import { withTexts } from '../../i18n/i18n.ts';
import type { GroupInvitationChange } from '../../store/groupInvitations.ts';
import type { Deps } from '../core/deps.ts';

/** See AppActions.updateGroupInvitations. Its code comes only now. @throws AppError */
export async function updateGroupInvitations(
  deps: Pick<Deps, 'api' | 'store'>,
  change?: GroupInvitationChange,
): Promise<void> {
  const invitations = await withTexts('tabs', import('./invitations.ts'));
  await invitations.updateGroupInvitations(deps, change);
}
