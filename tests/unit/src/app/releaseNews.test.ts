import { describe, expect, it } from 'vitest';
import { type Findings, keyOf, newsOf, nothingFound, type Refused } from '#src/app/releaseNews.ts';
import { newer } from '../support/serviceWorkers.ts';

const bySeverity = ['first', 'signature', 'different', 'rollback', 'unsigned'] as const;
const { state: _, ...offered } = newer;
const refusals = (origin: Refused['origin']): readonly (Refused | null)[] => [
  null,
  ...bySeverity.map((problem) => ({ origin, problem, reason: `${problem} at the ${origin}` })),
];

/** Each value of one beside each of the others. */
const combinations: readonly Findings[] = refusals('app').flatMap((app) =>
  refusals('keys').flatMap((room) =>
    [null, offered].flatMap((each) =>
      [null, offered.release, 'another'].flatMap((incomplete) =>
        [false, true].map((isReady) => ({
          app,
          room,
          offered: each,
          incomplete,
          isReady,
          read: new Set<string>(),
        })),
      ),
    ),
  ),
);
const reasonsOf = ({ app, room }: Findings) => [app, room].flatMap((each) => each?.reason ?? []);
/** All is read that is refused. */
const read = (findings: Findings): Findings => ({
  ...findings,
  read: new Set([findings.app, findings.room].flatMap((each) => (each === null ? [] : keyOf(each)))),
});
const isRefused = (findings: Findings) => reasonsOf(findings).length > 0;

describe('of all that is known of the relay’s releases', () => {
  it('nothing is told where there is nothing', () => {
    expect(newsOf(nothingFound)).toBeNull();
  });

  it('the most serious refusal of both origins is told first, whatever else there is', () => {
    for (const findings of combinations.filter(isRefused)) {
      const { app, room } = findings;
      const problems = [app?.problem, room?.problem];
      const problem = bySeverity.find((each) => problems.includes(each));
      const reasons = [app, room].filter((each) => each?.problem === problem).map((each) => each?.reason);
      expect(newsOf(findings)).toMatchObject({ problem, reasons });
    }
  });

  it('the other refusal comes once the first one is read', () => {
    const isOfTwo = ({ app, room }: Findings) =>
      app !== null && room !== null && app.problem !== room.problem;
    for (const findings of combinations.filter(isOfTwo)) {
      const first = newsOf(findings);
      if (first === null || first === 'ready' || !('problem' in first)) throw new Error('nothing is told');
      const next = newsOf({ ...findings, read: new Set(first.keys) });
      const rest = reasonsOf(findings).filter((reason) => !first.reasons.includes(reason));
      expect(next).toMatchObject({ reasons: rest });
    }
  });

  it('what was read is not told again, nor of a download what a refusal explains', () => {
    for (const findings of combinations.filter(isRefused)) {
      expect(newsOf(read(findings))).toEqual(findings.offered ?? (findings.isReady ? 'ready' : null));
    }
  });

  it('a download that broke off is told of before its release is asked about again, and no other one', () => {
    for (const findings of combinations.filter((each) => !isRefused(each))) {
      const { incomplete, isReady, offered: asked } = findings;
      const isTold = incomplete !== null && (asked === null || incomplete === asked.release);
      const news = isTold
        ? { problem: 'incomplete', reasons: [], keys: [] }
        : (asked ?? (isReady ? 'ready' : null));
      expect(newsOf(findings)).toEqual(news);
    }
  });

  it('one reason of both origins is said once', () => {
    const refused = { problem: 'rollback', reason: 'Step 3 is gone.' } as const;
    const news = newsOf({
      ...nothingFound,
      app: { origin: 'app', ...refused },
      room: { origin: 'keys', ...refused },
    });
    expect(news).toMatchObject({ problem: 'rollback', reasons: [refused.reason] });
  });

  it('a graver sentence is told though one with the same reason was read', () => {
    const reason = 'Step 3 is gone.';
    const app: Refused = { origin: 'app', problem: 'signature', reason };
    const room: Refused = { origin: 'keys', problem: 'first', reason };
    expect(newsOf({ ...nothingFound, app, room, read: new Set([keyOf(app)]) })).toMatchObject({
      problem: 'first',
    });
  });
});
