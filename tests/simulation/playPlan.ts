import { install } from './seams/install.ts';
import type { Outcome, Plan } from './world/play.ts';

export type { Outcome, Plan } from './world/play.ts';

/**
 * All that the client loads when it is first needed. Loading takes the machine's time: a world in which something is
 * loaded would go on meanwhile, by more or less, and one in which it is there already would not.
 */
const loadedLater = import.meta.glob(['/src/services/**/*.ts', '/src/i18n/en/*.ts']);

/** A run before the first one: what libraries do when they are first used would tell that one from the others. */
const warmUp: Plan = { seed: 'warm', steps: 4, people: 2 };
let isWarm = false;

/** Plays a plan in a world of its own: the same outcome each time. */
export async function playPlan(plan: Plan, isTraced = false): Promise<Outcome> {
  if (!isWarm) {
    isWarm = true;
    await playPlan(warmUp);
  }
  const uninstall = install();
  try {
    // These modules take over the world's time and threads, and are loaded before the first request.
    const [{ play }, { installRandom }, { activateLocale }] = await Promise.all([
      import('./world/play.ts'),
      import('./seams/random.ts'),
      import('#src/i18n/i18n.ts'),
      ...Object.values(loadedLater).map((load) => load()),
    ]);
    await activateLocale('en');
    const unseed = installRandom(plan.seed);
    return await play(plan, isTraced).finally(unseed);
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
