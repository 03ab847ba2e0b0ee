import { alarms, type Notice, undecryptable } from '../checks.ts';
import type { Seat } from '../people.ts';
import type { World } from '../world.ts';
import type { Lie } from './lies.ts';

export interface Told {
  readonly lie: Lie;
  /** The notices of the device that was lied to, without names of persons; see {@link sayOf}. */
  readonly byVictim: readonly string[];
  readonly byOthers: readonly string[];
  /** The device shows what the relay made up as if it were so. */
  readonly isBelieved?: boolean;
}

/** The conversation, device or person that the notices of a lie have to be about; null where nobody could know. */
export interface About {
  readonly conversationId: string | null;
  /** The device or person that a notice has to name on the device that was lied to, by the kind of the notice. */
  readonly onVictim: (what: string) => string | null;
  /** The device that was lied to, which the others have to name and it can't. */
  readonly victimDeviceId: string | null;
}

/** A lie about an account, whose notices name nobody. */
export const ofAccount: About = { conversationId: null, onVictim: () => null, victimDeviceId: null };

export const seatsIn = (world: World): Seat[] =>
  world.seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0);

/** Returns the notices that everybody is shown, by browser. */
export async function shownBy(world: World): Promise<Map<string, Notice[]>> {
  const shown = new Map<string, Notice[]>();
  for (const notice of [...(await alarms(world)), ...(await undecryptable(world))])
    shown.set(notice.browser, [...(shown.get(notice.browser) ?? []), notice]);
  return shown;
}

/** Returns what a notice says, and that it is about something else than the lie where it is. */
export function sayOf(
  { conversationId, of, what }: Omit<Notice, 'browser'>,
  about: About,
  isVictim: boolean,
): string {
  if (about.conversationId !== null && conversationId !== about.conversationId) return `${what}, elsewhere`;
  if (what !== 'missing' && what !== 'diverged' && what !== 'changed key') return what;
  const { victimDeviceId } = about;
  const named = isVictim ? about.onVictim(what) : victimDeviceId;
  const isOther = (named !== null && of !== named) || (isVictim && of !== null && of === victimDeviceId);
  return isOther ? `${what}, of another` : what;
}

export async function noticed(
  world: World,
  lie: Lie,
  victim: Seat,
  before: Map<string, Notice[]>,
  about: About,
): Promise<Told> {
  const now = await shownBy(world);
  const others = [...now.keys()].filter((name) => name !== victim.profile.name);
  const said = (name: string) =>
    newIn(now.get(name) ?? [], before.get(name) ?? []).map((notice) =>
      sayOf(notice, about, name === victim.profile.name),
    );
  return {
    lie,
    byVictim: [...new Set(said(victim.profile.name))],
    byOthers: [...new Set(others.flatMap(said))],
  };
}

/** Returns those of some notices that there are more of than before, whatever their order is now. */
function newIn(now: readonly Notice[], before: readonly Notice[]): Notice[] {
  const left = before.map((notice) => JSON.stringify(notice));
  return now.filter((notice) => {
    const at = left.indexOf(JSON.stringify(notice));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
