import { errorCode } from '../../lib/errorCode.ts';
import { maxCommits } from '../conversations/commitSubmitter.ts';
import type { GroupActionsOptions } from './groupActions.ts';

/** Makes the word of it for the other members; null where there is no membership to end: the relay's list is all that names this person. */
export async function leaveStatement(
  { commitSubmitter, deps: { crypto }, sync }: Pick<GroupActionsOptions, 'commitSubmitter' | 'deps' | 'sync'>,
  conversationId: string,
): Promise<string | null> {
  const state = await sync.catchUp(conversationId);
  if (state.status !== 'joined') return null;
  for (let attempt = 1; ; attempt += 1) {
    await commitSubmitter.settle(conversationId);
    try {
      return await crypto.leaveStatement(conversationId);
    } catch (error) {
      // A device that has never committed in the group has a commit to bring in first.
      if (errorCode(error) !== 'pending' || attempt === maxCommits) throw error;
    }
  }
}
