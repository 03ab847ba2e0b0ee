import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestDevice } from './support/device.ts';
import { type DirectEvent, DirectPlay, directEvents, signUpPair } from './support/directPlay.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');
const runs = Number(process.env['SINETTI_DIRECT_RUNS'] ?? 100);
const STEPS = 60;
const BATCHES = 10;

describe(`direct conversations in any order (SINETTI_TEST_SEED=${seed} SINETTI_DIRECT_RUNS=${runs})`, () => {
  let people: TestDevice[][];
  let plays = 0;
  let alarms = 0;
  /** The number of plays in which each event came up. */
  const events = new Map<DirectEvent, number>();
  beforeAll(async () => {
    people = await signUpPair(seed);
  });

  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))(
    'end with everybody in one epoch, every message once, and no alarm: part %i',
    { timeout: 120_000 + runs * 5_000 },
    async (batch) => {
      for (let run = batch; run < runs; run += BATCHES) {
        const play = new DirectPlay(people, `${seed}/${run}`);
        const wrong = await play.run(STEPS);
        plays += 1;
        alarms += wrong.filter((fault) => fault.includes('a false alarm')).length;
        expect({ run, wrong }).toEqual({ run, wrong: [] });
        for (const event of play.events) events.set(event, (events.get(event) ?? 0) + 1);
      }
    },
  );

  it('include every legitimate gap that the test is for', () => {
    process.stdout.write(`${JSON.stringify({ plays, alarms, ...Object.fromEntries(events) })}\n`);
    expect([...events.keys()].sort()).toEqual([...directEvents].sort());
  });
});
