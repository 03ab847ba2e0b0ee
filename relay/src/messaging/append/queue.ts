import type { AppendOutcome, NewEntry } from './append.ts';
import type { Appender } from './appender.ts';

/** The most messages of one batch, because its transaction holds up others. */
const maxMessages = 512;
/** The most characters of content in one batch. */
const maxContent = 4 * 1024 * 1024;

interface PendingAppend {
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

class Batch {
  readonly entries: NewEntry[] = [];
  /** The callers that wait, by the indexes of `entries`. */
  readonly waiting: PendingAppend[] = [];
  #content = 0;

  hasRoomFor({ content }: NewEntry): boolean {
    return this.entries.length < maxMessages && this.#content + content.length <= maxContent;
  }

  add(entry: NewEntry, waiting: PendingAppend): void {
    this.entries.push(entry);
    this.waiting.push(waiting);
    this.#content += entry.content.length;
  }
}

/**
 * Gathers the messages that arrive together, and those that arrive while the batch before them is on its way to the
 * disk: one transaction for all of them costs little more than one for each. Messages of a lane keep their order.
 */
export class AppendQueue {
  readonly #appender: Appender;
  readonly #clock: () => number;
  /** The waiting batches of each lane that has one on its way, or due. */
  readonly #lanes = new Map<string, Batch[]>();

  constructor(appender: Appender, clock: () => number) {
    this.#appender = appender;
    this.#clock = clock;
  }

  /** Resolves once the database has committed. @throws whatever kept it from that */
  append(entry: NewEntry): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => this.#batchFor(entry).add(entry, { resolve, reject }));
  }

  #batchFor(entry: NewEntry): Batch {
    const lane = this.#appender.laneOf(entry);
    let batches = this.#lanes.get(lane);
    if (batches === undefined) {
      batches = [];
      this.#lanes.set(lane, batches);
      // After the event loop's poll phase, in which the sockets are read: all that came with them goes together.
      setImmediate(() => void this.#run(lane));
    }
    const last = batches.at(-1);
    // The first message of a batch has room, however long it is.
    if (last?.hasRoomFor(entry) === true) return last;
    const batch = new Batch();
    batches.push(batch);
    return batch;
  }

  async #run(lane: string): Promise<void> {
    const batches = this.#lanes.get(lane);
    for (let batch = batches?.shift(); batch !== undefined; batch = batches?.shift()) {
      await this.#appendTogether(batch);
    }
    this.#lanes.delete(lane);
  }

  async #appendTogether({ entries, waiting }: Batch): Promise<void> {
    try {
      const outcomes = await this.#appender.append(entries, this.#clock());
      for (const [index, { resolve }] of waiting.entries()) resolve(outcomes[index] as AppendOutcome);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
