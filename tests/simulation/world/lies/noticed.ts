import { alarms, undecryptable } from '../checks.ts';
import type { Seat } from '../people.ts';
import type { World } from '../world.ts';
import type { Lie } from './lies.ts';

export interface Told {
  readonly lie: Lie;
  /** The notices of the device that was lied to, without names of persons. */
  readonly byVictim: readonly string[];
  readonly byOthers: readonly string[];
  /** The device shows what the relay made up as if it were so. */
  readonly isBelieved?: boolean;
}

export const seatsIn = (world: World): Seat[] =>
  world.seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0);

/** Returns the notices that everybody is shown, by browser. */
export async function shownBy(world: World): Promise<Map<string, string[]>> {
  const shown = new Map<string, string[]>();
  for (const line of [...(await alarms(world)), ...(await undecryptable(world))]) {
    const [name = '', what = ''] = line.split(': ');
    shown.set(name, [...(shown.get(name) ?? []), what.replace(/ in \S+$/, '')]);
  }
  return shown;
}

export async function noticed(
  world: World,
  lie: Lie,
  victim: Seat,
  before: Map<string, string[]>,
): Promise<Told> {
  const now = await shownBy(world);
  const fresh = (name: string) => newIn(now.get(name) ?? [], before.get(name) ?? []);
  const others = [...now.keys()].filter((name) => name !== victim.profile.name);
  return {
    lie,
    byVictim: [...new Set(fresh(victim.profile.name))],
    byOthers: [...new Set(others.flatMap(fresh))],
  };
}

/** Returns those of some notices that there are more of than before, whatever their order is now. */
function newIn(now: readonly string[], before: readonly string[]): string[] {
  const left = [...before];
  return now.filter((notice) => {
    const at = left.indexOf(notice);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
