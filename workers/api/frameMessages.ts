/**
 * The messages between the page and the frame at the origin of the keys. The frame says `ready` to its parent when it
 * is there, and whenever it is asked by `hello`; the page answers `connect`, once, with the port through which all the
 * rest goes.
 */

/** The version of the worker's interface. A page and a frame of two versions don't talk. */
export const interfaceVersion = 4;

/** From the frame to its parent. */
export interface Ready {
  readonly type: 'ready';
  readonly version: number;
}

/** From the page to the frame, with the one port. */
export interface Connect {
  readonly type: 'connect';
}

/** From the page through that port. */
export type FrameRequest =
  /** With a port, through which the worker is called from now on. */
  | { readonly type: 'start' }
  /** Deletes the session at once, and ends the worker whatever it is doing. */
  | { readonly type: 'lock' }
  /** Keeps the frame and its files in this browser, so that they are there offline. */
  | { readonly type: 'keep' }
  /** The frame is visible now, and is to look as the page does. */
  | { readonly type: 'visible'; readonly language: string; readonly theme: string }
  /** With a port, for {@link RoomRequest} and {@link RoomNotice} from now on. */
  | { readonly type: 'room' }
  /** The page can't show the frame any longer: what it asks is called off. */
  | { readonly type: 'dismiss' }
  /** With a port, through which another instance of the worker's script is called, which has no keys (proofApi.ts). */
  | { readonly type: 'prove' }
  /** Ends all of those. */
  | { readonly type: 'end-proof' };

/** From the frame through that port. */
export type FrameNotice =
  /** The session is deleted, by this page or in another tab. */
  | { readonly type: 'locked' }
  /** It couldn't be deleted. */
  | { readonly type: 'lock-failed'; readonly name: string }
  /** The worker can't be loaded, or has died. */
  | { readonly type: 'broken' }
  /** The same of an instance that proves things. */
  | { readonly type: 'proof-broken' }
  /** The frame asks for the password: the page makes it visible, over everything else, and answers `visible`. */
  | { readonly type: 'show' }
  /** It asks for nothing any more. */
  | { readonly type: 'hide' };

/** From the page through the port that is about releases. */
export type RoomRequest =
  /** The person agrees to the release whose statement has this SHA-256. The answer is `agreed`. */
  | { readonly type: 'agree'; readonly release: string }
  /** Compare what the relay has for the origin of the keys once more. The answer is a {@link RoomVerdict}. */
  | { readonly type: 'look' };

/** From the frame through that port. */
export type RoomNotice =
  /** `done` if the release is one to agree to, and has come into use here. */
  | { readonly type: 'agreed'; readonly done: boolean }
  /** A service worker that belongs to no release has come to this origin: the session is deleted. */
  | { readonly type: 'unknown-worker' }
  | RoomVerdict
  /** A version of this origin didn't come into use: a file was another one than the build says, or couldn't be had. */
  | { readonly type: 'not-installed'; readonly code: 'hash-mismatch' | 'not-installed' };

/** From the frame: what it knows now of the relay's releases. It takes the place of what it has said before. */
export interface RoomVerdict {
  readonly type: 'verdict';
  /** Null where nothing is refused. */
  readonly refusal: RoomRefusal | null;
}

/** The relay serves something for the origin of the keys that is none of its releases. */
export interface RoomRefusal {
  /** A code of `Failure` (verify/src/chain/errors.ts). */
  readonly code: string;
  /** For operators, in English. */
  readonly reason: string;
  /** True if nothing is kept at this origin yet, so that the frame is the relay's. */
  readonly isFirst: boolean;
}

/** Returns whether a message that came from elsewhere has one of these types. */
export function isOfType<T extends string>(
  data: unknown,
  ...types: readonly T[]
): data is { readonly type: T } {
  return (
    typeof data === 'object' &&
    data !== null &&
    'type' in data &&
    (types as readonly unknown[]).includes(data.type)
  );
}

/** Returns what a frame says of the relay's releases; null for anything else. */
export function parseRoomVerdict(data: unknown): RoomVerdict | null {
  if (!isOfType(data, 'verdict')) return null;
  const { refusal } = data as { readonly refusal?: Partial<RoomRefusal> | null };
  if (refusal === null) return { type: 'verdict', refusal };
  const { code, isFirst, reason } = refusal ?? {};
  if (typeof code !== 'string' || typeof reason !== 'string' || typeof isFirst !== 'boolean') return null;
  return { type: 'verdict', refusal: { code, reason, isFirst } };
}
