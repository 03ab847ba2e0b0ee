import { createHash } from 'node:crypto';
import { Random } from '../seams/random.ts';
import { pass } from '../seams/time.ts';
import { alarms, check, inWords, lastWords, messagesOf } from './checks.ts';
import { judge } from './lies/judge.ts';
import { tell } from './lies/lie.ts';
import type { Lie } from './lies/lies.ts';
import type { Told } from './lies/noticed.ts';
import { logsOfRelay } from './log.ts';
import { settle } from './settle.ts';
import { drawStep, steps as kinds, type StepName } from './steps.ts';
import { World } from './world.ts';

/** All that decides a run. */
export interface Plan {
  readonly seed: string;
  readonly steps: number;
  readonly people: number;
  /** Kinds of steps that are left out. */
  readonly without?: readonly StepName[];
  /** The steps in the place of drawn ones, each with the number that its randomness comes from: `12 kill`. */
  readonly script?: readonly string[];
  /** The lie that the relay tells in the end. */
  readonly lie?: Lie;
}

export interface Outcome {
  /** Over every request and answer, and what everybody has in the end. */
  readonly hash: string;
  readonly wrong: readonly string[];
  readonly alarms: readonly string[];
  readonly events: ReadonlyMap<string, number>;
  /** Null where there was no lie, or nothing to lie about. */
  readonly told: Told | null;
  readonly encryptions: number;
  readonly messages: number;
  readonly steps: readonly string[];
  readonly trace: readonly string[];
}

const longestPause = 1_500;

/** Plays one world to its end. Time and randomness have to be the world's already. */
export async function play(plan: Plan, isTraced = false): Promise<Outcome> {
  const world = await World.create(plan.seed, plan.people);
  world.trace.isKept = isTraced;
  const played: string[] = [];
  try {
    for (const [step, scripted] of scriptOf(plan)) {
      // Each has randomness of its own, so that leaving one out changes no other.
      const random = new Random(`${plan.seed}/step/${step}`);
      const drawn = drawStep(random, plan.without ?? []);
      const name = scripted ?? drawn;
      const pause = random.below(longestPause);
      played.push(`${step} ${name}`);
      world.trace.note(`step ${step} ${name}`);
      await kinds[name].act(world, random);
      await pass(pause);
      await world.look();
    }
    await settle(world);
    // If a profile was copied, the words of one place have the other noticed, and new devices say both once more.
    if (world.wrong.length === 0 && world.inTwoPlaces.size > 0) await lastWords(world);
    if (world.wrong.length === 0) await lastWords(world);
    await world.look();
    await check(world);
    const raised = (await alarms(world)).map(inWords);
    const isSound = world.wrong.length === 0 && raised.length === 0;
    const told =
      plan.lie === undefined || !isSound ? null : await tell(world, plan.lie, new Random(`${plan.seed}/lie`));
    if (told !== null) world.wrong.push(...judge(told));
    return {
      hash: await hashOf(world),
      wrong: world.wrong,
      alarms: raised,
      told,
      events: world.events,
      encryptions: world.nonces.count,
      messages: world.said.length,
      steps: played,
      trace: world.trace.lines,
    };
  } finally {
    await world.end();
  }
}

function scriptOf({ script, steps }: Plan): (readonly [number, StepName | null])[] {
  if (script === undefined) return Array.from({ length: steps }, (_, step) => [step, null] as const);
  return script.map((line) => {
    const [step = '', name = ''] = line.split(' ');
    if (!Object.hasOwn(kinds, name)) throw new Error(`no such step: ${name}`);
    return [Number(step), name as StepName] as const;
  });
}

async function hashOf(world: World): Promise<string> {
  const hash = createHash('sha256').update(world.trace.digest());
  hash.update(JSON.stringify(await logsOfRelay(world.relay)));
  for (const { profile, tabs } of world.seats) {
    hash.update(profile.name);
    const [tab] = tabs;
    if (tab === undefined) continue;
    const states = await tab.crypto.conversations();
    hash.update(JSON.stringify(states));
    for (const { conversationId } of states)
      hash.update(JSON.stringify(await messagesOf(tab.crypto, conversationId)));
  }
  return hash.digest('hex');
}
