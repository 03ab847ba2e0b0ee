/** This device's state of the message backup, as it is stored. */
import type { Transaction, WriteTransaction } from './db.ts';
import { BackupRecord } from './records.ts';
import type { Sealer } from './sealer.ts';

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
