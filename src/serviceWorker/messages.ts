import { type ChatLink, parseChatPath } from './chatPath.ts';
import type { ReleaseMessage } from './releaseMessages.ts';

/** From a page to the version that waits: take over. */
export const activateMessage = 'activate';

/** From a page to the version in use: a navigation that ends in nothing (updates.ts tells what it is for). */
export const nudgePath = '/service-worker/nudge';

/**
 * Under which pages keep in localStorage when the person has last agreed to a release, in milliseconds since 1970; 0 before that, and
 * absent where no signed release is held on to. A service worker has no localStorage.
 */
export const releaseAgreementKey = 'release-agreed';

/**
 * To the pages. `refused`: a file was not what the build says, and isn't used. `takeover`: another version has come. `release`:
 * what of signed releases a page has to be told (releaseMessages.ts).
 * `open-chat`: the person has clicked on a notification of that chat.
 */
export type WorkerMessage =
  | { readonly type: 'refused' | 'takeover' }
  | ReleaseMessage
  | { readonly type: 'open-chat'; readonly path: string };

export function isWorkerMessage(data: unknown, type: WorkerMessage['type']): boolean {
  return typeof data === 'object' && data !== null && 'type' in data && data.type === type;
}

export function openedChatIn(data: unknown): ChatLink | null {
  if (!isWorkerMessage(data, 'open-chat')) return null;
  return parseChatPath((data as { readonly path?: unknown }).path);
}
