/** One device, one place: how a storage that was copied or restored is told from one that goes on (PROTOCOL section 3). */
import { equalBytes, ready } from '@sinetti/crypto-core';
import { signDeviceCopied, signDeviceStart } from '@sinetti/crypto-core/account';
import { check, Id, RegisteredStart } from '../api/arguments.ts';
import type { CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import { FormerDeviceRecord, StartRecord } from '../storage/records.ts';
import type { Session, SessionDeps, UnlockedAccount } from './session.ts';

export function createPlace({ env }: Pick<SessionDeps, 'env'>, session: Session) {
  /** Draws a start for this worker. A tag is never drawn again, or a copy of the storage would draw it too. */
  function drawn(known: StartRecord | null): StartRecord {
    const tag = env.random(16);
    if (known === null) return { number: 1, tag, confirmed: 0, former: [], isCopied: false };
    return { ...known, number: known.number + 1, tag, former: withTag(known.former, known.tag) };
  }

  return {
    async start() {
      const account = session.accountOnDevice();
      await ready();
      const { deviceId, signatureKey } = account.device;
      const record = await write(account.db, 'strict', async (tx) => {
        const known = await readStart(tx, account);
        if (known?.isCopied === true) throw new CryptoApiError('device-copied');
        if (known !== null && account.isStarted) return known;
        const next = drawn(known);
        await putStart(tx, account, next);
        return next;
      });
      account.isStarted = true;
      const { former, number, tag } = record;
      const from = named(former);
      const claims = { userId: account.userId, deviceId, number, tag, from };
      return {
        number,
        tag: toBase64Url(tag),
        from: from.map(toBase64Url),
        signature: toBase64Url(signDeviceStart(signatureKey.privateKey, claims)),
        isRegistered: isRegistered(record),
      };
    },

    async startAnswered(input) {
      const answer = check('startAnswered', RegisteredStart, input);
      const account = session.accountOnDevice();
      return write(account.db, 'relaxed', async (tx) => {
        const known = await readStart(tx, account);
        if (known === null || known.isCopied) throw new CryptoApiError('device-copied');
        const { confirmed, former, number, tag } = known;
        if (equalBytes(answer.tag, tag)) {
          await putStart(tx, account, { ...known, confirmed: number, former: [] });
          return 'registered';
        }
        // Another tab has drawn one since: the relay is told of that.
        if (former.some((one) => equalBytes(one, answer.tag))) {
          // Keeps it first, so that the next request names it however many have been drawn since.
          const others = former.filter((one) => !equalBytes(one, answer.tag));
          await putStart(tx, account, { ...known, former: [answer.tag, ...others] });
          return 'again';
        }
        // Nothing else than a relay that was restored knows only an earlier one; or the answer is an old one.
        if (answer.number < confirmed) {
          await putStart(tx, account, { ...known, former: withTag(former, answer.tag) });
          return 'again';
        }
        await putStart(tx, account, { ...known, isCopied: true });
        return 'copied';
      });
    },

    async signCopied() {
      const { device, userId } = session.accountOnDevice();
      await ready();
      const { deviceId, signatureKey } = device;
      return toBase64Url(signDeviceCopied(signatureKey.privateKey, { userId, deviceId }));
    },

    async markCopied() {
      const account = session.accountOnDevice();
      await write(account.db, 'strict', (tx) => putCopied(tx, account, env.random(16)));
    },

    async formerTold(id) {
      const deviceId = check('formerTold', Id, id);
      const account = session.account();
      await write(account.db, 'relaxed', async (tx) => {
        if ((await readFormer(tx, account))?.deviceId === deviceId)
          await tx.objectStore('device').delete('former');
      });
    },
  } satisfies Partial<CryptoApi>;
}

/** The conditions under which a message may be encrypted. */
export interface Place {
  readonly isCopied: boolean;
  /** The tag of the registered start, base64url; null while this worker, or another tab's, has none registered. */
  readonly start: string | null;
}

export async function readPlace(tx: Transaction, account: UnlockedAccount): Promise<Place> {
  const record = await readStart(tx, account);
  const isKnown = record !== null && account.isStarted && isRegistered(record);
  return {
    isCopied: record?.isCopied === true,
    start: isKnown ? toBase64Url(record.tag) : null,
  };
}

/** Notes that the data of this device is in another place. @param tag drawn for a device that has had no start */
export async function putCopied(
  tx: WriteTransaction,
  account: UnlockedAccount,
  tag: Uint8Array,
): Promise<void> {
  const known = (await readStart(tx, account)) ?? { number: 1, tag, confirmed: 0, former: [] };
  await putStart(tx, account, { ...known, isCopied: true });
}

/** Reads the device that this browser was before; null once the relay knows of it. */
export async function readFormer(
  tx: Transaction,
  { sealer }: UnlockedAccount,
): Promise<FormerDeviceRecord | null> {
  const row = await tx.objectStore('device').get('former');
  return row === undefined ? null : sealer.open('device', 'former', row, FormerDeviceRecord);
}

/** Adds a tag. The first one, which the relay has if no newer one has reached it, stays however many follow. */
function withTag(tags: readonly Uint8Array[], tag: Uint8Array): Uint8Array[] {
  return [...tags.slice(0, 1), ...tags.slice(1).slice(2 - limits.formerStarts), tag];
}

/** Returns the tags that a request names: the first one and the newest. If the relay has another, its answer says so. */
function named(tags: readonly Uint8Array[]): Uint8Array[] {
  return [...tags.slice(0, 1), ...tags.slice(1).slice(1 - limits.startsNamed)];
}

async function readStart(tx: Transaction, { sealer }: UnlockedAccount): Promise<StartRecord | null> {
  const row = await tx.objectStore('device').get('start');
  return row === undefined ? null : sealer.open('device', 'start', row, StartRecord);
}

async function putStart(
  tx: WriteTransaction,
  { sealer }: UnlockedAccount,
  record: StartRecord,
): Promise<void> {
  await tx.objectStore('device').put(sealer.seal('device', 'start', record), 'start');
}

function isRegistered({ confirmed, number }: StartRecord): boolean {
  return confirmed === number;
}
