/** The own devices that the log of their group has taken out, which none comes back after (PROTOCOL section 2). */
import { limits } from '../codec/limits.ts';
import type { UnlockedAccount } from '../session/session.ts';
import type { Transaction } from '../storage/db.ts';
import { type MembersRecord, RemovedRecord } from '../storage/records.ts';
import type { MlsGroup } from './mlsGroup.ts';
import type { TransactionScope } from './transactionScope.ts';

interface OwnDevicesScope extends TransactionScope {
  readonly isSelf: boolean;
  membershipPolicy(): Promise<{ readonly removedIds: Set<string> }>;
}

/** Reads the ids of the devices that were seen to be taken out of the own devices' group. */
export async function readRemoved(tx: Transaction, { sealer }: UnlockedAccount): Promise<RemovedRecord> {
  const row = await tx.objectStore('device').get('removed');
  return row === undefined ? [] : sealer.open('device', 'removed', row, RemovedRecord);
}

/** Keeps which own devices a commit that this device has followed took out of their group. */
export async function rememberRemoved(
  transaction: OwnDevicesScope,
  before: MembersRecord | null,
  state: MlsGroup,
): Promise<void> {
  if (!transaction.isSelf || before === null) return;
  const gone = before.flatMap(({ deviceIds, userId }) =>
    deviceIds.filter((deviceId) => !state.hasDevice(userId, deviceId)),
  );
  if (gone.length === 0) return;
  const { account, tx } = transaction;
  const { removedIds } = await transaction.membershipPolicy();
  for (const deviceId of gone) removedIds.add(deviceId);
  const sealed = account.sealer.seal('device', 'removed', [...removedIds].slice(-limits.devicesPerPerson));
  transaction.queueWrite(tx.objectStore('device').put(sealed, 'removed'));
}
