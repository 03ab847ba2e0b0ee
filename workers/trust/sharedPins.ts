/**
 * Pins as the person's devices share them (PROTOCOL section 2): a set of account keys that only grows, and what the person has
 * made of each. Two keys of one person are never merged silently.
 */
import { equalBytes, toHex } from '@sinetti/crypto-core';
import type { KeyStanding, PinnedPerson } from '@sinetti/crypto-core/account';
import { limits } from '../codec/limits.ts';
import { newPin } from '../identity/pins.ts';
import type { PinRecord } from '../storage/records.ts';

/** The outcome of a merge: the person's pin here, and the person in the state. */
export interface MergedPin {
  readonly pin: PinRecord;
  readonly shared: PinnedPerson;
}

type Keys = Map<string, { standing: KeyStanding; readonly accountKey: Uint8Array }>;

/** If devices say different things of a key, a decision counts more than none. */
const weights: Record<KeyStanding, number> = { offered: 0, refused: 1, former: 2, present: 3 };

/**
 * Merges what this device knows of a person with what another one has shared.
 * @param known null for somebody of whom this device has seen nothing
 * @param isTrusted an own live device has signed it: what was decided there needs not be decided here again
 * @param now milliseconds since the Unix epoch
 */
export function mergePin(
  known: PinRecord | null,
  given: PinnedPerson,
  isTrusted: boolean,
  now: number,
): MergedPin {
  const said = withinLimits(given);
  if (known !== null) {
    const shared = united(known, said, isTrusted);
    return { pin: asking(followed(known, said, isTrusted, now), shared), shared };
  }
  // A state that nobody answers for has decided nothing.
  const first = isTrusted ? said : undecided(said);
  return { pin: asking(firstPin(first, now), first), shared: first };
}

/** Leaves out the oldest of too many offered keys, as an earlier version wrote them. */
function withinLimits({ keys, userId }: PinnedPerson): PinnedPerson {
  const offered = withStanding({ keys, userId }, 'offered').slice(-limits.offeredKeys);
  return {
    userId,
    keys: keys.filter(({ accountKey, standing }) => standing !== 'offered' || offered.includes(accountKey)),
  };
}

/** Leaves out what a person is said to have decided. */
function undecided({ keys, userId }: PinnedPerson): PinnedPerson {
  return { userId, keys: keys.filter(({ standing }) => standing === 'present' || standing === 'offered') };
}

/** A person's pin as this device shares it. */
export function sharedPin(userId: string, pin: PinRecord): PinnedPerson {
  return { userId, keys: [...keysIn(pin).values()] };
}

export function isSamePerson(one: PinnedPerson, other: PinnedPerson): boolean {
  const standings = new Map(other.keys.map(({ accountKey, standing }) => [toHex(accountKey), standing]));
  return (
    one.keys.length === other.keys.length &&
    one.keys.every(({ accountKey, standing }) => standings.get(toHex(accountKey)) === standing)
  );
}

function keysIn({ accountKey, former, offered, refused }: PinRecord): Keys {
  const keys: Keys = new Map();
  const add = (standing: KeyStanding, key: Uint8Array) => note(keys, standing, key);
  for (const one of former) add('former', one.accountKey);
  add('present', accountKey);
  if (offered !== null) add('offered', offered);
  for (const key of refused) add('refused', key);
  return keys;
}

function note(keys: Keys, standing: KeyStanding, accountKey: Uint8Array): void {
  const before = keys.get(toHex(accountKey));
  if (before === undefined) keys.set(toHex(accountKey), { standing, accountKey });
  else if (weights[standing] > weights[before.standing]) before.standing = standing;
}

const countOffered = (keys: Keys): number =>
  [...keys.values()].filter(({ standing }) => standing === 'offered').length;

const withStanding = ({ keys }: PinnedPerson, standing: KeyStanding): Uint8Array[] =>
  keys.filter((key) => key.standing === standing).map(({ accountKey }) => accountKey);

const includes = (keys: readonly Uint8Array[], key: Uint8Array): boolean =>
  keys.some((one) => equalBytes(one, key));

function presentOf(said: PinnedPerson): Uint8Array {
  const [present] = withStanding(said, 'present');
  if (present === undefined) throw new Error('a person without a present key');
  return present;
}

function firstPin(said: PinnedPerson, now: number): PinRecord {
  const former = withStanding(said, 'former').map((accountKey) => ({ accountKey, until: now }));
  return {
    ...newPin(presentOf(said), now),
    former: former.slice(-limits.formerKeys),
    offered: withStanding(said, 'offered').at(-1) ?? null,
    refused: withStanding(said, 'refused').slice(-limits.formerKeys),
  };
}

/** Returns the person's pin after this device has followed the state. */
function followed(known: PinRecord, said: PinnedPerson, isTrusted: boolean, now: number): PinRecord {
  const formerHere = known.former.map(({ accountKey }) => accountKey);
  const present = presentOf(said);
  const formerThere = withStanding(said, 'former');
  const isSame = equalBytes(present, known.accountKey);
  const hasMovedOn = includes(formerThere, known.accountKey) && !includes(formerHere, present);
  if (isTrusted && hasMovedOn && !includes(known.refused, present)) {
    const gone = [known.accountKey, ...formerThere].filter((key) => !includes(formerHere, key));
    const ended = distinct(gone).map((accountKey) => ({ accountKey, until: now }));
    const moved = { ...newPin(present, known.firstSeen), refused: known.refused };
    return { ...moved, former: [...known.former, ...ended].slice(-limits.formerKeys) };
  }
  const settled = isTrusted && isSame ? decided(known, said, now) : known;
  // A state from before a later key was accepted here: what it offers is passed.
  const isBehind = isTrusted && !isSame && includes(formerHere, present);
  const claimed = isBehind ? [] : [...withStanding(said, 'offered'), present];
  const unknown = claimed.filter((key) => !isKnown(settled, key));
  const offered = settled.offered ?? unknown.at(-1) ?? null;
  return offered === settled.offered ? settled : { ...settled, offered };
}

/**
 * Makes one question of all keys that wait for the person's word: of the newest, whose answer settles the others. A key
 * for which the state has no room any more is asked about when it is seen again.
 */
function asking(pin: PinRecord, shared: PinnedPerson): PinRecord {
  const claimed = [...withStanding(shared, 'offered'), ...withStanding(shared, 'present')];
  const open = claimed.filter((key) => !isKnown(pin, key));
  const isShared = pin.offered === null || includes(open, pin.offered);
  const offered = isShared ? pin.offered : (open.at(-1) ?? pin.offered);
  const waiting = open.filter((key) => offered !== null && !equalBytes(key, offered));
  const kept = waiting.slice(-limits.offeredKeys);
  const isSame = kept.length === pin.waiting.length && kept.every((key) => includes(pin.waiting, key));
  return offered === pin.offered && isSame ? pin : { ...pin, offered, waiting: kept };
}

/** Takes over what was decided about keys that aren't the present one. */
function decided(known: PinRecord, said: PinnedPerson, now: number): PinRecord {
  const own = [known.accountKey, ...known.former.map(({ accountKey }) => accountKey)];
  const former = withStanding(said, 'former').filter((key) => !includes(own, key));
  const refused = withStanding(said, 'refused').filter((key) => !includes([...own, ...known.refused], key));
  const { offered } = known;
  const isDecided = offered !== null && includes([...former, ...refused], offered);
  if (former.length + refused.length === 0) return known;
  const ended = former.map((accountKey) => ({ accountKey, until: now }));
  return {
    ...known,
    offered: isDecided ? null : offered,
    former: [...known.former, ...ended].slice(-limits.formerKeys),
    refused: [...known.refused, ...refused].slice(-limits.formerKeys),
  };
}

const isKnown = ({ accountKey, former, refused }: PinRecord, key: Uint8Array): boolean =>
  includes([accountKey, ...former.map((one) => one.accountKey), ...refused], key);

function distinct(keys: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(keys.map((key) => [toHex(key), key])).values()];
}

/** Returns all that both know of the person together. */
function united(known: PinRecord, said: PinnedPerson, isTrusted: boolean): PinnedPerson {
  const here = keysIn(known);
  const formerHere = known.former.map(({ accountKey }) => accountKey);
  const present = presentOf(said);
  const isSame = equalBytes(present, known.accountKey);
  // A state that nobody answers for is replaced by what this device holds, and what it claims is asked about.
  const isAhead = !isTrusted || includes(formerHere, present);
  const keys: Keys = new Map();
  for (const { accountKey, standing } of said.keys) {
    const isOvertaken = standing === 'present' && !isSame && isAhead;
    // The person has decided on a later key here: one that was only offered before is none to come back to.
    const isPassed = standing === 'offered' && !isSame && includes(formerHere, present);
    if (isTrusted) note(keys, isPassed ? 'refused' : isOvertaken ? 'former' : standing, accountKey);
    else if (standing === 'present' || standing === 'offered') {
      note(keys, isOvertaken ? 'offered' : standing, accountKey);
    }
  }
  for (const { accountKey, standing } of here.values()) {
    const isDemoted = standing === 'present' && !isSame && !isAhead;
    const shared = isDemoted ? 'offered' : standing;
    const hasRoom = shared !== 'offered' || countOffered(keys) < limits.offeredKeys;
    if (hasRoom || keys.has(toHex(accountKey))) note(keys, shared, accountKey);
  }
  return { userId: said.userId, keys: [...keys.values()] };
}
