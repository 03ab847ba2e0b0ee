/** Who people are: their account keys, compared by safety numbers, and what happens when one changes (PROTOCOL section 6). */
import {
  CryptoError,
  equalBytes,
  openVault,
  ready,
  safetyNumber,
  sealVault,
  type Vault,
  verifyDeviceCertificate,
} from '@sinetti/crypto-core';
import {
  Certificates,
  ConversationId,
  check,
  Id,
  SafetyNumber,
  SealedVault,
  VerifiedMark,
} from '../api/arguments.ts';
import type { ContactTrust, CryptoApi } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { limits } from '../codec/limits.ts';
import { inStep, type StepDeps } from '../conversation/conversationTransaction.ts';
import { supersededLeaves } from '../conversation/ownCommits.ts';
import { adoptVerified, newPin, offerAccountKey, putPin, readMarks, readPin } from '../identity/pins.ts';
import type { PersonOnDevice, Session } from '../session/session.ts';
import { read, type Transaction, type WriteTransaction, write } from '../storage/db.ts';
import { PinRecord } from '../storage/records.ts';

type TrustApi = Pick<
  CryptoApi,
  | 'contactTrust'
  | 'observeDevices'
  | 'safetyNumbers'
  | 'sealVerified'
  | 'adoptVerified'
  | 'acceptAccountKey'
  | 'refuseAccountKey'
  | 'hasFormerDevices'
>;

export function createTrust(deps: StepDeps, session: Session): TrustApi {
  const { env } = deps;

  /** Decides about the key that was offered, if it is the one whose number the person has seen. */
  async function decide(
    method: 'acceptAccountKey' | 'refuseAccountKey',
    id: string,
    number: string,
    decision: (pin: PinRecord, offered: Uint8Array) => PinRecord,
  ): Promise<ContactTrust> {
    const userId = check(method, Id, id);
    const seen = check(method, SafetyNumber, number);
    const person = session.personWithDevice();
    await ready();
    return write(person.db, 'relaxed', async (tx) => {
      const pin = await requirePin(tx, person, userId);
      if (pin.offered === null || numberOf(person, userId, pin.offered) !== seen) {
        throw new CryptoApiError('usage', 'another key than the one shown');
      }
      const decided = decision(pin, pin.offered);
      await putPin(tx, person, userId, decided);
      return contactTrust(userId, decided);
    });
  }

  /** The vault as it is at the relay, opened. */
  async function openSealed(method: 'sealVerified' | 'adoptVerified', vault: unknown): Promise<Vault> {
    const { sealedVault } = check(method, SealedVault, vault);
    const person = session.person();
    await ready();
    return openVault(sealedVault, person.vault.vaultKey, person.userId);
  }

  return {
    async contactTrust() {
      const person = session.person();
      return read(person.db, async (tx) => {
        const store = tx.objectStore('pins');
        const [userIds, rows] = await Promise.all([store.getAllKeys(), store.getAll()]);
        return userIds.flatMap((userId, i) => {
          const sealed = rows[i];
          return sealed === undefined
            ? []
            : [contactTrust(userId, person.sealer.open('pins', userId, sealed, PinRecord))];
        });
      });
    },

    async observeDevices(id, certificates) {
      const userId = check('observeDevices', Id, id);
      const given = check('observeDevices', Certificates, certificates);
      const person = session.personWithDevice();
      await ready();
      const keys = accountKeysOf(userId, given);
      return write(person.db, 'relaxed', async (tx) => {
        const pin = await readPin(tx, person, userId);
        if (pin === null) {
          const [first] = keys;
          // Two at once say that one of them is somebody else's.
          if (first === undefined || keys.length > 1 || userId === person.userId) return null;
          await putPin(tx, person, userId, newPin(first, env.now()));
        } else {
          for (const accountKey of keys) await offerAccountKey(tx, person, { userId, accountKey });
        }
        return contactTrust(userId, await requirePin(tx, person, userId));
      });
    },

    async safetyNumbers(id) {
      const userId = check('safetyNumbers', Id, id);
      const person = session.personWithDevice();
      await ready();
      const { accountKey, offered } = await read(person.db, (tx) => requirePin(tx, person, userId));
      return {
        current: numberOf(person, userId, accountKey),
        offered: offered === null ? null : numberOf(person, userId, offered),
      };
    },

    async sealVerified(vault, mark) {
      const { userId, safetyNumber: compared, verified } = check('sealVerified', VerifiedMark, mark);
      const person = session.personWithDevice();
      const opened = await openSealed('sealVerified', vault);
      const [{ accountKey }, marks] = await read(person.db, (tx) =>
        Promise.all([requirePin(tx, person, userId), readMarks(tx, person)]),
      );
      if (numberOf(person, userId, accountKey) !== compared) {
        throw new CryptoApiError('usage', 'another key than the one shown');
      }
      // What a relay has brought back is not built upon: the marks of this browser take its place.
      const newest = opened.revision < marks.revision ? marks : opened;
      const others = newest.verified.filter((contact) => contact.userId !== userId);
      const marked = verified ? [...others, { userId, accountKey }] : others;
      const next = {
        ...opened,
        verified: marked.slice(-limits.verifiedContacts),
        revision: newest.revision + 1,
      };
      return toBase64Url(sealVault(next, person.vault.vaultKey, person.userId, env));
    },

    async adoptVerified(vault) {
      const marks = await openSealed('adoptVerified', vault);
      const person = session.person();
      await write(person.db, 'relaxed', (tx) => adoptVerified(tx, person, marks, env.now()));
    },

    acceptAccountKey: (id, number) =>
      decide('acceptAccountKey', id, number, (pin, offered) => ({
        ...newPin(offered, pin.firstSeen),
        former: [...pin.former, { accountKey: pin.accountKey, until: env.now() }].slice(-limits.formerKeys),
      })),

    refuseAccountKey: (id, number) =>
      decide('refuseAccountKey', id, number, (pin) => ({ ...pin, offered: null })),

    async hasFormerDevices(id) {
      const conversationId = check('hasFormerDevices', ConversationId, id);
      const person = session.personWithDevice();
      return inStep(person, deps, conversationId, 'relaxed', async (step) => {
        const state = step.head.membership === 'member' ? await step.state() : null;
        return state !== null && (await supersededLeaves(step, state)).length > 0;
      });
    },
  };
}

function contactTrust(userId: string, { verifiedAt, offered, former }: PinRecord): ContactTrust {
  return {
    userId,
    verifiedAt: verifiedAt === null ? null : new Date(verifiedAt).toISOString(),
    keyOffered: offered !== null,
    changedAt: former.map(({ until }) => new Date(until).toISOString()),
  };
}

/** @throws CryptoApiError `not-found` for a person of whom no device was seen yet */
async function requirePin(
  tx: Transaction | WriteTransaction,
  person: PersonOnDevice,
  userId: string,
): Promise<PinRecord> {
  const pin = await readPin(tx, person, userId);
  if (pin === null) throw new CryptoApiError('not-found', 'no account key');
  return pin;
}

function numberOf({ userId: own, device }: PersonOnDevice, userId: string, accountKey: Uint8Array): string {
  return safetyNumber({ userId: own, accountKey: device.accountKey }, { userId, accountKey });
}

/** The account keys that certify devices of that person, each once. Certificates that don't hold say nothing. */
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
