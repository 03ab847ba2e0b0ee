/** Trust between people: safety numbers, verified contacts and changed account keys (PROTOCOL section 6). */
import { CryptoError, equalBytes, ready } from '@sinetti/crypto-core';
import { verifyDeviceCertificate } from '@sinetti/crypto-core/account';
import { Certificates, ConversationId, check, Id, SafetyNumber } from '../api/arguments.ts';
import type { ContactTrust, CryptoApi } from '../api/cryptoApi.ts';
import { limits } from '../codec/limits.ts';
import { inTransaction, type TransactionDeps } from '../conversation/conversationTransaction.ts';
import { lacksPresentDevices } from '../conversation/ownCommits.ts';
import type { Confirmations } from '../identity/confirmations.ts';
import { hasReadState, newPin, offerAccountKey, putPin, readPin, requirePin } from '../identity/pins.ts';
import { anotherKey, requireNumber, safetyNumberOf } from '../identity/safetyNumbers.ts';
import type { Session } from '../session/session.ts';
import { read, write } from '../storage/db.ts';
import { PinRecord } from '../storage/records.ts';

export function createTrust(deps: TransactionDeps, session: Session, confirmations: Confirmations) {
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
          // The person's other devices may have known them for long.
          if (!(await hasReadState(tx))) return null;
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

    acceptAccountKey: (id, number) =>
      decide('acceptAccountKey', id, number, (pin, offered) => {
        const confirmed = confirmations.take(['accept-account-key'], id);
        confirmations.forget();
        requireNumber(number, confirmed.safetyNumber);
        return {
          ...newPin(offered, pin.firstSeen),
          refused: pin.waiting,
          former: [...pin.former, { accountKey: pin.accountKey, until: env.now() }].slice(-limits.formerKeys),
        };
      }),

    refuseAccountKey: (id, number) =>
      decide('refuseAccountKey', id, number, (pin, offered) => ({
        ...pin,
        offered: null,
        waiting: [],
        refused: [...pin.refused, ...pin.waiting, offered].slice(-limits.formerKeys),
      })),

    async hasFormerDevices(id) {
      const conversationId = check('hasFormerDevices', ConversationId, id);
      const account = session.accountOnDevice();
      return inTransaction(account, deps, conversationId, 'relaxed', async (transaction) => {
        const state = transaction.conversation.membership === 'member' ? await transaction.state() : null;
        return state !== null && (await lacksPresentDevices(transaction, state));
      });
    },
  } satisfies Partial<CryptoApi>;
}

function contactTrust(userId: string, { former, name, offered, verifiedAt }: PinRecord): ContactTrust {
  return {
    userId,
    verifiedAt: verifiedAt === null ? null : new Date(verifiedAt).toISOString(),
    keyOffered: offered !== null,
    name: name?.username ?? null,
    changedAt: former.map(({ until }) => new Date(until).toISOString()),
  };
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
