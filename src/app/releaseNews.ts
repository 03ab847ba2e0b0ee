import type { ReleaseProblem } from '../features/session/ReleaseBar.tsx';
import type { ReleaseChanges } from '../serviceWorker/releaseMessages.ts';

/** The relay serves something that is none of its releases. */
export interface Refused {
  readonly origin: 'app' | 'keys';
  readonly problem: ReleaseProblem;
  /** For operators, in English. */
  readonly reason: string;
}

/** A release that the person has not agreed to, by its hash. */
export type Offered = { readonly release: string } & ReleaseChanges;

/** All that is known at one time of the relay's releases. */
export interface Findings {
  /** The refusals at the origin of the app, and at that of the keys. */
  readonly app: Refused | null;
  readonly room: Refused | null;
  readonly offered: Offered | null;
  /** The hash of a release that the person has agreed to, and of which not all could be had. */
  readonly incomplete: string | null;
  /** A version is ready to which there is nothing to agree. */
  readonly isReady: boolean;
  /** The person has read these, by {@link keyOf}. */
  readonly read: ReadonlySet<string>;
}

/** Told in a sentence, with its reasons for operators. */
export interface Problem {
  readonly problem: ReleaseProblem;
  readonly reasons: readonly string[];
  /** The refusals that it tells of, by {@link keyOf}. */
  readonly keys: readonly string[];
}

/** Tells refusals apart: two may give one reason, and be told of by other sentences. */
export const keyOf = ({ origin, problem, reason }: Refused): string => `${origin} ${problem} ${reason}`;

export const nothingFound: Findings = {
  app: null,
  room: null,
  offered: null,
  incomplete: null,
  isReady: false,
  read: new Set(),
};

/**
 * The most serious one first: a frame of the keys that nobody has checked, then somebody else's signatures, other files than were
 * signed, an older release, and none any more.
 */
const bySeverity: readonly ReleaseProblem[] = ['first', 'signature', 'different', 'rollback', 'unsigned'];

/**
 * Decides on the one thing that the person is told or asked. A refusal comes before any question, since the answer may depend on it.
 * @returns null for nothing; `ready` for the plain offer of a version
 */
export function newsOf(findings: Findings): Problem | Offered | 'ready' | null {
  const { app, incomplete, isReady, offered, read, room } = findings;
  const refused = [app, room].filter((each) => each !== null);
  const unread = refused.filter((each) => !read.has(keyOf(each)));
  const problem = bySeverity.find((each) => unread.some((one) => one.problem === each));
  if (problem !== undefined) {
    const told = unread.filter((one) => one.problem === problem);
    return { problem, reasons: [...new Set(told.map(({ reason }) => reason))], keys: told.map(keyOf) };
  }
  // Where something is refused, that is why; and another release than the one that was agreed to is asked about by itself.
  const isOfOffered = offered === null || offered.release === incomplete;
  if (incomplete !== null && refused.length === 0 && isOfOffered)
    return { problem: 'incomplete', reasons: [], keys: [] };
  if (offered !== null) return offered;
  return isReady ? 'ready' : null;
}
