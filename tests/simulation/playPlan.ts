import { install } from './seams/install.ts';
import type { CrashOutcome, CrashPlan } from './world/crashes.ts';
import type { Outcome, Plan } from './world/play.ts';

export type { Outcome, Plan } from './world/play.ts';

/**
 * All that the client loads when it is first needed. Loading takes the machine's time: a world in which something is
 * loaded would go on meanwhile, by more or less, and one in which it is there already would not.
 */
const loadedLater = import.meta.glob(['/src/services/**/*.ts', '/src/net/parts.ts', '/src/i18n/en/*.ts']);

/** A run before the first one: what libraries do when they are first used would tell that one from the others. */
const warmUp: Plan = { seed: 'warm', steps: 4, people: 2 };
let isWarm = false;

/** Plays a plan in a world of its own: the same outcome each time. */
export async function playPlan(plan: Plan, isTraced = false): Promise<Outcome> {
  if (!isWarm) {
    isWarm = true;
    await playPlan(warmUp);
  }
  return inWorld(plan.seed, async () => (await import('./world/play.ts')).play(plan, isTraced));
}

/** Kills a browser at each point of an operation: the same outcome each time. */
export async function playCrashPlan(plan: CrashPlan): Promise<CrashOutcome> {
  return inWorld(plan.seed, async () => (await import('./world/crashes.ts')).playCrashes(plan));
}

async function inWorld<T>(seed: string, body: () => Promise<T>): Promise<T> {
  const uninstall = install();
  try {
    // These modules take over the world's time and threads, and are loaded before the first request.
    const [{ installRandom }, { activateLocale }] = await Promise.all([
      import('./seams/random.ts'),
      import('#src/i18n/i18n.ts'),
      import('./world/play.ts'),
      import('./world/crashes.ts'),
      ...Object.values(loadedLater).map((load) => load()),
    ]);
    await activateLocale('en');
    const unseed = installRandom(seed);
    return await body().finally(unseed);
  } finally {
    uninstall();
  }
}

/** A file of tests/simulation/kept: a run that failed once. */
export interface Kept {
  /** The fault that it showed. */
  readonly shows: string;
  readonly plan: Plan;
}

/** Returns everything in an outcome that no run may show. */
export const faultsOf = ({ alarms, wrong }: Outcome): readonly string[] => [
  ...wrong,
  ...alarms.map((alarm) => `a false alarm: ${alarm}`),
];
