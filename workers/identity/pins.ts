/** Pins: the account keys by which people are known (PROTOCOL section 6). */
import { equalBytes } from '@sinetti/crypto-core';
import type { AccountState, VerifiedContact } from '@sinetti/crypto-core/account';
import { CryptoApiError } from '../api/errors.ts';
import type { AccountOnDevice, UnlockedAccount } from '../session/session.ts';
import { type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import { MarksRecord, newMarksRecord, PinRecord } from '../storage/records.ts';

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
  return {
    accountKey,
    firstSeen: now,
    verifiedAt: null,
    offered: null,
    waiting: [],
    former: [],
    refused: [],
    name: null,
  };
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
  const offering = withOffer(pin, accountKey);
  if (offering !== pin) await putPin(tx, account, userId, offering);
}

function withOffer(pin: PinRecord, accountKey: Uint8Array): PinRecord {
  const known = [pin.accountKey, ...pin.former.map((former) => former.accountKey)];
  if (known.some((key) => equalBytes(key, accountKey))) return pin;
  const waiting = pin.waiting.filter((key) => !equalBytes(key, accountKey));
  return { ...pin, offered: accountKey, waiting };
}

/** Reads a pin. @throws CryptoApiError `unknown-person` for a person of whom no device was seen yet */
export async function requirePin(
  tx: Transaction,
  account: UnlockedAccount,
  userId: string,
): Promise<PinRecord> {
  const pin = await readPin(tx, account, userId);
  if (pin === null) throw new CryptoApiError('unknown-person');
  return pin;
}

/** Reads all pins, of whoever was seen first first. */
export async function readAllPins(
  tx: Transaction,
  { sealer }: UnlockedAccount,
): Promise<Map<string, PinRecord>> {
  const store = tx.objectStore('pins');
  const [userIds, rows] = await Promise.all([store.getAllKeys(), store.getAll()]);
  const pins = userIds.flatMap((userId, i) => {
    const sealed = rows[i];
    return sealed === undefined ? [] : [[userId, sealer.open('pins', userId, sealed, PinRecord)] as const];
  });
  return new Map(pins.sort(([, one], [, other]) => one.firstSeen - other.firstSeen));
}

/** Returns whether this device has read the account state: before that it pins nobody, who may be known to another one. */
export async function hasReadState(tx: Transaction): Promise<boolean> {
  return (await tx.objectStore('device').getKey('marks')) !== undefined;
}

/** Reads how far this device knows the account state. */
export async function readMarksRecord(tx: Transaction, { sealer }: UnlockedAccount): Promise<MarksRecord> {
  const sealed = await tx.objectStore('device').get('marks');
  return sealed === undefined ? newMarksRecord : sealer.open('device', 'marks', sealed, MarksRecord);
}

export async function putMarksRecord(
  tx: WriteTransaction,
  { sealer }: UnlockedAccount,
  record: MarksRecord,
): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'marks', record), 'marks');
}

/** The marks in pins, oldest first. */
export function marksIn(pins: ReadonlyMap<string, PinRecord>): VerifiedContact[] {
  return [...pins]
    .flatMap(([userId, { accountKey, verifiedAt }]) =>
      verifiedAt === null ? [] : [{ contact: { userId, accountKey }, verifiedAt }],
    )
    .sort((one, other) => one.verifiedAt - other.verifiedAt)
    .map(({ contact }) => contact);
}

/**
 * Takes over the verified contacts of an account state, which any of the person's devices may have sealed. An
 * older one than the newest seen, from a late answer or a relay that rolls back, changes nothing.
 * @param pins all pins here, in which what changes is changed too
 */
export async function adoptVerified(
  tx: WriteTransaction,
  account: UnlockedAccount,
  { verified, revision }: AccountState,
  now: number,
  pins: Map<string, PinRecord>,
): Promise<void> {
  const known = await readMarksRecord(tx, account);
  if (revision < known.revision) return;
  if (revision > known.revision) await putMarksRecord(tx, account, { ...known, revision });
  const keys = new Map(verified.map(({ userId, accountKey }) => [userId, accountKey]));
  for (const [userId, pin] of pins) {
    const next = withMark(pin, keys.get(userId), now);
    keys.delete(userId);
    if (next === pin) continue;
    pins.set(userId, next);
    await putPin(tx, account, userId, next);
  }
  for (const [userId, accountKey] of keys) {
    const pin = { ...newPin(accountKey, now), verifiedAt: now };
    pins.set(userId, pin);
    await putPin(tx, account, userId, pin);
  }
}

/** @param verifiedKey the account key that the person has compared, if any */
function withMark(pin: PinRecord, verifiedKey: Uint8Array | undefined, now: number): PinRecord {
  if (verifiedKey === undefined) return pin.verifiedAt === null ? pin : { ...pin, verifiedAt: null };
  if (!equalBytes(verifiedKey, pin.accountKey)) return withOffer(pin, verifiedKey);
  return pin.verifiedAt === null ? { ...pin, verifiedAt: now } : pin;
}

/**
 * Writes all of `body` or nothing; where another account key stops it, keeps that key for the person to
 * judge.
 */
export async function writeOrOfferKey<T>(
  account: AccountOnDevice,
  durability: 'strict' | 'relaxed',
  body: (tx: WriteTransaction) => Promise<T>,
): Promise<T> {
  try {
    return await write(account.db, durability, body);
  } catch (error) {
    if (error instanceof IdentityChanged) {
      await write(account.db, 'relaxed', (tx) => offerAccountKey(tx, account, error));
    }
    throw error;
  }
}
