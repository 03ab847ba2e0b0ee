import { olderStatesAtom } from '../../store/keys.ts';
import type { Outbox } from '../conversations/outbox.ts';
import type { AccountStates } from '../core/accountState.ts';
import { selfConversationId } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';

export interface OwnRevisionsOptions {
  readonly deps: SessionDeps;
  readonly ownUserId: string;
  readonly accountStates: Pick<AccountStates, 'isSettled'>;
  readonly outbox: Pick<Outbox, 'flush'>;
}

/**
 * Shows where the relay has given one of the person's devices an older vault or account state than another one, and tells
 * the others what it gives to this one, where that is due (PROTOCOL section 2).
 */
export async function compareRevisions(options: OwnRevisionsOptions): Promise<void> {
  const { accountStates, deps, outbox, ownUserId } = options;
  const { crypto, store } = deps;
  const { askAfter, older } = await crypto.ownRevisions();
  store.set(olderStatesAtom, () => older);
  // Asked for after that position was read, and not before: the others compare with what they had said by then.
  if (askAfter === null || !(await accountStates.isSettled())) return;
  if (await crypto.tellRevisions(askAfter)) await outbox.flush(selfConversationId(ownUserId));
}
