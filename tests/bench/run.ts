/** One run: builds the groups, then measures every contender in the same interleaved rounds. */
import { bareLane } from './bare.ts';
import type { Lane } from './lane.ts';
import type { Contender, Library, Measurement, RunOptions, RunResult, SetUp } from './report.ts';
import { measure, type RoundPlan } from './rounds.ts';
import { StateStore } from './store.ts';
import { buildTsMlsGroup, tsMlsLane } from './tsMls.ts';

export type Progress = (text: string) => void;

interface Plans {
  readonly sizes: readonly number[];
  readonly memory: RoundPlan;
  readonly durable: RoundPlan;
}

const FULL: Plans = {
  sizes: [2, 100, 1000],
  memory: { kind: 'memory', rounds: 31, warmUpRounds: 5, messagesPerRound: 100 },
  durable: { kind: 'durable', rounds: 21, warmUpRounds: 2, messagesPerRound: 10 },
};

const QUICK: Plans = {
  sizes: [2, 100],
  memory: { kind: 'memory', rounds: 5, warmUpRounds: 1, messagesPerRound: 20 },
  durable: { kind: 'durable', rounds: 3, warmUpRounds: 1, messagesPerRound: 3 },
};

export async function run({ quick, only }: RunOptions, progress: Progress): Promise<RunResult> {
  const plans = quick ? QUICK : FULL;
  const store = await StateStore.open();
  const wanted = (library: Library): boolean => only === null || only === library;
  const setUps: SetUp[] = [];
  const memory: Lane[] = [];
  const durable: Lane[] = [];

  async function timed<T>(build: () => Promise<T>): Promise<[T, number]> {
    const begins = performance.now();
    return [await build(), performance.now() - begins];
  }
  function note(contender: Contender, milliseconds: number, epochBytes: number | null): void {
    setUps.push({ ...contender, milliseconds, epochBytes });
    progress(
      `built ${contender.library}, ${contender.members} members: ${(milliseconds / 1000).toFixed(1)} s`,
    );
  }

  if (wanted('bare libsodium')) memory.push(await bareLane());
  for (const members of wanted('ts-mls') ? plans.sizes : []) {
    const [group, milliseconds] = await timed(() => buildTsMlsGroup(members));
    note(group.contender, milliseconds, null);
    memory.push(tsMlsLane(group, null));
    durable.push(tsMlsLane(group, store));
  }
  if (wanted('IndexedDB alone')) durable.push(storeLane(store));

  const measurements: Measurement[] = [];
  for (const [lanes, plan] of [
    [memory, plans.memory],
    [durable, plans.durable],
  ] as const) {
    progress(`measuring: ${plan.kind}, ${lanes.length} contenders, ${plan.rounds} rounds`);
    measurements.push(...(await measure(lanes, plan)));
  }
  return {
    measurements,
    setUps,
    userAgent: navigator.userAgent,
    hardwareConcurrency: navigator.hardwareConcurrency,
  };
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
