import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Event, Population, Simulation } from './support/interleaving.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');
/** Most of them with few people, where the interleavings are the densest. */
const runs = Number(process.env['SINETTI_GROUP_RUNS'] ?? 100);
const sizes = [3, 3, 4, 3, 5, 3, 4, 6, 3, 8] as const;
const POPULATION = 30;
const BATCHES = 10;

/** Returns the number of people in a run. Large groups are few, since their runs take the longest. */
function sizeOf(run: number): number {
  if (run % 1000 === 0) return POPULATION;
  if (run % 100 === 5) return 15;
  return sizes[Math.floor(run / BATCHES) % sizes.length]!;
}

describe(`groups in any order (SINETTI_TEST_SEED=${seed} SINETTI_GROUP_RUNS=${runs})`, () => {
  let population: Population;
  let plays = 0;
  let alarms = 0;
  /** The number of runs in which each event came up. */
  const events = new Map<Event, number>();
  beforeAll(async () => {
    population = await Population.signUp(seed, POPULATION);
  });

  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))(
    'end with all members in the same epoch and every message once: part %i',
    { timeout: 120_000 + runs * 5_000 },
    async (batch) => {
      for (let run = batch; run < runs; run += BATCHES) {
        const simulation = new Simulation(population, sizeOf(run), `${seed}/${run}`);
        const wrong = await simulation.run(30 + 6 * sizeOf(run));
        plays += 1;
        alarms += wrong.filter((fault) => fault.includes('a false alarm')).length;
        expect({ run, wrong }).toEqual({ run, wrong: [] });
        for (const event of simulation.events) events.set(event, (events.get(event) ?? 0) + 1);
      }
    },
  );

  it('include every kind of race that the test is for', () => {
    const all: Record<Event, true> = {
      'a commit came too late': true,
      'a message came too late': true,
      'an answer was lost': true,
      'a tab was lost': true,
      'somebody left': true,
      'somebody came back': true,
      'a device joined from outside': true,
      'a removal went first': true,
      'two tabs acted at once': true,
      'the relay deleted what is old': true,
    };
    process.stdout.write(`${JSON.stringify({ plays, alarms, ...Object.fromEntries(events) })}\n`);
    expect([...events.keys()].sort()).toEqual(Object.keys(all).sort());
  });
});
