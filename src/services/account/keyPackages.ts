import { limits } from '../../net/contract.ts';
import type { Deps } from '../core/deps.ts';
import { timings } from '../core/timings.ts';

/**
 * The number of single-use KeyPackages that a device keeps at the relay, and the one below which it tops up (PROTOCOL
 * section 3): most of the suite in which conversations begin, fewer of the one that older conversations have.
 */
const stocks = [
  { suite: 0xf04d, stock: 50, minimum: 20 },
  { suite: 0x004d, stock: 20, minimum: 8 },
] as const;

/** The name in the local store of when KeyPackages of a suite were published anew, in milliseconds since the Unix epoch. */
const renewedEntry = (suite: number) => `key-packages:${suite}`;

/**
 * Publishes KeyPackages of each suite of which few are left or whose lifetime is half over, and the last-resort one there and
 * where there is none. Those of before stay at the relay until they are taken or over.
 */
export async function topUp({ api, clock, crypto }: Pick<Deps, 'api' | 'clock' | 'crypto'>): Promise<void> {
  const { suites } = await api.keyPackageCount();
  let room = limits.keyPackagesPerDevice - suites.reduce((sum, { available }) => sum + available, 0);
  for (const { minimum, stock, suite } of stocks) {
    const { available = 0, lastResort = false } = suites.find((known) => known.suite === suite) ?? {};
    const entry = renewedEntry(suite);
    const age = clock.now() - Number(await crypto.readLocal(entry));
    // A time to come was written while this browser's clock was wrong.
    const isFresh = age >= 0 && age < timings.keyPackageRenewal;
    const isDue = !lastResort || !isFresh;
    if (available >= minimum && !isDue) continue;
    const missing = Math.min(isDue ? stock : stock - available, room);
    room -= missing;
    const created = await crypto.createKeyPackages(missing, isDue, suite);
    await api.publishKeyPackages({
      suite,
      keyPackages: created.keyPackages,
      ...(created.lastResort === null ? {} : { lastResort: created.lastResort }),
    });
    if (isDue) await crypto.writeLocal(entry, `${clock.now()}`);
  }
}
