import type { ClaimedKeyPackage, CommitSubmission } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import { errorCode } from '../../lib/errorCode.ts';
import { forEachLimited } from '../../lib/parallel.ts';
import { limits } from '../../net/contract.ts';
import type { AddedMembers } from '../../store/actions.ts';
import type { GroupProgress } from '../../store/groups.ts';
import { type CommitSubmitter, maxCommits } from '../conversations/commitSubmitter.ts';
import { claimFor } from '../core/claims.ts';
import { groupConversationId } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';

const claimsAtOnce = 2;
/**
 * The most that one commit brings in: as many people as the relay takes at once, and as many KeyPackages as leave each of the
 * others no more to take in at once than a page can. A commit may have more, which is for paths.
 */
const peoplePerCommit = limits.membersPerAdd;
const devicesPerCommit = 500;
const bytesPerCommit = 2 * 1024 * 1024;

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
  const conversationId = groupConversationId(groupId);
  const { claimed, withoutDevice } = await gatherKeys(options, conversationId, others);
  if (claimed.length === 0 && asked.length === 0) throw new AppError('no-device', t('errors.noDevice'));
  const parts = commitSized(claimed);
  const total = claimed.length;
  let done = 0;
  for (const part of parts) {
    const telling =
      parts.length === 1 ? options.progress : () => options.progress({ step: 'adding', done, total });
    await addAll({ ...options, progress: telling }, conversationId, part.keyPackages);
    done += part.people;
  }
  return { asked, withoutDevice };
}

/** The KeyPackages of each person, in the order given; those who have none by their ids. */
async function gatherKeys(
  { deps, progress }: AddingOptions,
  conversationId: string,
  userIds: readonly string[],
) {
  const byPerson = new Map<string, ClaimedKeyPackage[]>(userIds.map((userId) => [userId, []]));
  let done = 0;
  await forEachLimited(partsOf(userIds, limits.peoplePerClaim), claimsAtOnce, async (part) => {
    for (const claimed of await claimFor(deps, conversationId, part)) {
      byPerson.get(claimed.userId)?.push(claimed);
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

interface Part {
  people: number;
  bytes: number;
  readonly keyPackages: ClaimedKeyPackage[];
}

/** @param people the KeyPackages of each */
function commitSized(people: readonly (readonly ClaimedKeyPackage[])[]): Part[] {
  const parts: Part[] = [];
  for (const keyPackages of people) {
    const bytes = keyPackages.reduce((sum, { keyPackage }) => sum + (keyPackage.length * 3) / 4, 0);
    let part = parts.at(-1);
    const isFull =
      part === undefined ||
      part.people === peoplePerCommit ||
      part.keyPackages.length + keyPackages.length > devicesPerCommit ||
      part.bytes + bytes > bytesPerCommit;
    if (part === undefined || isFull) parts.push((part = { people: 0, bytes: 0, keyPackages: [] }));
    part.people += 1;
    part.bytes += bytes;
    part.keyPackages.push(...keyPackages);
  }
  return parts;
}
