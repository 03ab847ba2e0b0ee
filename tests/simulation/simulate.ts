import { parseArgs } from 'node:util';
import { install } from './seams/install.ts';
import type { Outcome, Plan } from './world/play.ts';

const usage = `npm run simulate -- [options]
  --seed S         what everything random comes from (default: drawn)
  --steps N        of each run (default 60)
  --people P       2 to 6 (default: 3 and 4 in turns)
  --runs R         S/0, S/1, … (default 1)
  --seconds T      as many runs as begin within that time
  --lies           with a relay that lies in the end of each run
  --unanswered     with steps that the product has no answer to yet
  --kept FILE      plays a plan of tests/simulation/kept
  --shrink         leaves out steps of a run that fails while it still does, and keeps what is left
  --trace          prints every request
`;

/** A run before the first one: what libraries do when they are first used would tell that one from the others. */
const warmUp: Plan = { seed: 'warm', steps: 4, people: 2 };
let isWarm = false;

/** Plays a plan in a world of its own. */
export async function playPlan(plan: Plan, isTraced = false): Promise<Outcome> {
  if (!isWarm) {
    isWarm = true;
    await playPlan(warmUp);
  }
  const uninstall = install();
  try {
    // What these load takes the world's time and threads over, and all of it is there before the first request.
    const [{ play }, { installRandom }, { activateLocale }] = await Promise.all([
      import('./world/play.ts'),
      import('./seams/random.ts'),
      import('#src/i18n/i18n.ts'),
      import('#src/services/client/signedIn.ts'),
      import('#src/services/client/deletion.ts'),
    ]);
    await activateLocale('en');
    const unseed = installRandom(plan.seed);
    return await play(plan, isTraced).finally(unseed);
  } finally {
    uninstall();
  }
}

export async function simulate(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: Date.now().toString(36) },
      steps: { type: 'string', default: '60' },
      people: { type: 'string' },
      runs: { type: 'string' },
      seconds: { type: 'string' },
      lies: { type: 'boolean', default: false },
      unanswered: { type: 'boolean', default: false },
      kept: { type: 'string' },
      shrink: { type: 'boolean', default: false },
      trace: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  if (values.help) {
    say(usage);
    return 0;
  }
  const began = performance.now();
  const seconds = values.seconds === undefined ? null : Number(values.seconds);
  const runs = seconds === null ? Number(values.runs ?? 1) : Number.POSITIVE_INFINITY;
  const totals = new Map<string, number>();
  const sum = { runs: 0, steps: 0, messages: 0, encryptions: 0, alarms: 0, failed: 0 };
  for (let run = 0; run < runs; run += 1) {
    if (seconds !== null && performance.now() - began > seconds * 1000) break;
    const plan: Plan = {
      seed: runs === 1 ? values.seed : `${values.seed}/${run}`,
      steps: Number(values.steps),
      people: Number(values.people ?? 3 + (run % 2)),
      ...(values.unanswered ? { unanswered: true } : {}),
    };
    const at = performance.now();
    const outcome = await playPlan(plan, values.trace);
    for (const [event, count] of outcome.events) totals.set(event, (totals.get(event) ?? 0) + count);
    sum.runs += 1;
    sum.steps += outcome.steps.length;
    sum.messages += outcome.messages;
    sum.encryptions += outcome.encryptions;
    sum.alarms += outcome.alarms.length;
    const isWrong = outcome.wrong.length + outcome.alarms.length > 0;
    if (isWrong) sum.failed += 1;
    say(
      `${isWrong ? 'FAILED' : 'ok'} ${JSON.stringify(plan)} ${outcome.hash} ${Math.round(performance.now() - at)} ms`,
    );
    if (values.trace) say(outcome.trace.join('\n'));
    if (isWrong) say([...outcome.wrong, ...outcome.alarms].map((line) => `  ${line}`).join('\n'));
  }
  say(JSON.stringify({ ...sum, seconds: Math.round((performance.now() - began) / 1000) }));
  say(JSON.stringify(Object.fromEntries([...totals].toSorted(([one], [other]) => (one < other ? -1 : 1)))));
  return sum.failed === 0 ? 0 : 1;
}
