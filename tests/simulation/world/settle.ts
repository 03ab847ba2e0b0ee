import { groupConversationId } from '#src/net/contract.ts';
import { uploadsAtom } from '#src/store/files.ts';
import { groupsAtom } from '#src/store/groups.ts';
import { authStatusAtom } from '#src/store/session.ts';
import { pass, passUntil } from '../seams/time.ts';
import { type LogOfRelay, logsOfRelay } from './log.ts';
import { fairWeather } from './network.ts';
import type { Seat } from './people.ts';
import type { Tab } from './profile.ts';
import type { World } from './world.ts';

const minute = 60_000;
const patience = 30 * minute;

/** Everything is mended, everybody is back, and nothing is left to do. */
export async function settle(world: World): Promise<void> {
  await calm(world);
  await comeBack(world);
  await pass(10_000);
  await passUntil(() => world.isIdle, patience);
  await untilRest(world, 'after the steps');
}

async function calm(world: World): Promise<void> {
  for (const { profile } of world.seats) {
    for (const tab of profile.tabs) {
      tab.disk.isFull = false;
      tab.disk.tearIn = null;
      tab.line.weather = fairWeather;
      tab.line.mend();
      tab.networkChanged();
      tab.isVisible = true;
    }
  }
}

/** Signs everybody in again who is signed out, on browsers that were not taken out of use. */
export async function comeBack(world: World): Promise<void> {
  for (const seat of world.seats.filter(({ status }) => status !== 'revoked')) {
    if (seat.profile.tabs.length === 0) {
      const tab = world.openTab(seat);
      await world.finish(tab, 'start', () => tab.session.resume());
    }
    const isIn = () => seat.profile.tabs.some((tab) => tab.store.get(authStatusAtom) === 'success');
    await passUntil(isIn, minute);
    if (!isIn()) await world.signIn(seat);
    if (!isIn()) await world.signIn(seat);
    if (!isIn()) world.wrong.push(`${seat.profile.name} can't sign in: ${seat.profile.logLines.at(-1)}`);
    seat.status = 'in';
    await world.noteDevice(seat);
  }
}

/** Returns what each live device of a conversation still lacks; empty when all have come to rest. */
export async function restless(world: World): Promise<string[]> {
  const lacks: string[] = [];
  const logs = await logsOfRelay(world.relay);
  for (const seat of world.seats.filter(({ status }) => status === 'in')) {
    const [tab] = seat.tabs;
    if (tab === undefined) {
      lacks.push(`${seat.profile.name} is signed out`);
      continue;
    }
    if (!tab.isConnected) lacks.push(`${seat.profile.name} is not connected`);
    const own = logs.filter(({ userIds }) => userIds.includes(seat.person.id));
    for (const log of own) {
      const state = await tab.crypto.conversation(log.id);
      const { epoch, lastSeq, status } = state;
      // Its creator's browser is gone, and only that one could have begun it.
      if (status === 'outside' && log.lastSeq === 0) {
        const isShown = tab.store.get(groupsAtom).items.some(({ id }) => groupConversationId(id) === log.id);
        if (isShown) lacks.push(`${seat.profile.name} is shown ${log.id}, which never began`);
        continue;
      }
      if (status !== 'joined' || lastSeq !== log.lastSeq || epoch !== log.epoch) {
        lacks.push(
          `${seat.profile.name} is ${status} at ${lastSeq} of ${log.lastSeq}, epoch ${epoch} of ${log.epoch}, in ${log.id} ${state.refusal ?? ''}`,
        );
      }
      if ((state.group?.leavingIds.length ?? 0) > 0)
        lacks.push(`${seat.profile.name} still has who left in ${log.id}`);
    }
    for (const { conversationId, failure, status } of await tab.crypto.outbox()) {
      // Messages to a group that the person has left elsewhere stand there as failed until they put them away.
      const isOver = !own.some(({ id }) => id === conversationId);
      if (isOver && status === 'failed') continue;
      lacks.push(`${seat.profile.name} has not sent in ${conversationId}: ${status} ${failure ?? ''}`);
    }
    for (const { failure } of seat.tabs.flatMap(uploadsOf))
      lacks.push(`${seat.profile.name} has not brought a file: ${failure?.code ?? ''}`);
  }
  return lacks;
}

export async function untilRest(world: World, when: string): Promise<void> {
  let lacks: string[] = [];
  for (let waited = 0; waited < patience; waited += 15_000) {
    await world.look();
    lacks = await restless(world);
    if (lacks.length === 0) return;
    await signInWhereAsked(world);
    await retryFailed(world);
    await pass(15_000);
  }
  world.wrong.push(...lacks.map((lack) => `no rest ${when}: ${lack}`));
}

/** Gives the password where a profile was copied, or put back, and asks for it; nobody else may be asked. */
async function signInWhereAsked(world: World): Promise<void> {
  for (const seat of world.seats.filter(({ status }) => status === 'in')) {
    if (seat.deviceId === null || !world.inTwoPlaces.has(seat.deviceId)) continue;
    // The other place may have ended the session of both, which a banner tells.
    if (!seat.tabs.every(({ hasLostSession }) => hasLostSession)) continue;
    for (const tab of seat.tabs) tab.kill();
    world.count('a place is asked for the password');
    await world.signIn(seat);
  }
}

const uploadsOf = ({ store }: Tab) =>
  Object.entries(store.get(uploadsAtom)).map(([messageId, { failure }]) => ({ messageId, failure }));

/** Tries messages and files again that failed for a full disk or another passing reason, as people do. */
async function retryFailed(world: World): Promise<void> {
  for (const seat of world.seats.filter(({ status }) => status === 'in')) {
    for (const tab of seat.tabs) {
      for (const { failure, messageId } of uploadsOf(tab))
        if (failure !== null) (await tab.actions.files()).retryUpload(messageId);
    }
    const [tab] = seat.tabs;
    if (tab === undefined) continue;
    for (const { conversationId, messageId, status } of await tab.crypto.outbox()) {
      if (status !== 'failed') continue;
      const key = keyIn(conversationId, seat);
      await world.finish(tab, 'try again', () => tab.actions.retryMessage(key, messageId));
    }
  }
}

/** The chat's key of a conversation on a person's screen. */
export function keyIn(conversationId: string, { person }: Seat): string {
  const [kind, one = '', other = ''] = conversationId.split(':');
  if (kind === 'group') return `group-${one}`;
  return one === person.id && kind !== 'self' ? other : one;
}

export type { LogOfRelay };
