import type { Lane } from './lane.ts';
import type { Measurement, Operation } from './report.ts';

export interface RoundPlan {
  readonly kind: Measurement['kind'];
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly messagesPerRound: number;
}

/**
 * Measures all lanes in interleaved rounds: each round gives every lane one turn, so that whatever else the machine
 * does falls on all of them alike. The order is shuffled each time: a lane that always followed the same other would
 * always pay for the collection of that one's garbage.
 */
export async function measure(lanes: readonly Lane[], plan: RoundPlan): Promise<Measurement[]> {
  const samples = lanes.map((lane) => ({ lane, send: new Samples(), receive: new Samples() }));
  for (let round = -plan.warmUpRounds; round < plan.rounds; round++) {
    for (const { lane, send, receive } of shuffled(samples)) {
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
      rounds: this.#microseconds,
      messagesPerRound: plan.messagesPerRound,
      bytesPerMessage: this.#bytes.length === 0 ? null : median(this.#bytes),
    };
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[samples.length >> 1]!;
}
