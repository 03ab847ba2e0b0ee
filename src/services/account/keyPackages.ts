import type { Deps } from '../core/deps.ts';

/**
 * The number of single-use KeyPackages that a device keeps at the relay, and the one below which it tops up (PROTOCOL
 * section 3): most of the suite in which conversations begin, fewer of the one that older conversations have.
 */
const stocks = [
  { suite: 0xf04d, stock: 50, minimum: 20 },
  { suite: 0x004d, stock: 20, minimum: 8 },
] as const;

/** Publishes KeyPackages of each suite of which few are left, and the last-resort one where there is none. */
export async function topUp({ api, crypto }: Pick<Deps, 'api' | 'crypto'>): Promise<void> {
  const { suites } = await api.keyPackageCount();
  for (const { minimum, stock, suite } of stocks) {
    const { available = 0, lastResort = false } = suites.find((known) => known.suite === suite) ?? {};
    if (available >= minimum && lastResort) continue;
    const missing = available >= minimum ? 0 : stock - available;
    const created = await crypto.createKeyPackages(missing, !lastResort, suite);
    await api.publishKeyPackages({
      suite,
      keyPackages: created.keyPackages,
      ...(created.lastResort === null ? {} : { lastResort: created.lastResort }),
    });
  }
}
