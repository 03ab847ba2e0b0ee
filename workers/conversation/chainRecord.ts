/** The state of the running hash beside its rows, one record a conversation. */
import type { LogPosition } from '@sinetti/crypto-core/content';
import {
  array,
  boolean,
  type Guarded,
  integer,
  nullable,
  object,
  string,
  withDefault,
} from '../codec/guards.ts';
import { bytes } from '../codec/json.ts';
import { limits } from '../codec/limits.ts';
import { LogPositionRecord } from '../storage/records.ts';
import type { TransactionScope } from './transactionScope.ts';

const id = string(128);

/** The state of the running hash beside its rows. Written once an epoch, and with what is found. */
export const ChainRecord = object({
  /** With `linkFrom`: how far the running hash has been taken on, from the GroupInfo that this device joined by or before. */
  anchor: nullable(LogPositionRecord),
  /**
   * With `linkFrom`: what the running hash has to be at positions that it is still to pass. Where it `leads`, the hash goes on
   * from it if it is another one.
   */
  marks: withDefault(array(object({ position: integer(0), hash: bytes(32, 32), leads: boolean }), 2), []),
  /** With `marks`: the device that has signed the GroupInfo. */
  signer: withDefault(nullable(object({ userId: id, deviceId: id })), null),
  /** How far a device that was taken out had read the log. */
  past: withDefault(nullable(LogPositionRecord), null),
  /** The position up to which the entries of each device are counted here; those after it have rows. */
  from: integer(0),
  /** Every entry since the start was counted, so that a device without a tally has had none. */
  isComplete: boolean,
  tallies: array(object({ deviceId: id, count: integer(0) }), 100_000),
  /**
   * Devices that were given another log, each with the last header that was compared. `shift`: how much further their
   * positions are than those of the same entries here.
   */
  diverged: array(
    object({
      deviceId: id,
      position: integer(0),
      hash: bytes(32, 32),
      shift: integer(0),
      /** A receipt said so, which doesn't show whether positions differ too. */
      byReceipt: withDefault(boolean, false),
      /** It differed more than once, so that only its counts are compared. */
      isLost: boolean,
      /** Number of its headers that have differed in this epoch. */
      compared: withDefault(integer(0), 0),
      /** It has claimed more messages than are shown one by one, in this epoch. */
      isMany: withDefault(boolean, false),
    }),
    limits.divergedDevices,
  ),
});
export type ChainRecord = Guarded<typeof ChainRecord>;
export type Mark = ChainRecord['marks'][number];
export type Diverged = ChainRecord['diverged'][number];

/** A device that has signed a GroupInfo, and what it says there of the log. */
export interface SignedPosition extends LogPosition {
  readonly signer: NonNullable<ChainRecord['signer']>;
}

/** The record within one transaction. */
export class ChainStore {
  readonly #transaction: TransactionScope;
  #record: ChainRecord | undefined;

  constructor(transaction: TransactionScope) {
    this.#transaction = transaction;
  }

  async read(): Promise<ChainRecord> {
    const { account, conversationId, tx } = this.#transaction;
    if (this.#record === undefined) {
      const sealed = await tx.objectStore('chains').get(conversationId);
      this.#record =
        sealed === undefined
          ? emptyRecord({ from: 0, isComplete: false })
          : account.sealer.open('chains', conversationId, sealed, ChainRecord);
    }
    return this.#record;
  }

  put(record: ChainRecord): void {
    const { account, conversationId, tx } = this.#transaction;
    this.#record = record;
    const sealed = account.sealer.seal('chains', conversationId, record);
    this.#transaction.queueWrite(tx.objectStore('chains').put(sealed, conversationId));
  }

  /** Begins counting and comparing anew. */
  reset(begun: Pick<ChainRecord, 'from' | 'isComplete'> & Partial<ChainRecord>): void {
    this.put(emptyRecord(begun));
  }
}

function emptyRecord(begun: Pick<ChainRecord, 'from' | 'isComplete'> & Partial<ChainRecord>): ChainRecord {
  return { anchor: null, marks: [], signer: null, past: null, tallies: [], diverged: [], ...begun };
}
