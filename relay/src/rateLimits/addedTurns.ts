import { ApiError } from '../errors.ts';
import type { RateLimiter, Share } from './rateLimiter.ts';

/**
 * Takes for each of these people one of the groups that a day can put them into, or ask them for: of all others, and of this
 * one, who could use up those of the others otherwise.
 * @returns what is to be given back where nothing comes of it
 * @throws ApiError quota
 */
export async function takeAddedTurns(
  rateLimiter: Pick<RateLimiter, 'giveBack' | 'wait'>,
  adderId: string,
  userIds: readonly string[],
): Promise<Share[]> {
  const shares = [...new Set(userIds)].flatMap((userId): Share[] => [
    ['added.account-target', `${adderId} ${userId}`],
    ['added.target', userId],
  ]);
  for (const [index, share] of shares.entries()) {
    const waitMs = await rateLimiter.wait(share);
    if (waitMs === 0) continue;
    await rateLimiter.giveBack(...shares.slice(0, index));
    const detail = 'Somebody of them was put into many groups today. Try again later.';
    throw new ApiError('quota', detail, { quota: 'groups', retryAfter: Math.ceil(waitMs / 1000) });
  }
  return shares;
}
