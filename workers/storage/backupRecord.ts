/** The message backup, as it is stored. */
import { boolean, type Guarded, integer, nullable, object, withDefault } from '../codec/guards.ts';
import type { Transaction, WriteTransaction } from './db.ts';
import type { Sealer } from './sealer.ts';

/** This device's state of the message backup. */
export const BackupRecord = object({
  /** The person wants the backup to be kept. */
  kept: boolean,
  /** Counts the changes of `kept`, so that a relay can't bring an older choice back. */
  version: integer(0),
  /** The person's other devices have been told of it. */
  isTold: boolean,
  /** The relay's position of the newest entry that this device has read or stored. */
  position: integer(0),
  /** The position of the first entry that was left to the log, which was to bring its message. */
  leftToLog: withDefault(nullable(integer(1)), null),
});
export type BackupRecord = Guarded<typeof BackupRecord>;

/** The position up to which all messages of a conversation that can be are in the backup. */
export const BackupPositionRecord = object({ upTo: integer(0) });
export type BackupPositionRecord = Guarded<typeof BackupPositionRecord>;

interface Account {
  readonly sealer: Sealer;
}

const firstRecord: BackupRecord = { kept: true, version: 0, isTold: true, position: 0, leftToLog: null };

export async function readBackupRecord(tx: Transaction, { sealer }: Account): Promise<BackupRecord> {
  const sealed = await tx.objectStore('device').get('history');
  return sealed === undefined ? { ...firstRecord } : sealer.open('device', 'history', sealed, BackupRecord);
}

export async function putBackupRecord(
  tx: WriteTransaction,
  { sealer }: Account,
  record: BackupRecord,
): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'history', record), 'history');
}

/** Has copies that were left to the log read again, since the log doesn't have their messages any more. */
export async function readCopiesAgain(tx: WriteTransaction, account: Account): Promise<void> {
  const record = await readBackupRecord(tx, account);
  if (record.leftToLog === null) return;
  const position = Math.min(record.position, record.leftToLog - 1);
  await putBackupRecord(tx, account, { ...record, position, leftToLog: null });
}
