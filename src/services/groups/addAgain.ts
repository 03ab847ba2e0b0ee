import type { ClaimedKeyPackage, CryptoApi } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { errorCode, type FailureCode } from '../../lib/errorCode.ts';
import { groupsAtom } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { showToastAtom } from '../../store/toasts.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';

/** Failures that are of the KeyPackages of one person, and say nothing of the others who are added with them. */
const ofOnePerson: readonly FailureCode[] = [
  'bad-signature',
  'identity-changed',
  'invalid-credential',
  'invalid-key-package',
  'invalid-leaf',
  'malformed',
  'unsupported',
];

export interface AddAgainOptions {
  readonly deps: Pick<Deps, 'crypto' | 'store'>;
  readonly commitSubmitter: Pick<CommitSubmitter, 'settle' | 'submit'>;
  readonly groupId: string;
  readonly keyPackages: readonly ClaimedKeyPackage[];
}

/**
 * Adds people by one commit. Where one of them can't be added, each gets a commit of their own, so that the others come in,
 * and the person is told whom that leaves out.
 * @returns the ids of those
 */
export async function addEachAgain(options: AddAgainOptions): Promise<readonly string[]> {
  const { commitSubmitter, deps, groupId, keyPackages } = options;
  const conversationId = groupConversationId(groupId);
  const people = [...new Set(keyPackages.map(({ userId }) => userId))];
  if (await isAdded(deps.crypto, commitSubmitter, { conversationId, keyPackages })) return [];
  const left: string[] = [];
  if (people.length === 1) left.push(...people);
  else {
    for (const person of people) {
      await commitSubmitter.settle(conversationId);
      const theirs = keyPackages.filter(({ userId }) => userId === person);
      const input = { conversationId, keyPackages: theirs };
      if (!(await isAdded(deps.crypto, commitSubmitter, input))) left.push(person);
    }
  }
  if (left.length > 0) name(deps, groupId, left);
  return left;
}

/** Returns whether people are added, or another commit was faster; false where they can't be. */
async function isAdded(
  crypto: Pick<CryptoApi, 'addMembers'>,
  { submit }: Pick<CommitSubmitter, 'submit'>,
  input: Parameters<CryptoApi['addMembers']>[0],
): Promise<boolean> {
  try {
    return (await submit(await crypto.addMembers(input))).kind !== 'refused';
  } catch (error) {
    if (!ofOnePerson.includes(errorCode(error))) throw error;
    return false;
  }
}

function name({ store }: Pick<Deps, 'store'>, groupId: string, left: readonly string[]): void {
  const names = left.map(store.get(nameOfAtom)).join(', ');
  const group = store.get(groupsAtom).items.find(({ id }) => id === groupId)?.name ?? '';
  store.set(showToastAtom, 'info', t('groups.notAddedAgain', { names, group }));
}
