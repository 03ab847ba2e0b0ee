import { canonicalText } from '../../verify/src/chain/canonical.ts';
import { type AgreeMessage, inUseMessage, type ReleaseVerdict, verdictMessage } from './releaseMessages.ts';
import type { PinnedReleases } from './releases.ts';

/** A message of a page, with the port for its answer. */
interface Asked {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** Answers what a page asks of releases, and nothing else. */
export function answerReleases(asked: Asked, releases: PinnedReleases): void {
  const answer = answerTo(asked.data, releases);
  if (answer === null) return;
  // A page that asks waits for an answer: where the storage fails nothing is agreed to, and nothing known.
  const failed = asked.data === verdictMessage ? ({ state: 'unreachable' } as const) : null;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  asked.waitUntil(answer.catch(() => failed).then((each) => asked.ports[0]?.postMessage(each)));
}

function answerTo(
  data: unknown,
  releases: PinnedReleases,
): Promise<ReleaseVerdict | boolean | string | null> | null {
  if (data === verdictMessage) return releases.verdict();
  if (data === inUseMessage) return inUse(releases);
  if (typeof data !== 'object' || data === null) return null;
  const { release, type } = data as Partial<AgreeMessage>;
  return type === 'release-agreed' && typeof release === 'string' ? releases.agree(release) : null;
}

async function inUse(releases: PinnedReleases): Promise<string | null> {
  const release = await releases.inUse();
  if (release === null) return null;
  // A release's hash is that of the rest of it.
  const { hash: _, ...statement } = release;
  return canonicalText(statement);
}
