import { faultsOf, type Plan, playPlan } from './playPlan.ts';

/** Ids, names and counts differ between two runs that fail for the same reason. */
const kindOf = (fault: string): string =>
  fault.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '').replaceAll(/\d+|"[^"]*"|\w+-\d/g, '');

/**
 * Leaves out steps of a plan that fails, by halves and then by fewer, while it still fails in the same way.
 * @param say is told of each step on the way
 */
export async function shrink(plan: Plan, say: (text: string) => void): Promise<Plan> {
  const fails = new Set(faultsOf(await playPlan(plan)).map(kindOf));
  const dropped = new Set(plan.dropped ?? []);
  const left = () =>
    Array.from({ length: plan.steps }, (_, step) => step).filter((step) => !dropped.has(step));
  for (let size = Math.ceil(plan.steps / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < left().length; ) {
      const without = left().slice(from, from + size);
      const smaller = { ...plan, dropped: [...dropped, ...without].toSorted((one, other) => one - other) };
      const found = faultsOf(await playPlan(smaller)).map(kindOf);
      if (found.some((fault) => fails.has(fault))) {
        for (const step of without) dropped.add(step);
        say(`${left().length} steps are left`);
      } else from += size;
    }
  }
  return { ...plan, dropped: [...dropped].toSorted((one, other) => one - other) };
}
