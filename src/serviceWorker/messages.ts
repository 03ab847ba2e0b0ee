import { type ChatLink, parseChatPath } from './chatPath.ts';

/** From a page to the version that waits: take over. */
export const activateMessage = 'activate';

/** From a page to the version in use: a navigation that ends in nothing (updates.ts tells what it is for). */
export const nudgePath = '/service-worker/nudge';

/** From a page, with a port for the answer: compare what the relay has with the release in use. The answer is a {@link ReleaseVerdict}. */
export const verdictMessage = 'release-verdict';

/** From a page, with a port for the answer: the person agrees to the release of this hash. The answer is whether it is one to agree to. */
export interface AgreeMessage {
  readonly type: 'release-agreed';
  readonly release: string;
}

/** How the relay's newest release stands to the one that this browser holds on to. */
export type ReleaseVerdict =
  /** The relay states no releases, and never has for this browser. */
  | { readonly state: 'unsigned' | 'unreachable' }
  | { readonly state: 'current'; readonly version: string }
  | ({ readonly state: 'newer'; readonly release: string } & ReleaseChanges)
  | ReleaseRefusal;

/** What another release changes. */
export interface ReleaseChanges {
  readonly version: string;
  readonly app: boolean;
  /** The frame and worker that hold the keys. */
  readonly room: boolean;
  readonly policies: boolean;
}

/** What the relay serves comes into no use. */
export interface ReleaseRefusal {
  readonly state: 'refused';
  /** A code of `Failure` (verify/src/chain/errors.ts). */
  readonly code: string;
  /** For operators, in English. */
  readonly reason: string;
  /** Whether the script of the service worker that the relay serves is of some release of its chain. */
  readonly isKnownScript: boolean;
}

/**
 * To the pages. `refused`: a file was not what the build says, and isn't used. `takeover`: another version has come. `pinned`: a
 * signed release is held on to.
 * `open-chat`: the person has clicked on a notification of that chat. `not-installed`: the first version is not the release.
 */
export type WorkerMessage =
  | { readonly type: 'refused' | 'takeover' | 'pinned' }
  | { readonly type: 'open-chat'; readonly path: string }
  | { readonly type: 'not-installed'; readonly refusal: ReleaseRefusal };

/** The refusal in a message of the first version that could not be installed. */
export function refusalIn(data: unknown): ReleaseRefusal | null {
  if (!isWorkerMessage(data, 'not-installed')) return null;
  const { refusal } = data as { readonly refusal?: ReleaseRefusal };
  return refusal ?? null;
}

export function isWorkerMessage(data: unknown, type: WorkerMessage['type']): boolean {
  return typeof data === 'object' && data !== null && 'type' in data && data.type === type;
}

export function openedChatIn(data: unknown): ChatLink | null {
  if (!isWorkerMessage(data, 'open-chat')) return null;
  return parseChatPath((data as { readonly path?: unknown }).path);
}
