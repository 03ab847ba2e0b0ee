import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Event, Play, Troupe } from './support/interleaving.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');
/** At least 200: most of them small, where the interleavings are the densest. */
const runs = Number(process.env['SINETTI_GROUP_RUNS'] ?? 200);
const sizes = [3, 3, 4, 3, 5, 3, 4, 6, 3, 8] as const;
const TROUPE = 30;
const BATCHES = 10;

/** The large ones are few: their steps cost the most. */
function sizeOf(run: number): number {
  if (run % 1000 === 0) return TROUPE;
  if (run % 100 === 5) return 15;
  return sizes[Math.floor(run / BATCHES) % sizes.length]!;
}

describe(`groups in any order (SINETTI_TEST_SEED=${seed} SINETTI_GROUP_RUNS=${runs})`, () => {
  let troupe: Troupe;
  /** In how many runs each came up. */
  const events = new Map<Event, number>();
  beforeAll(async () => {
    troupe = await Troupe.gather(seed, TROUPE);
  });

  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))(
    'end with everybody in the same epoch, and every message once: part %i',
    { timeout: 120_000 + runs * 5_000 },
    async (batch) => {
      for (let run = batch; run < runs; run += BATCHES) {
        const play = new Play(troupe, sizeOf(run), `${seed}/${run}`);
        expect({ run, wrong: await play.run(30 + 6 * sizeOf(run)) }).toEqual({ run, wrong: [] });
        for (const event of play.events) events.set(event, (events.get(event) ?? 0) + 1);
      }
    },
  );

  it('meet everything that can come in between', () => {
    const all: Record<Event, true> = {
      'a commit came too late': true,
      'a message came too late': true,
      'an answer was lost': true,
      'a tab was lost': true,
      'somebody left': true,
      'somebody came back': true,
      'a device joined from outside': true,
      'a removal went first': true,
    };
    process.stdout.write(`${JSON.stringify(Object.fromEntries(events))}\n`);
    expect([...events.keys()].sort()).toEqual(Object.keys(all).sort());
  });
});
