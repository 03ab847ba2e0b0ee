import { faultsOf, type Plan, playPlan } from './playPlan.ts';

/** Ids, names and counts differ between two runs that fail for the same reason. */
const kindOf = (fault: string): string =>
  fault.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '').replaceAll(/\d+|"[^"]*"|\w+-\d/g, '');

const longestMs = 5 * 60_000;

/**
 * Leaves out steps of a plan that fails, by halves and then by fewer, while it still fails in the same way, for at most five
 * minutes: a run of CI that fails has to end, too.
 * @param say is told of each that could go
 */
export async function shrink(plan: Plan, say: (text: string) => void): Promise<Plan> {
  const began = performance.now();
  const whole = await playPlan(plan);
  const fails = new Set(faultsOf(whole).map(kindOf));
  let script = whole.steps;
  for (let size = Math.ceil(script.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < script.length && performance.now() - began < longestMs; ) {
      const smaller = script.toSpliced(from, size);
      const found = faultsOf(await playPlan({ ...plan, script: smaller })).map(kindOf);
      if (found.some((fault) => fails.has(fault))) {
        script = smaller;
        say(`${script.length} steps are left`);
      } else from += size;
    }
  }
  return { ...plan, script };
}
