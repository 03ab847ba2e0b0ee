import { sha256 } from '../../../verify/src/chain/canonical.ts';
import { releasesPath } from '../../../verify/src/chain/reading.ts';
import {
  parseStatement,
  type ReleaseStatement,
  type Statement,
} from '../../../verify/src/chain/statement.ts';
import type { CheckedFile, StatedNow } from '../../store/proof.ts';

/** A file of the page, hashed. */
export interface ReadFile extends Pick<CheckedFile, 'path' | 'hash'> {
  /** The relay gives what it has now, not what this page is of. */
  readonly isAnew: boolean;
}

interface Read {
  readonly statement: Statement;
  /** The SHA-256 of it, by which the next step names it. */
  readonly hash: string;
}

/** Steps of the chain before the newest one that are looked at: no tab stays open for longer. */
const mostSteps = 20;

/**
 * Finds the release that a page is of: the one that its service worker holds on to; else, of the relay's chain, the one that differs in the
 * fewest of its files, since a tab may be open across an upgrade. It follows hashes, and checks no signature.
 * @param worker asks the service worker for the release that it holds on to; null where none answers this page
 */
export async function releaseInUse(
  fetch: typeof globalThis.fetch,
  worker: (() => Promise<string | null>) | null,
  files: readonly ReadFile[],
): Promise<{
  readonly inUse: ReleaseStatement | null;
  readonly isHeld: boolean;
  /** The newest one of the relay. */
  readonly stated: ReleaseStatement | null;
  readonly relation: StatedNow;
}> {
  const [held, newest] = await Promise.all([readHeld(worker), readStep(fetch, 'release.json')]);
  const stated = released(newest);
  const last = typeof newest === 'object' ? newest.hash : null;
  if (held !== null) {
    const relation = relationOf(held.release, held.hash === last, newest);
    return { inUse: held.release, isHeld: true, stated, relation };
  }
  const inUse = stated && (await closest(fetch, stated, files));
  return { inUse, isHeld: false, stated, relation: relationOf(inUse, inUse === stated, newest) };
}

/** Compares a file with the release in use, and one that the relay has given anew with what it states now, too. */
export function compared(
  { hash, isAnew, path }: ReadFile,
  inUse: ReleaseStatement | null,
  stated: ReleaseStatement | null,
): CheckedFile['result'] {
  if (hash === null) return 'unreadable';
  if (inUse === null) return 'unknown';
  const expected = inUse.files.app[path];
  if (expected === hash) return 'same';
  if (isAnew && stated?.files.app[path] === hash) return 'stated';
  return expected === undefined ? 'not-in-release' : 'different';
}

async function readHeld(worker: (() => Promise<string | null>) | null) {
  const text = worker && (await worker());
  if (text === null) return null;
  const { hash, statement } = await parsed(new TextEncoder().encode(text));
  return statement.type === 'sinetti-release' ? { release: statement, hash } : null;
}

async function readStep(
  fetch: typeof globalThis.fetch,
  name: string,
): Promise<Read | Extract<StatedNow['state'], 'none' | 'unreadable'>> {
  try {
    const answer = await fetch(`${releasesPath}/${name}`, { cache: 'no-store', credentials: 'omit' });
    if (answer.status === 404) return 'none';
    return await parsed(new Uint8Array(await answer.arrayBuffer()));
  } catch {
    return 'unreadable';
  }
}

async function parsed(bytes: Uint8Array): Promise<Read> {
  return { statement: parseStatement(bytes), hash: await sha256(bytes) };
}

function released(step: Awaited<ReturnType<typeof readStep>>): ReleaseStatement | null {
  return typeof step === 'object' && step.statement.type === 'sinetti-release' ? step.statement : null;
}

function relationOf(
  inUse: ReleaseStatement | null,
  isSame: boolean,
  newest: Awaited<ReturnType<typeof readStep>>,
): StatedNow {
  const stated = released(newest);
  if (stated === null) return { state: newest === 'none' ? 'none' : 'unreadable' };
  if (isSame || inUse === null) return { state: 'same' };
  return { state: stated.seq > inUse.seq ? 'newer' : 'other', version: stated.version };
}

/** Goes back along the chain for the release that differs in the fewest files; of two alike it is the newer one. */
async function closest(
  fetch: typeof globalThis.fetch,
  newest: ReleaseStatement,
  files: readonly ReadFile[],
): Promise<ReleaseStatement> {
  const loaded = files.filter(({ hash, isAnew }) => hash !== null && !isAnew);
  const differing = ({ files: { app } }: ReleaseStatement) =>
    loaded.filter(({ hash, path }) => app[path] !== hash).length;
  let found = newest;
  let { prev, seq }: { prev: string | null; seq: number } = newest;
  while (differing(found) > 0 && seq > 1 && newest.seq - seq < mostSteps) {
    const step = await readStep(fetch, `chain/${seq - 1}.json`);
    // Another relay behind the same address, or a chain that this client doesn't understand.
    if (typeof step !== 'object' || step.hash !== prev) break;
    const { statement } = step;
    ({ prev, seq } = statement);
    if (statement.type === 'sinetti-release' && differing(statement) < differing(found)) found = statement;
  }
  return found;
}
