/** Trust between people: safety numbers, verified contacts and changed account keys (PROTOCOL section 6). */
import {
  type AccountState,
  CryptoError,
  equalBytes,
  newestSharedKeys,
  openAccountState,
  ready,
  type SharedKeys,
  sealAccountState,
  sharedRevision,
  verifyDeviceCertificate,
} from '@sinetti/crypto-core';
import {
  Certificates,
  ConversationId,
  check,
  Id,
  SafetyNumber,
  SealedState,
  VerifiedMark,
} from '../api/arguments.ts';
import type { ContactTrust, CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { boolean } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import { inTransaction, type TransactionDeps } from '../conversation/conversationTransaction.ts';
import { lacksPresentDevices } from '../conversation/ownCommits.ts';
import type { Confirmations } from '../identity/confirmations.ts';
import { adoptVerified, newPin, offerAccountKey, putPin, readMarks, readPin } from '../identity/pins.ts';
import { safetyNumberOf } from '../identity/safetyNumbers.ts';
import { type AccountOnDevice, readKeys, type Session } from '../session/session.ts';
import { read, type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import { PinRecord } from '../storage/records.ts';

type TrustApi = Pick<
  CryptoApi,
  | 'contactTrust'
  | 'observeDevices'
  | 'safetyNumbers'
  | 'sealVerified'
  | 'adoptState'
  | 'acceptAccountKey'
  | 'refuseAccountKey'
  | 'hasFormerDevices'
>;

export function createTrust(deps: TransactionDeps, session: Session, confirmations: Confirmations): TrustApi {
  const { env } = deps;

  /** Applies a decision about the offered key, if its safety number is the one that the person has seen. */
  async function decide(
    method: 'acceptAccountKey' | 'refuseAccountKey',
    id: string,
    number: string,
    decision: (pin: PinRecord, offered: Uint8Array) => PinRecord,
  ): Promise<ContactTrust> {
    const userId = check(method, Id, id);
    const seen = check(method, SafetyNumber, number);
    const account = session.accountOnDevice();
    await ready();
    return write(account.db, 'relaxed', async (tx) => {
      const pin = await requirePin(tx, account, userId);
      if (pin.offered === null) throw anotherKey();
      requireNumber(seen, safetyNumberOf(account, userId, pin.offered));
      const decided = decision(pin, pin.offered);
      await putPin(tx, account, userId, decided);
      return contactTrust(userId, decided);
    });
  }

  /**
   * Opens the account state that the relay has; null where there is none, or one that no device of the person's
   * sealed. @throws CryptoError `missing-key` when another device has renewed the keys
   */
  function openState(
    sealed: Uint8Array | null,
    keys: readonly SharedKeys[],
    userId: string,
  ): AccountState | null {
    if (sealed === null) return null;
    try {
      return openAccountState(sealed, keys, userId);
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code === 'missing-key') throw error;
      return null;
    }
  }

  return {
    async contactTrust() {
      const account = session.account();
      return read(account.db, async (tx) => {
        const store = tx.objectStore('pins');
        const [userIds, rows] = await Promise.all([store.getAllKeys(), store.getAll()]);
        return userIds.flatMap((userId, i) => {
          const sealed = rows[i];
          return sealed === undefined
            ? []
            : [contactTrust(userId, account.sealer.open('pins', userId, sealed, PinRecord))];
        });
      });
    },

    async observeDevices(id, certificates) {
      const userId = check('observeDevices', Id, id);
      const given = check('observeDevices', Certificates, certificates);
      const account = session.accountOnDevice();
      await ready();
      const keys = accountKeysOf(userId, given);
      return write(account.db, 'relaxed', async (tx) => {
        const pin = await readPin(tx, account, userId);
        if (pin === null) {
          const [first] = keys;
          // If there are two keys at once, one isn't the person's, so neither is pinned.
          if (first === undefined || keys.length > 1 || userId === account.userId) return null;
          await putPin(tx, account, userId, newPin(first, env.now()));
        } else {
          for (const accountKey of keys) await offerAccountKey(tx, account, { userId, accountKey });
        }
        return contactTrust(userId, await requirePin(tx, account, userId));
      });
    },

    async safetyNumbers(id) {
      const userId = check('safetyNumbers', Id, id);
      const account = session.accountOnDevice();
      await ready();
      const { accountKey, offered } = await read(account.db, (tx) => requirePin(tx, account, userId));
      return {
        current: safetyNumberOf(account, userId, accountKey),
        offered: offered === null ? null : safetyNumberOf(account, userId, offered),
      };
    },

    async sealVerified(given, mark) {
      const sealed = check('sealVerified', SealedState, given);
      const { userId, safetyNumber: compared, verified } = check('sealVerified', VerifiedMark, mark);
      const account = session.accountOnDevice();
      await ready();
      const [{ accountKey }, marks, { sharedKeys }] = await read(account.db, (tx) =>
        Promise.all([requirePin(tx, account, userId), readMarks(tx, account), readKeys(tx, account)]),
      );
      const state = openState(sealed, sharedKeys, account.userId);
      requireNumber(compared, safetyNumberOf(account, userId, accountKey));
      const confirmed = confirmations.take([verified ? 'mark-verified' : 'unmark-verified'], userId);
      confirmations.forget();
      if (verified) requireNumber(compared, confirmed.safetyNumber);
      // A state that the relay has rolled back is not built upon; this browser's marks replace it.
      const newest = state === null || state.revision < marks.revision ? marks : state;
      const others = newest.verified.filter((contact) => contact.userId !== userId);
      const marked = verified ? [...others, { userId, accountKey }] : others;
      const next = { verified: marked.slice(-limits.verifiedContacts), revision: newest.revision + 1 };
      return toBase64Url(sealAccountState(next, sharedKeys, account.userId, env));
    },

    async adoptState(given, hasAllKeys = false) {
      check('adoptState', boolean, hasAllKeys);
      const sealed = check('adoptState', SealedState, given);
      const account = session.account();
      await ready();
      return write(account.db, 'relaxed', async (tx) => {
        const { sharedKeys } = await readKeys(tx, account);
        const newest = newestSharedKeys(sharedKeys).revision;
        const revision = sealed === null ? 0 : sharedRevision(sealed);
        // Another device has renewed the keys: the state is that device's to seal.
        if (revision > newest && !hasAllKeys) throw new CryptoApiError('missing-key');
        const state = revision > newest ? null : openState(sealed, sharedKeys, account.userId);
        const known = await readMarks(tx, account);
        // A device with the keys from before, a removed browser say, makes no marks for one that has newer ones.
        const counts = state !== null && (revision === newest || known.revision < 0);
        if (counts) await adoptVerified(tx, account, state, env.now());
        if (state === null ? known.verified.length === 0 : revision === newest) return null;
        const marks = await readMarks(tx, account);
        const next = { ...marks, revision: Math.max(marks.revision, state?.revision ?? 0) + 1 };
        return toBase64Url(sealAccountState(next, sharedKeys, account.userId, env));
      });
    },

    acceptAccountKey: (id, number) =>
      decide('acceptAccountKey', id, number, (pin, offered) => {
        const confirmed = confirmations.take(['accept-account-key'], id);
        confirmations.forget();
        requireNumber(number, confirmed.safetyNumber);
        return {
          ...newPin(offered, pin.firstSeen),
          former: [...pin.former, { accountKey: pin.accountKey, until: env.now() }].slice(-limits.formerKeys),
        };
      }),

    refuseAccountKey: (id, number) =>
      decide('refuseAccountKey', id, number, (pin, offered) => ({
        ...pin,
        offered: null,
        refused: [...pin.refused, offered].slice(-limits.formerKeys),
      })),

    async hasFormerDevices(id) {
      const conversationId = check('hasFormerDevices', ConversationId, id);
      const account = session.accountOnDevice();
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        return state !== null && (await lacksPresentDevices(transaction, state));
      });
    },
  };
}

const anotherKey = () => new CryptoApiError('usage', 'another key than the one shown');

/** @throws CryptoApiError `usage` unless the person has seen this very number */
function requireNumber(seen: string, actual: string | null): void {
  if (seen !== actual) throw anotherKey();
}

function contactTrust(userId: string, { verifiedAt, offered, former }: PinRecord): ContactTrust {
  return {
    userId,
    verifiedAt: verifiedAt === null ? null : new Date(verifiedAt).toISOString(),
    keyOffered: offered !== null,
    changedAt: former.map(({ until }) => new Date(until).toISOString()),
  };
}

/** Reads a pin. @throws CryptoApiError `unknown-person` for a person of whom no device was seen yet */
async function requirePin(
  tx: Transaction | WriteTransaction,
  account: AccountOnDevice,
  userId: string,
): Promise<PinRecord> {
  const pin = await readPin(tx, account, userId);
  if (pin === null) throw new CryptoApiError('unknown-person');
  return pin;
}

/**
 * Collects the account keys that certify devices of that person, each once. Invalid certificates are skipped.
 */
function accountKeysOf(userId: string, certificates: readonly Uint8Array[]): Uint8Array[] {
  const keys: Uint8Array[] = [];
  for (const bytes of certificates) {
    try {
      const certificate = verifyDeviceCertificate(bytes);
      if (certificate.userId !== userId) continue;
      if (!keys.some((key) => equalBytes(key, certificate.accountKey))) keys.push(certificate.accountKey);
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }
  return keys;
}
