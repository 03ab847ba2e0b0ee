/** The account state: what the person's devices know together of other people (PROTOCOL section 2). */
import { CryptoError, equalBytes, ready } from '@sinetti/crypto-core';
import {
  type AccountState,
  hashesOf,
  isSignedAccountState,
  newestSharedKeys,
  openAccountState,
  openStateInSegments,
  PEOPLE_PER_SEGMENT,
  type PinnedPerson,
  type SharedKeys,
  sealAccountState,
  sealStateInSegments,
  segmentsNamed,
  sharedRevision,
  signAccountState,
  type VerifiedDeviceCertificate,
  verifyAccountState,
} from '@sinetti/crypto-core/account';
import { check, SealedState, VerifiedMark } from '../api/arguments.ts';
import type { CryptoApi, SealedState as SealedStateOnWire } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { toBase64Url } from '../codec/base64url.ts';
import { boolean } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';
import type { TransactionDeps } from '../conversation/conversationTransaction.ts';
import type { Confirmations } from '../identity/confirmations.ts';
import {
  adoptVerified,
  marksIn,
  putMarksRecord,
  putPin,
  readAllPins,
  readMarksRecord,
  requirePin,
} from '../identity/pins.ts';
import { isRevokedOwn } from '../identity/revocations.ts';
import { requireNumber, safetyNumberOf } from '../identity/safetyNumbers.ts';
import { type AccountOnDevice, readKeys, type Session } from '../session/session.ts';
import { read, type Transaction, write } from '../storage/db.ts';
import type { MarksRecord, PinRecord } from '../storage/records.ts';
import { nextRevision } from './revisions.ts';
import { createSettledState, type StoredState } from './settledState.ts';
import { isSamePerson, mergePin, sharedPin } from './sharedPins.ts';

/** A state that the relay has, and how far it is to be believed. */
interface OpenedState {
  readonly state: AccountState;
  /** The device that has signed it, null for none, as in an earlier version. */
  readonly signerId: string | null;
  /** A live device of the person's has signed it. */
  readonly isOwn: boolean;
  /** It has sealed it under the newest keys as well. */
  readonly isTrusted: boolean;
  readonly isUnderNewestKeys: boolean;
}

export function createAccountState({ env }: TransactionDeps, session: Session, confirmations: Confirmations) {
  const settled = createSettledState();

  /** @param stored the state in whose place it is put: it keeps the segments in which nothing changes */
  function seal(
    state: AccountState,
    keys: readonly SharedKeys[],
    { device, userId }: AccountOnDevice,
    stored: StoredState,
  ): SealedStateOnWire {
    const { certificate, signatureKey } = device;
    const known = stored?.segments ?? [];
    // A relay that has segments takes no whole state any more, as a version of the app from before them writes it.
    const isWhole = known.length === 0 && state.pins.length <= PEOPLE_PER_SEGMENT;
    const { sealed, segments } = isWhole
      ? { sealed: sealAccountState(state, keys, userId, env), segments: null }
      : sealStateInSegments(state, keys, userId, env, known);
    const hashes = segments === null ? null : hashesOf(segments);
    const signed = signAccountState({ certificate, sealed, segments: hashes }, signatureKey.privateKey);
    return { sealed: toBase64Url(signed), segments: (segments ?? []).map(toBase64Url) };
  }

  return {
    async sealVerified(given, mark) {
      const stored = check('sealVerified', SealedState, given);
      const { userId, safetyNumber: compared, verified } = check('sealVerified', VerifiedMark, mark);
      const account = session.accountOnDevice();
      await ready();
      const { accountKey, known, pins, sharedKeys, opened } = await read(account.db, async (tx) => {
        const keys = (await readKeys(tx, account)).sharedKeys;
        return {
          accountKey: (await requirePin(tx, account, userId)).accountKey,
          known: await readMarksRecord(tx, account),
          pins: await readAllPins(tx, account),
          sharedKeys: keys,
          opened: await openStored(tx, account, stored, keys),
        };
      });
      requireNumber(compared, safetyNumberOf(account, userId, accountKey));
      const confirmed = confirmations.take([verified ? 'mark-verified' : 'unmark-verified'], userId);
      confirmations.forget();
      if (verified) requireNumber(compared, confirmed.safetyNumber);
      // A state that the relay has rolled back is not built upon; this browser's marks replace it.
      const isBase = opened !== null && counts(opened, known) && opened.state.revision >= known.revision;
      const before = isBase ? opened.state.verified : marksIn(pins);
      const others = before.filter((contact) => contact.userId !== userId);
      const marked = verified ? [...others, { userId, accountKey }] : others;
      const next = {
        verified: marked,
        pins: within(merge(pins, opened, { now: env.now(), ownUserId: account.userId }).shared, marked),
        revision: nextRevision(Math.max(known.revision, opened?.state.revision ?? -1)),
      };
      return seal(next, sharedKeys, account, stored);
    },

    async adoptState(given, hasAllKeys = false) {
      check('adoptState', boolean, hasAllKeys);
      const stored = check('adoptState', SealedState, given);
      const account = session.accountOnDevice();
      await ready();
      return write(account.db, 'relaxed', async (tx) => {
        if (await settled.isSame(tx, account, stored, hasAllKeys)) return null;
        const { sharedKeys } = await readKeys(tx, account);
        const opened = await openStored(tx, account, stored, sharedKeys, hasAllKeys);
        const known = await readMarksRecord(tx, account);
        const pins = await readAllPins(tx, account);
        const { changed } = merge(pins, opened, { now: env.now(), ownUserId: account.userId });
        for (const [userId, pin] of changed) {
          pins.set(userId, pin);
          await putPin(tx, account, userId, pin);
        }
        const isByAnother = opened?.isTrusted === true && opened.signerId !== account.device.deviceId;
        await putMarksRecord(tx, account, {
          ...known,
          hasSigned: known.hasSigned || opened?.isTrusted === true,
          signerId: isByAnother ? opened.signerId : known.signerId,
        });
        if (opened !== null && counts(opened, known))
          await adoptVerified(tx, account, opened.state, env.now(), pins);
        const marks = await readMarksRecord(tx, account);
        const verified = marksIn(pins);
        const { shared: all } = merge(pins, opened, { now: env.now(), ownUserId: account.userId });
        const shared = within(all, verified);
        const isKept =
          opened === null
            ? shared.length === 0
            : opened.isTrusted &&
              opened.state.revision >= marks.revision &&
              isSame(opened.state.pins, shared);
        if (isKept) {
          await settled.keep(tx, account, stored, hasAllKeys);
          return null;
        }
        const revision = nextRevision(Math.max(marks.revision, opened?.state.revision ?? 0));
        return seal({ verified, pins: shared, revision }, sharedKeys, account, stored);
      });
    },
  } satisfies Partial<CryptoApi>;
}

/**
 * Opens the account state that the relay has; null where there is none, or one that no device of the person's sealed.
 * @throws CryptoError `missing-key` when another device has renewed the keys
 * @throws CryptoApiError `missing-key` likewise, unless this device has them all
 */
async function openStored(
  tx: Transaction,
  account: AccountOnDevice,
  stored: StoredState,
  keys: readonly SharedKeys[],
  hasAllKeys = false,
): Promise<OpenedState | null> {
  if (stored === null) return null;
  try {
    const {
      sealed,
      segments: hashes,
      signer,
    } = isSignedAccountState(stored.sealed)
      ? verifyAccountState(stored.sealed)
      : { sealed: stored.sealed, segments: null, signer: null };
    const newest = newestSharedKeys(keys).revision;
    const revision = sharedRevision(sealed);
    if (revision > newest) {
      // Another device has renewed the keys: the state is that device's to seal.
      if (!hasAllKeys) throw new CryptoApiError('missing-key');
      return null;
    }
    const state =
      hashes === null
        ? openAccountState(sealed, keys, account.userId)
        : openStateInSegments(
            { sealed, segments: segmentsNamed(hashes, stored.segments) },
            keys,
            account.userId,
          );
    const isUnderNewestKeys = revision === newest;
    const isOwn = signer !== null && (await isOwnLive(tx, account, signer));
    return {
      state,
      signerId: signer?.deviceId ?? null,
      isOwn,
      isUnderNewestKeys,
      isTrusted: isOwn && isUnderNewestKeys,
    };
  } catch (error) {
    if (!(error instanceof CryptoError) || error.code === 'missing-key') throw error;
    return null;
  }
}

async function isOwnLive(
  tx: Transaction,
  account: AccountOnDevice,
  { accountKey, deviceId, userId }: VerifiedDeviceCertificate,
): Promise<boolean> {
  const isOwn = userId === account.userId && equalBytes(accountKey, account.device.accountKey);
  return isOwn && !(await isRevokedOwn(tx, account, deviceId));
}

/**
 * Returns whether the marks of a state count here. Who has the keys from before, of a removed browser say, makes none for a
 * device that has newer ones, unless it is new and a live device has signed; nor does anybody who has keys alone, once a
 * device has signed, nor a device that is another's or revoked.
 */
function counts({ isOwn, isTrusted, isUnderNewestKeys, signerId }: OpenedState, known: MarksRecord): boolean {
  if (isTrusted || (isOwn && known.revision < 0)) return true;
  return signerId === null && isUnderNewestKeys && !known.hasSigned;
}

/** Merges the pins here with those of a state. @returns the pins that change here, and all that is known together */
function merge(
  pins: ReadonlyMap<string, PinRecord>,
  opened: OpenedState | null,
  { now, ownUserId }: { readonly now: number; readonly ownUserId: string },
): { readonly changed: ReadonlyMap<string, PinRecord>; readonly shared: readonly PinnedPerson[] } {
  const changed = new Map<string, PinRecord>();
  const shared: PinnedPerson[] = [];
  const said = new Set<string>();
  for (const person of opened?.state.pins ?? []) {
    const { userId } = person;
    if (said.has(userId) || userId === ownUserId) continue;
    said.add(userId);
    const known = pins.get(userId) ?? null;
    const merged = mergePin(known, person, opened?.isTrusted === true, now);
    if (merged.pin !== known) changed.set(userId, merged.pin);
    shared.push(merged.shared);
  }
  for (const [userId, pin] of pins) if (!said.has(userId)) shared.push(sharedPin(userId, pin));
  return { changed, shared };
}

/**
 * Leaves out the last ones of too many people, and nobody who is verified: a state has whom it marks, so that it would never be
 * the same as what is known here.
 */
function within(
  people: readonly PinnedPerson[],
  verified: AccountState['verified'],
): readonly PinnedPerson[] {
  if (people.length <= limits.pinnedPeople) return people;
  const marked = new Set(verified.map(({ userId }) => userId));
  let room = Math.max(0, limits.pinnedPeople - marked.size);
  return people.filter(({ userId }) => marked.has(userId) || room-- > 0);
}

function isSame(one: readonly PinnedPerson[], other: readonly PinnedPerson[]): boolean {
  return (
    one.length === other.length &&
    one.every((person, i) => {
      const counterpart = other[i];
      return (
        counterpart !== undefined && person.userId === counterpart.userId && isSamePerson(person, counterpart)
      );
    })
  );
}
