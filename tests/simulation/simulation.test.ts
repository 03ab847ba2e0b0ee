import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultsOf, type Kept, type Plan, playPlan } from './playPlan.ts';
import { lies } from './world/lies/lies.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');
const seconds = Number(process.env['SIMULATION_SECONDS'] ?? 50);
const folder = path.join(import.meta.dirname, 'kept');
const patience = { timeout: 600_000 + 3_000 * seconds };

/** Honest runs, and runs with each kind of lie in turn. */
function planOf(run: number): Plan {
  const lie = run % 2 === 0 ? undefined : lies[((run - 1) / 2) % lies.length];
  return {
    seed: `${seed}/${run}`,
    steps: lie === undefined ? 60 : 20,
    people: 3 + (run % 2),
    ...(lie === undefined ? {} : { lie }),
  };
}

describe('a simulated world', () => {
  it('is the same for the same seed, whatever was played between', patience, async () => {
    const plan: Plan = { seed: 'twice', steps: 25, people: 3 };
    const once = await playPlan(plan);
    const other = await playPlan({ ...plan, seed: 'between', steps: 5 });
    const again = await playPlan(plan);
    expect(again.hash).toBe(once.hash);
    expect(other.hash).not.toBe(once.hash);
  });

  it.each(readdirSync(folder).filter((name) => name.endsWith('.json')))(
    'shows no more what it once showed: %s',
    patience,
    async (name) => {
      const { plan } = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Kept;
      expect(faultsOf(await playPlan(plan))).toEqual([]);
    },
  );

  it(
    `has no fault and no false alarm, and every lie is noticed (SINETTI_TEST_SEED=${seed} SIMULATION_SECONDS=${seconds})`,
    patience,
    async () => {
      const began = performance.now();
      let played = 0;
      for (; performance.now() - began < seconds * 1000; played += 1) {
        const plan = planOf(played);
        expect({ plan, faults: faultsOf(await playPlan(plan)) }).toEqual({ plan, faults: [] });
      }
      process.stdout.write(`${played} worlds\n`);
      expect(played).toBeGreaterThan(0);
    },
  );
});
