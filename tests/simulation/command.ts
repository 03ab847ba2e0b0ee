import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { faultsOf, type Kept, type Outcome, type Plan, playCrashPlan, playPlan } from './playPlan.ts';
import { shrink } from './shrink.ts';
import type { CrashPlan } from './world/crashes.ts';
import { type Lie, lies, noticesOf } from './world/lies/lies.ts';
import { type OperationName, operationNames } from './world/operations.ts';

const usage = `npm run simulate -- [options]
  --seed S         what everything random comes from (drawn, unless given)
  --steps N        of each run (60)
  --people P       2 to 6 (3 and 4 in turns)
  --runs R         with the seeds S/0, S/1, … (1, with S itself)
  --seconds T      as many runs as begin within that time
  --lies           each ends with a relay that lies, in another way each time
  --mixed          every other one does, after 20 steps: as CI plays them
  --kept FILE      plays what a file in tests/simulation/kept holds; may be given more than once
  --plan JSON      plays a plan, as it is printed of each run
  --shrink         leaves out steps of a run that fails while it still does, for at most five minutes, and keeps what is left
  --crash NAME     kills a browser at each point of an operation, begun again each time: ${operationNames.join(',')}; or all
  --every N        at every Nth point (1)
  --parts N        at each point, those of an operation shared out among N worlds: one that goes on for long is slow
  --from K         with --parts: beginning with the Kth of them (1)
  --trace          prints every request and every line of a log
`;

/** The number of times that a kind of lie was told, and noticed by somebody. */
interface LieCount {
  told: number;
  noticed: number;
  noticedByVictim: number;
  noticedByOthers: number;
  readonly by: Set<string>;
}

const none = (): LieCount => ({
  told: 0,
  noticed: 0,
  noticedByVictim: 0,
  noticedByOthers: 0,
  by: new Set(),
});

/** Adds up the outcomes of all runs. */
class Totals {
  readonly #began = performance.now();
  readonly #events = new Map<string, number>();
  readonly #lies = new Map<Lie, LieCount>();
  readonly sum = { runs: 0, steps: 0, messages: 0, encryptions: 0, alarms: 0, failed: 0, told: 0, untold: 0 };

  add(outcome: Outcome): void {
    for (const [event, count] of outcome.events)
      this.#events.set(event, (this.#events.get(event) ?? 0) + count);
    this.sum.runs += 1;
    this.sum.steps += outcome.steps.length;
    this.sum.messages += outcome.messages;
    this.sum.encryptions += outcome.encryptions;
    this.sum.alarms += outcome.alarms.length;
    if (faultsOf(outcome).length > 0) this.sum.failed += 1;
    if (outcome.told === null) return;
    this.sum.told += 1;
    const { byOthers, byVictim, lie } = outcome.told;
    const count = this.#lies.get(lie) ?? none();
    count.told += 1;
    if (byVictim.length + byOthers.length > 0) count.noticed += 1;
    if (byVictim.length > 0) count.noticedByVictim += 1;
    if (byOthers.length > 0) count.noticedByOthers += 1;
    for (const what of [...byVictim, ...byOthers]) count.by.add(what);
    this.#lies.set(lie, count);
  }

  /** Each kind of lie with how often it was told, and noticed by whom and as what. */
  #table(): string[] {
    if (this.#lies.size === 0) return [];
    const rows = [...this.#lies]
      .toSorted(([one], [other]) => lies.indexOf(one) - lies.indexOf(other))
      .map(([lie, { by, noticed, noticedByOthers, noticedByVictim, told }]) => {
        const { byOthers, byVictim } = noticesOf(lie);
        const isKnowable = byVictim.length + byOthers.length > 0;
        const counts = [told, noticed, noticedByVictim, noticedByOthers].map(String);
        return [lie, ...counts, [...by].join(', ') || (isKnowable ? 'nothing' : 'nobody could know')];
      });
    const head = ['lie', 'told', 'noticed', 'by whom it was told to', 'by the others', 'as'];
    const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
    return [head, ...rows].map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  toString(): string {
    const events = [...this.#events].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return [
      JSON.stringify({ ...this.sum, seconds: Math.round(this.seconds) }),
      JSON.stringify(Object.fromEntries(events)),
      ...this.#table(),
    ].join('\n');
  }
}

const options = {
  seed: { type: 'string' },
  steps: { type: 'string', default: '60' },
  people: { type: 'string' },
  runs: { type: 'string' },
  seconds: { type: 'string' },
  lies: { type: 'boolean', default: false },
  mixed: { type: 'boolean', default: false },
  kept: { type: 'string', multiple: true },
  plan: { type: 'string' },
  shrink: { type: 'boolean', default: false },
  crash: { type: 'string' },
  every: { type: 'string', default: '1' },
  parts: { type: 'string' },
  from: { type: 'string', default: '1' },
  trace: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
type Options = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

const stepsBeforeLie = 20;
/** Worlds in which a lie may find nothing to be about, one after the other; the last of them is a fault. */
const triesOfLie = 4;

/** The plans that were asked for, one after the other. */
function* plansOf(values: Options): Generator<Plan> {
  if (values.kept !== undefined) {
    for (const file of values.kept) yield (JSON.parse(readFileSync(file, 'utf8')) as Kept).plan;
    return;
  }
  if (values.plan !== undefined) {
    yield JSON.parse(values.plan) as Plan;
    return;
  }
  const { runs, seconds, seed = Date.now().toString(36) } = values;
  const isOne = runs === undefined && seconds === undefined;
  // A run of CI ends before the last of them: each begins with another one.
  const first = createHash('sha256').update(seed).digest().readUInt32BE() % lies.length;
  const end = seconds === undefined ? Number(runs ?? 1) : Number.POSITIVE_INFINITY;
  for (let run = 0; run < end; run += 1) {
    const isHonest = values.mixed ? run % 2 === 0 : !values.lies;
    const lie = isHonest ? undefined : lies[(first + (values.mixed ? (run - 1) / 2 : run)) % lies.length];
    yield {
      seed: isOne ? seed : `${seed}/${run}`,
      steps: values.mixed && lie !== undefined ? stepsBeforeLie : Number(values.steps),
      people: Number(values.people ?? 3 + (run % 2)),
      ...(lie === undefined ? {} : { lie }),
    };
  }
}

/** A plan, and others in its place for as long as there was nothing to lie about in the one before. */
function* triesOf(plan: Plan): Generator<Plan> {
  yield plan;
  for (let again = 2; plan.lie !== undefined && again <= triesOfLie; again += 1)
    yield { ...plan, seed: `${plan.seed}/${again}` };
}

/** Keeps a smaller run that fails like this one, and prints it: a folder of CI's is gone afterwards. */
async function keep(plan: Plan, shows: string | undefined, say: (text: string) => void): Promise<void> {
  const smaller = await shrink(plan, say);
  const file = `tests/simulation/kept/${plan.seed.replaceAll(/\W/g, '-')}.json`;
  const kept = `${JSON.stringify({ shows, plan: smaller }, null, 2)}\n`;
  writeFileSync(file, kept);
  say(`kept as ${file}, to be named by what it shows and committed with its remedy:\n${kept}`);
}

/** The plans of an operation: one that begins at a point of the seed's choice, or one for each part. */
function crashPlansOf(
  crash: OperationName,
  { every, from, parts, seed = Date.now().toString(36) }: Options,
): CrashPlan[] {
  if (parts === undefined) return [{ seed, crash, every: Number(every) }];
  const all = Number(parts);
  return Array.from({ length: all }, (_, at) => ({ seed, crash, every: all, first: at + 1 })).slice(
    Number(from) - 1,
  );
}

/** @returns the exit code */
async function crashes(asked: string, values: Options, say: (text: string) => void): Promise<number> {
  const isAsked = new Set(asked.split(','));
  const names = operationNames.filter((name) => isAsked.has('all') || isAsked.delete(name));
  const [unknown] = [...isAsked].filter((name) => name !== 'all');
  if (unknown !== undefined) throw new Error(`no such operation: ${unknown}`);
  let failed = 0;
  for (const plan of names.flatMap((name) => crashPlansOf(name, values))) {
    const { byKind, hash, points, tried, wrong } = await playCrashPlan(plan);
    const counts = { tried, points, ...Object.fromEntries(byKind) };
    say(`${wrong.length === 0 ? 'ok' : 'FAILED'} ${JSON.stringify(plan)} ${JSON.stringify(counts)} ${hash}`);
    for (const fault of wrong) say(`  ${fault}`);
    if (wrong.length > 0) failed += 1;
  }
  return failed === 0 ? 0 : 1;
}

/** Plays a plan and says how it went. @returns whether it was to end with a lie, and there was nothing to lie about */
async function playOne(
  plan: Plan,
  values: Options,
  totals: Totals,
  say: (text: string) => void,
): Promise<boolean> {
  const outcome = await playPlan(plan, values.trace);
  totals.add(outcome);
  const faults = faultsOf(outcome);
  say(`${faults.length === 0 ? 'ok' : 'FAILED'} ${JSON.stringify(plan)} ${outcome.hash}`);
  if (values.trace) say(outcome.trace.join('\n'));
  if (outcome.told !== null) say(`  told ${JSON.stringify(outcome.told)}`);
  for (const fault of faults) say(`  ${fault}`);
  if (faults.length === 0) return plan.lie !== undefined && outcome.told === null;
  say(`  again: npm run simulate -- --plan '${JSON.stringify(plan)}' --shrink`);
  if (values.shrink) await keep(plan, faults[0], say);
  return false;
}

/** @returns the exit code: 1 when a run has failed, or a lie found nothing to be about */
export async function simulate(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options });
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  if (values.help) {
    say(usage);
    return 0;
  }
  if (values.crash !== undefined) return crashes(values.crash, values, say);
  const totals = new Totals();
  const seconds = Number(values.seconds ?? Number.POSITIVE_INFINITY);
  const isDrawn = values.kept === undefined && values.plan === undefined;
  for (const asked of plansOf(values)) {
    if (totals.seconds > seconds) break;
    let isUntold = false;
    for (const plan of isDrawn ? triesOf(asked) : [asked]) {
      isUntold = await playOne(plan, values, totals, say);
      if (!isUntold) break;
    }
    if (isUntold) totals.sum.untold += 1;
  }
  say(String(totals));
  return totals.sum.failed + totals.sum.untold === 0 ? 0 : 1;
}
