import type { Lane } from './lane.ts';
import type { Measurement, Operation } from './report.ts';

export interface RoundPlan {
  readonly kind: Measurement['kind'];
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly messagesPerRound: number;
}

/**
 * Measures all lanes in interleaved rounds: each round gives every lane one turn, in an order that rotates, so that
 * whatever else the machine does falls on all of them alike.
 */
export async function measure(lanes: readonly Lane[], plan: RoundPlan): Promise<Measurement[]> {
  const samples = lanes.map((lane) => ({ lane, send: new Samples(), receive: new Samples() }));
  for (let round = -plan.warmUpRounds; round < plan.rounds; round++) {
    for (let turn = 0; turn < samples.length; turn++) {
      const { lane, send, receive } = samples[(turn + round + plan.warmUpRounds) % samples.length]!;
      lane.prepare?.(plan.messagesPerRound);
      const sendBegins = performance.now();
      const sendBytes = await lane.send(plan.messagesPerRound);
      const receiveBegins = performance.now();
      const receiveBytes = await lane.receive();
      const ends = performance.now();
      if (round < 0) continue;
      send.add(((receiveBegins - sendBegins) * 1000) / plan.messagesPerRound, sendBytes);
      receive.add(((ends - receiveBegins) * 1000) / plan.messagesPerRound, receiveBytes);
    }
  }
  return samples.flatMap(({ lane, send, receive }) => [
    send.summary(lane, plan, 'send'),
    receive.summary(lane, plan, 'receive'),
  ]);
}

class Samples {
  readonly #microseconds: number[] = [];
  readonly #bytes: number[] = [];

  add(microseconds: number, bytes: number | null): void {
    this.#microseconds.push(microseconds);
    if (bytes !== null) this.#bytes.push(bytes);
  }

  summary({ contender }: Lane, plan: RoundPlan, operation: Operation): Measurement {
    return {
      ...contender,
      operation,
      kind: plan.kind,
      median: quantile(this.#microseconds, 0.5),
      lowerQuartile: quantile(this.#microseconds, 0.25),
      upperQuartile: quantile(this.#microseconds, 0.75),
      rounds: plan.rounds,
      messagesPerRound: plan.messagesPerRound,
      bytesPerMessage: this.#bytes.length === 0 ? null : quantile(this.#bytes, 0.5),
    };
  }
}

/** @param at between 0 and 1; linear between the two nearest samples */
function quantile(samples: readonly number[], at: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * at;
  const below = Math.floor(position);
  const lower = sorted[below]!;
  const upper = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return lower + (upper - lower) * (position - below);
}
