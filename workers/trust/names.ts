/** Names as their owners' devices have signed them (PROTOCOL section 3). */
import { CryptoError, equalBytes, ready } from '@sinetti/crypto-core';
import { signName, verifyName } from '@sinetti/crypto-core/account';
import { check, OwnName, SignedNames } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import type { Confirmations } from '../identity/confirmations.ts';
import { putPin, readPin } from '../identity/pins.ts';
import { isRevokedBy } from '../identity/revocations.ts';
import type { AccountOnDevice, Session } from '../session/session.ts';
import { read, type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import { NameRecord } from '../storage/records.ts';
import { nextRevision } from './revisions.ts';

type Verified = ReturnType<typeof verifyName>;

export function createNames(session: Session, confirmations: Confirmations) {
  /** @throws CryptoApiError `usage` unless the person has just typed this name */
  function requireTyped(username: string): void {
    // At log-in the person has typed it with the password, which has opened the vault.
    if (session.isSigningIn()) return;
    const confirmed = confirmations.take(['change-names'], null);
    const [typed = ''] = confirmed.operation.target.split(' ');
    if (typed !== username) throw new CryptoApiError('usage', 'another name than was confirmed');
  }

  return {
    async takeNames(given) {
      const names = check('takeNames', SignedNames, given);
      const account = session.accountOnDevice();
      await ready();
      const verified = names.flatMap(({ signedName, userId }) => {
        const name = readName(signedName);
        return name === null || name.signer.userId !== userId ? [] : [name];
      });
      await write(account.db, 'relaxed', async (tx) => {
        for (const name of verified) await take(tx, account, name);
      });
    },

    async signName(given) {
      const username = check('signName', OwnName, given);
      const account = session.accountOnDevice();
      await ready();
      const { device } = account;
      const known = await read(account.db, (tx) => readOwnName(tx, account));
      requireTyped(username);
      const name = { username, revision: nextRevision(known?.revision ?? 0) };
      await write(account.db, 'strict', (tx) =>
        putOwnName(tx, account, { ...name, deviceId: device.deviceId }),
      );
      const { certificate, signatureKey } = device;
      return toBase64Url(signName({ certificate, ...name }, signatureKey.privateKey));
    },
  } satisfies Partial<CryptoApi>;
}

function readName(signedName: Uint8Array): Verified | null {
  try {
    return verifyName(signedName);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

/** Keeps a name, if a live device under the pinned account key has signed it, later than the one known. */
async function take(
  tx: WriteTransaction,
  account: AccountOnDevice,
  { revision, signer, username }: Verified,
): Promise<void> {
  const { accountKey, deviceId, userId } = signer;
  if (await isRevokedBy(tx, account, signer)) return;
  const name = { username, revision, deviceId };
  if (userId === account.userId) {
    const isOwn = equalBytes(accountKey, account.device.accountKey);
    const known = await readOwnName(tx, account);
    if (isOwn && (await takesPlace(tx, account, name, known, signer))) await putOwnName(tx, account, name);
    return;
  }
  const pin = await readPin(tx, account, userId);
  if (pin === null || !equalBytes(pin.accountKey, accountKey)) return;
  if (!(await takesPlace(tx, account, name, pin.name, signer))) return;
  await putPin(tx, account, userId, { ...pin, name });
}

/**
 * Returns whether a name takes the place of the one known. That of a device which is revoked by now stays until a live one
 * says another, but counts for nothing beside it, whatever its revision: it may be from after the revocation.
 */
async function takesPlace(
  tx: Transaction,
  account: AccountOnDevice,
  name: NameRecord,
  known: NameRecord | null,
  { accountKey, userId }: Verified['signer'],
): Promise<boolean> {
  if (isLater(name, known)) return true;
  return known !== null && isRevokedBy(tx, account, { userId, accountKey, deviceId: known.deviceId });
}

/** Returns whether a name takes the place of another: the higher revision does, of equal ones the higher device id. */
function isLater(name: NameRecord, known: NameRecord | null): boolean {
  if (known === null || name.revision !== known.revision) return name.revision > (known?.revision ?? -1);
  return name.deviceId > known.deviceId;
}

async function readOwnName(tx: Transaction, { sealer }: AccountOnDevice): Promise<NameRecord | null> {
  const sealed = await tx.objectStore('device').get('name');
  return sealed === undefined ? null : sealer.open('device', 'name', sealed, NameRecord);
}

async function putOwnName(
  tx: WriteTransaction,
  { sealer }: AccountOnDevice,
  name: NameRecord,
): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'name', name), 'name');
}
