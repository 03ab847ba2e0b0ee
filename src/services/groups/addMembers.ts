import type { ClaimedKeyPackage, CommitSubmission } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import { limits } from '../../net/contract.ts';
import type { AddedMembers } from '../../store/actions.ts';
import type { GroupProgress } from '../../store/groups.ts';
import { type CommitSubmitter, maxCommits } from '../conversations/commitSubmitter.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';

const claimsAtOnce = 2;
/**
 * The most that one commit brings in: as many people as the relay takes at once, as many devices as its sizes allow.
 */
const peoplePerCommit = limits.membersPerAdd;
const devicesPerCommit = 500;

export interface AddingOptions {
  readonly deps: Pick<Deps, 'api' | 'crypto'>;
  readonly commitSubmitter: CommitSubmitter;
  readonly progress: (step: GroupProgress) => void;
}

/**
 * Asks those among people who want to be asked first, and adds the others with all their devices, by as few commits as it takes.
 * @throws AppError `no-device` when nobody could be added or asked
 */
export async function addMembers(
  options: AddingOptions,
  groupId: string,
  userIds: readonly string[],
): Promise<AddedMembers> {
  // Before anything is claimed of them: they are in no tree until they have accepted.
  const asked = await options.deps.api.inviteGroupMembers(groupId, userIds);
  const others = userIds.filter((userId) => !asked.includes(userId));
  const { claimed, withoutDevice } = await gatherKeys(options, others);
  if (claimed.length === 0 && asked.length === 0) throw new AppError('no-device', t('errors.noDevice'));
  for (const part of commitSized(claimed)) await addAll(options, groupConversationId(groupId), part);
  return { asked, withoutDevice };
}

/** The KeyPackages of each person, in the order given; those who have none by their ids. */
async function gatherKeys({ deps: { api }, progress }: AddingOptions, userIds: readonly string[]) {
  const byPerson = new Map<string, ClaimedKeyPackage[]>(userIds.map((userId) => [userId, []]));
  let done = 0;
  await forEachLimited(partsOf(userIds, limits.peoplePerClaim), claimsAtOnce, async (part) => {
    for (const { deviceId, keyPackage, userId } of await api.claimKeyPackagesOfMany(part)) {
      byPerson.get(userId)?.push({ userId, deviceId, keyPackage });
    }
    done += part.length;
    progress({ step: 'gathering-keys', done, total: userIds.length });
  });
  const people = [...byPerson];
  return {
    claimed: people.map(([, keyPackages]) => keyPackages).filter(({ length }) => length > 0),
    withoutDevice: people.filter(([, { length }]) => length === 0).map(([userId]) => userId),
  };
}

/** Null when another own commit, of a message say, has come in between. */
async function addition(
  { crypto }: AddingOptions['deps'],
  conversationId: string,
  keyPackages: readonly ClaimedKeyPackage[],
): Promise<CommitSubmission | null> {
  try {
    return await crypto.addMembers({ conversationId, keyPackages });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'pending') return null;
    // Trying again, as the catalogue's sentence asks for, would change nothing.
    if (code === 'identity-changed') throw new AppError(code, t('errors.identityChanged'), { cause: error });
    throw error;
  }
}

async function addAll(
  { commitSubmitter, deps, progress }: AddingOptions,
  conversationId: string,
  keyPackages: readonly ClaimedKeyPackage[],
): Promise<void> {
  const wanted = new Set(keyPackages.map(({ userId }) => userId));
  for (let attempt = 0; attempt < maxCommits; attempt += 1) {
    await commitSubmitter.settle(conversationId);
    const { members } = await deps.crypto.conversation(conversationId);
    const present = new Set(members.map(({ userId }) => userId));
    if ([...wanted].every((userId) => present.has(userId))) return;
    progress({ step: 'sealing' });
    const submission = await addition(deps, conversationId, keyPackages);
    if (submission === null) continue;
    progress({ step: 'submitting' });
    const outcome = await commitSubmitter.submit(submission);
    if (outcome.kind === 'refused') throw outcome.reason;
  }
  throw new AppError('stale-epoch', t('errors.addMemberFailed'));
}

function partsOf<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size));
}

/** @param people the KeyPackages of each */
function commitSized(people: readonly (readonly ClaimedKeyPackage[])[]): ClaimedKeyPackage[][] {
  const parts: { people: number; keyPackages: ClaimedKeyPackage[] }[] = [];
  for (const keyPackages of people) {
    const part = parts.at(-1);
    const isFull =
      part === undefined ||
      part.people === peoplePerCommit ||
      part.keyPackages.length + keyPackages.length > devicesPerCommit;
    if (isFull) parts.push({ people: 1, keyPackages: [...keyPackages] });
    else {
      part.people += 1;
      part.keyPackages.push(...keyPackages);
    }
  }
  return parts.map(({ keyPackages }) => keyPackages);
}
