/** Pins: the account keys by which people are known (PROTOCOL section 6). */
import { type AccountState, equalBytes, type VerifiedContact } from '@sinetti/crypto-core';
import { CryptoApiError } from '../api/errors.ts';
import type { UnlockedAccount } from '../session/session.ts';
import type { Transaction, WriteTransaction } from '../storage/db.ts';
import { MarksRecord, PinRecord } from '../storage/records.ts';

/** The error for a device of a known person that another account key than the pinned one certifies. */
export class IdentityChanged extends CryptoApiError {
  readonly userId: string;
  readonly accountKey: Uint8Array;

  constructor(userId: string, accountKey: Uint8Array) {
    super('identity-changed');
    this.userId = userId;
    this.accountKey = accountKey;
  }
}

export function newPin(accountKey: Uint8Array, now: number): PinRecord {
  return { accountKey, firstSeen: now, verifiedAt: null, offered: null, former: [], refused: [] };
}

export async function readPin(
  tx: Transaction,
  { sealer }: UnlockedAccount,
  userId: string,
): Promise<PinRecord | null> {
  const sealed = await tx.objectStore('pins').get(userId);
  return sealed === undefined ? null : sealer.open('pins', userId, sealed, PinRecord);
}

export async function putPin(
  tx: WriteTransaction,
  { sealer }: UnlockedAccount,
  userId: string,
  pin: PinRecord,
): Promise<void> {
  await tx.objectStore('pins').put(sealer.seal('pins', userId, pin), userId);
}

/**
 * Records another account key that was seen for a contact, for this person to accept or refuse; until then
 * the pinned one stays. A former key of the contact is not offered again.
 */
export async function offerAccountKey(
  tx: WriteTransaction,
  account: UnlockedAccount,
  { userId, accountKey }: Pick<IdentityChanged, 'userId' | 'accountKey'>,
): Promise<void> {
  const pin = await readPin(tx, account, userId);
  if (pin === null || userId === account.userId) return;
  const known = [pin.accountKey, ...pin.former.map((former) => former.accountKey)];
  if (known.some((key) => equalBytes(key, accountKey))) return;
  await putPin(tx, account, userId, { ...pin, offered: accountKey });
}

/** Reads the marks that count here; their revision is -1 before an account state was seen. */
export async function readMarks(tx: Transaction, account: UnlockedAccount): Promise<AccountState> {
  const pins = tx.objectStore('pins');
  const [revision, userIds, rows] = await Promise.all([
    readRevision(tx, account),
    pins.getAllKeys(),
    pins.getAll(),
  ]);
  const marks: { readonly contact: VerifiedContact; readonly verifiedAt: number }[] = [];
  for (const [i, userId] of userIds.entries()) {
    const sealed = rows[i];
    if (sealed === undefined) continue;
    const { accountKey, verifiedAt } = account.sealer.open('pins', userId, sealed, PinRecord);
    if (verifiedAt !== null) marks.push({ contact: { userId, accountKey }, verifiedAt });
  }
  marks.sort((one, other) => one.verifiedAt - other.verifiedAt);
  return { verified: marks.map(({ contact }) => contact), revision };
}

async function readRevision(tx: Transaction, { sealer }: UnlockedAccount): Promise<number> {
  const sealed = await tx.objectStore('device').get('marks');
  return sealed === undefined ? -1 : sealer.open('device', 'marks', sealed, MarksRecord).revision;
}

/**
 * Takes over the verified contacts of an account state, which any of the person's devices may have sealed. An
 * older one than the newest seen, from a late answer or a relay that rolls back, changes nothing.
 */
export async function adoptVerified(
  tx: WriteTransaction,
  account: UnlockedAccount,
  { verified, revision }: AccountState,
  now: number,
): Promise<void> {
  if (revision < (await readRevision(tx, account))) return;
  await tx.objectStore('device').put(account.sealer.seal('device', 'marks', { revision }), 'marks');
  const keys = new Map(verified.map(({ userId, accountKey }) => [userId, accountKey]));
  for (const userId of await tx.objectStore('pins').getAllKeys()) {
    const pin = await readPin(tx, account, userId);
    const verifiedKey = keys.get(userId);
    keys.delete(userId);
    if (pin === null) continue;
    if (verifiedKey === undefined) {
      if (pin.verifiedAt !== null) await putPin(tx, account, userId, { ...pin, verifiedAt: null });
    } else if (!equalBytes(verifiedKey, pin.accountKey)) {
      await offerAccountKey(tx, account, { userId, accountKey: verifiedKey });
    } else if (pin.verifiedAt === null) {
      await putPin(tx, account, userId, { ...pin, verifiedAt: now });
    }
  }
  for (const [userId, accountKey] of keys) {
    await putPin(tx, account, userId, { ...newPin(accountKey, now), verifiedAt: now });
  }
}
