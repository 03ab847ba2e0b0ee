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

const id = string(128);

/** The state of the running hash beside its rows. Written once an epoch, and with what is found. */
export const ChainRecord = object({
  /** With `linkFrom`: how far the signer of the GroupInfo had read that this device joined by. */
  anchor: nullable(LogPositionRecord),
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
    }),
    limits.divergedDevices,
  ),
});
export type ChainRecord = Guarded<typeof ChainRecord>;
