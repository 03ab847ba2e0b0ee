/** One run: builds the groups, then measures every contender in the same interleaved rounds. */
import { type CipherSuiteId, ready } from '@sinetti/crypto-core';
import { bareLane } from './bare.ts';
import type { Lane } from './lane.ts';
import { plaintextOf } from './message.ts';
import { buildOurGroup, epochCost, firstMessageLane, ourLane } from './ours.ts';
import type { Library, Measurement, RunOptions, RunResult, SetUp } from './report.ts';
import { measure, type RoundPlan } from './rounds.ts';
import { StateStore } from './store.ts';
import { buildTsMlsGroup, tsMlsLane } from './tsMls.ts';

export type Progress = (text: string) => void;

interface Plans {
  readonly sizes: readonly number[];
  readonly memory: RoundPlan;
  readonly durable: RoundPlan;
  readonly first: RoundPlan;
}

const SUITES: readonly CipherSuiteId[] = [0x0003, 0xf04d];

const FULL: Plans = {
  sizes: [2, 100, 1000],
  memory: { kind: 'memory', rounds: 101, warmUpRounds: 10, messagesPerRound: 30 },
  durable: { kind: 'durable', rounds: 41, warmUpRounds: 3, messagesPerRound: 5 },
  first: { kind: 'first', rounds: 15, warmUpRounds: 2, messagesPerRound: 10 },
};

const QUICK: Plans = {
  sizes: [2, 100],
  memory: { kind: 'memory', rounds: 5, warmUpRounds: 1, messagesPerRound: 20 },
  durable: { kind: 'durable', rounds: 3, warmUpRounds: 1, messagesPerRound: 3 },
  first: { kind: 'first', rounds: 3, warmUpRounds: 1, messagesPerRound: 3 },
};

/** Sends fewer messages in a round where they are long, so that a round takes about as long as one of 200 bytes. */
function planFor(plan: RoundPlan, bytes: number): RoundPlan {
  const longer = 1 + Math.max(0, bytes - 200) / 5000;
  return { ...plan, messagesPerRound: Math.ceil(plan.messagesPerRound / longer) };
}

export async function run({ quick, only, bytes }: RunOptions, progress: Progress): Promise<RunResult> {
  const plans = quick ? QUICK : FULL;
  const plaintext = plaintextOf(bytes);
  await ready();
  const store = await StateStore.open();
  const wanted = (library: Library): boolean => only.length === 0 || only.includes(library);
  const setUps: SetUp[] = [];
  const memory: Lane[] = [];
  const durable: Lane[] = [];
  const first: Lane[] = [];

  if (wanted('bare libsodium')) memory.push(bareLane(plaintext));
  for (const members of wanted('ts-mls') ? plans.sizes : []) {
    const begins = performance.now();
    const group = await buildTsMlsGroup(members);
    setUps.push({ ...group.contender, milliseconds: performance.now() - begins, epoch: null });
    progress(`built a group of ${members} with ts-mls`);
    memory.push(tsMlsLane(group, plaintext, null));
    durable.push(tsMlsLane(group, plaintext, store));
  }
  for (const suite of wanted('crypto-core') ? SUITES : []) {
    for (const members of plans.sizes) {
      const begins = performance.now();
      const group = buildOurGroup(suite, members);
      setUps.push({ ...group.contender, milliseconds: performance.now() - begins, epoch: epochCost(group) });
      progress(`built a group of ${members} with crypto-core, suite ${suite}`);
      memory.push(ourLane(group, plaintext, null));
      durable.push(ourLane(group, plaintext, store));
      first.push(firstMessageLane(group, plaintext));
    }
  }
  if (wanted('IndexedDB alone')) durable.push(storeLane(store));

  const measurements: Measurement[] = [];
  for (const [lanes, usual] of [
    [memory, plans.memory],
    [durable, plans.durable],
    [first, plans.first],
  ] as const) {
    if (lanes.length === 0) continue;
    const plan = planFor(usual, bytes);
    progress(`measuring: ${plan.kind}, ${lanes.length} contenders, ${plan.rounds} rounds`);
    measurements.push(...(await measure(lanes, plan)));
  }
  return { measurements, setUps, userAgent: navigator.userAgent, bytes };
}

/** The least that any durable step can cost: a transaction that writes one small record. */
function storeLane(store: StateStore): Lane {
  const record = new Uint8Array(64);
  let pending = 0;
  async function write(count: number): Promise<number> {
    let bytes = 0;
    for (let i = 0; i < count; i++) bytes += await store.write({ puts: [['alone', record]], deletes: [] });
    return bytes / count;
  }
  return {
    contender: { library: 'IndexedDB alone', suite: null, members: null },
    send(count) {
      pending = count;
      return write(count);
    },
    receive: () => write(pending),
  };
}
