import type { ClaimedKeyPackage, CryptoApi } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { errorCode, type FailureCode } from '../../lib/errorCode.ts';
import { limits } from '../../net/contract.ts';
import { groupsAtom } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { showToastAtom } from '../../store/toasts.ts';
import type { CommitSubmitter } from '../conversations/commitSubmitter.ts';
import { claimFor } from '../core/claims.ts';
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

/** For each group the epoch in which members were added again, and those who could not be, whose KeyPackages are spared. */
export type AddingTries = Map<string, { readonly epoch: number; readonly unusable: readonly string[] }>;

interface AddAgainOptions {
  readonly deps: Pick<Deps, 'api' | 'crypto' | 'store'>;
  readonly commitSubmitter: Pick<CommitSubmitter, 'settle' | 'submit'>;
  readonly hasEnded: (groupId: string) => boolean;
}

/**
 * Adds members again who have no device in the group since theirs were revoked, and another one by now: nobody lets that one
 * in but the creator, and meanwhile nothing is sent. Only those whom this device has seen to lose theirs: the relay's list
 * alone adds nobody.
 */
export async function addMembersAgain(
  options: AddAgainOptions,
  tries: AddingTries,
  groupId: string,
  withoutKeys: readonly string[],
): Promise<void> {
  const { crypto } = options.deps;
  const conversationId = groupConversationId(groupId);
  await options.commitSubmitter.settle(conversationId);
  const { epoch, group } = await crypto.conversation(conversationId);
  const before = tries.get(groupId);
  const unusable = before?.unusable ?? [];
  const wanted = withoutKeys.filter(
    (userId) => group?.withoutDeviceIds.includes(userId) === true && !unusable.includes(userId),
  );
  // Once an epoch: what was claimed is used up.
  if (options.hasEnded(groupId) || wanted.length === 0 || before?.epoch === epoch) return;
  const claimed = await claimFor(options.deps, conversationId, wanted.slice(0, limits.peoplePerClaim));
  // No person has chosen whom to add: a relay that hands out devices of others would choose.
  const keyPackages = claimed.filter(({ userId }) => wanted.includes(userId));
  if (keyPackages.length === 0) return;
  tries.set(groupId, { epoch, unusable });
  const left = await addEach(options, groupId, keyPackages);
  tries.set(groupId, { epoch, unusable: [...unusable, ...left] });
}

/**
 * Adds people by one commit. Where one of them can't be added, each gets a commit of their own, so that the others come in,
 * and the person is told whom that leaves out.
 * @returns the ids of those
 */
async function addEach(
  { commitSubmitter, deps }: AddAgainOptions,
  groupId: string,
  keyPackages: readonly ClaimedKeyPackage[],
): Promise<readonly string[]> {
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
