/**
 * Finds that this machine's clock was set back while the browser was closed. The times at which messages disappear were set by the clock as it
 * was: they go back with it, or a message that was opened by a clock that ran ahead would live longer by that.
 */
import { type Guarded, integer, object } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import type { UnlockedAccount } from '../session/session.ts';
import { UNREAD, type WriteTransaction } from '../storage/db.ts';
import { MessageKeeper } from './messageKeeper.ts';
import { areClocksClose, type LoggedMessage } from './messageView.ts';

/** Times are milliseconds since the Unix epoch. */
const ClockRecord = object({
  /** The latest time at which a worker has looked for what is over. */
  seen: integer(0, limits.latestTime),
  /** Milliseconds by which the clock was found to be set back, all in all. */
  setBack: integer(0),
});
type ClockRecord = Guarded<typeof ClockRecord>;

/** Follows the clock, with the times of all messages that were read where it was set back. Call it before looking for what is over. */
export async function followClock(tx: WriteTransaction, account: UnlockedAccount): Promise<void> {
  const { clock, sealer } = account;
  const device = tx.objectStore('device');
  const sealed = await device.get('clock');
  const { seen, setBack }: ClockRecord =
    sealed === undefined ? { seen: 0, setBack: 0 } : sealer.open('device', 'clock', sealed, ClockRecord);
  // Another tab has found it, while this one has gone on by the clock as it was.
  if (clock.heardOf !== null) clock.turnBack(setBack - clock.heardOf);
  clock.heardOf = setBack;
  const now = clock.now();
  const by = seen - now;
  if (by > 0 && !(await setTimesBack(tx, account, seen, now))) return;
  if (by > 0) clock.heardOf += by;
  await device.put(sealer.seal('device', 'clock', { seen: now, setBack: clock.heardOf }), 'clock');
}

/**
 * Leaves each message the time that it had as the browser was last seen, and never more than its timer.
 * @returns false where it is rather the clock of now that is wrong: it is behind when the relay had a message that was read here, by its sender's clock, too
 */
async function setTimesBack(
  tx: WriteTransaction,
  account: UnlockedAccount,
  seen: number,
  now: number,
): Promise<boolean> {
  const within = IDBKeyRange.upperBound([UNREAD, ''], true);
  const keys = await tx.objectStore('messages').index('expires').getAllKeys(within);
  const read: { readonly keeper: MessageKeeper; readonly logged: LoggedMessage }[] = [];
  for (const [conversationId, seq] of keys) {
    const keeper = new MessageKeeper(tx, account, conversationId);
    const logged = await keeper.views.at(seq);
    if (logged === null) continue;
    const { sentAt, timestamp } = logged.record;
    const hadAt = Date.parse(timestamp);
    // By one wrong time the relay alone could have all of them stay: the sender's clock has to say the same.
    const isSure = sentAt !== null && areClocksClose(sentAt, hadAt);
    if (isSure && hadAt > now + limits.clockDifference) return false;
    read.push({ keeper, logged });
  }
  for (const { keeper, logged } of read) keeper.setTimeBack(logged, seen);
  return true;
}
