import { groupsAtom } from '#src/store/groups.ts';
import { olderStatesAtom, olderVaultAtom } from '#src/store/keys.ts';
import { trustAtom } from '#src/store/trust.ts';
import type { CryptoApi, MessageView } from '#workers/api/cryptoApi.ts';
import { checkDisappearing, checkFiles, checkWishes, type View } from './keptChecks.ts';
import { type LogOfRelay, logsOfRelay } from './log.ts';
import { type Changed, isDeleted, isShownWith, type Seat, textAt, textsOf } from './people.ts';
import type { Tab } from './profile.ts';
import { keyIn, untilRest } from './settle.ts';
import { storedDevice } from './stored.ts';
import type { World } from './world.ts';

const page = 100;

/** Everybody says a last word, which everybody reads: they have the same secrets. */
export async function lastWords(world: World): Promise<void> {
  const logs = await logsOfRelay(world.relay);
  world.saidBeforeLast = world.said.length;
  for (const { seat, tab, log } of places(world, logs)) {
    if (log.id.startsWith('self:')) continue;
    world.say(seat, tab, keyIn(log.id, seat), log.id);
  }
  await untilRest(world, 'after the last words');
}

export function places(
  world: World,
  logs: readonly LogOfRelay[],
): { seat: Seat; tab: Tab; log: LogOfRelay }[] {
  return world.seats
    .filter(({ status }) => status === 'in')
    .flatMap((seat) => {
      const [tab] = seat.tabs;
      if (tab === undefined) return [];
      return logs
        .filter(({ lastSeq, userIds }) => lastSeq > 0 && userIds.includes(seat.person.id))
        .map((log) => ({ seat, tab, log }));
    });
}

/** A message as those see it who were there, or, not whole, as new devices have it from a copy. */
interface Shown extends MessageView {
  readonly isWhole: boolean;
}

/** Compares what everybody has with what was said and what the relay has. */
export async function check(world: World): Promise<void> {
  const logs = await logsOfRelay(world.relay);
  const views: View[] = [];
  for (const { log, seat, tab } of places(world, logs)) {
    const where = `${seat.profile.name} in ${log.id}`;
    const state = await tab.crypto.conversation(log.id);
    views.push({ seat, tab, where, log, state, messages: await messagesOf(tab.crypto, log.id) });
  }
  await checkMembers(world, views);
  const shown = checkAgreement(world, views);
  for (const view of views) checkReading(world, view, shown);
  checkSaid(world, logs, shown);
  checkDeleted(world);
  await checkFiles(world, views);
  await checkWishes(world, views);
  await checkThieves(world, logs);
  await checkDisappearing(world, views);
}

async function checkMembers(world: World, views: readonly View[]): Promise<void> {
  const { wrong } = world;
  const copied = await copiedAtRelay(world);
  const revoked = new Set(
    world.seats.filter(({ status }) => status === 'revoked').map(({ deviceId }) => deviceId),
  );
  for (const { log, state, where } of views) {
    if (state.status !== 'joined') wrong.push(`${where}: ${state.status}`);
    for (const { deviceIds, userId } of state.members) {
      if (!log.userIds.includes(userId)) wrong.push(`${where}: somebody who is out is in the keys`);
      if (deviceIds.some((id) => revoked.has(id))) wrong.push(`${where}: a revoked device is in the keys`);
      if (deviceIds.some((id) => copied.has(id)))
        wrong.push(`${where}: a device that was in two places is in the keys`);
    }
  }
  for (const id of copied)
    if (!world.inTwoPlaces.has(id)) wrong.push(`device ${id} is said to be in two places, and never was`);
}

/**
 * Everybody who was there sees the same of a message: its text after all edits, that it was deleted, and who has reacted. In older
 * ones, as copies give them to new devices, changes may lack that came when no device of the person was there.
 * @returns the messages that anybody sees, by their ids, as those see them who were there
 */
function checkAgreement({ said, wrong }: World, views: readonly View[]): ReadonlyMap<string, Shown> {
  const shown = new Map<string, Shown>();
  const older: (readonly [where: string, message: MessageView])[] = [];
  for (const { messages, state, where } of views) {
    const seqs = messages.map(({ seq }) => seq ?? 0);
    if (seqs.some((seq, i) => i > 0 && seq <= (seqs[i - 1] ?? 0)))
      wrong.push(`${where}: out of order, or twice`);
    for (const message of messages) {
      if (message.content.kind === 'undecryptable') continue;
      if ((message.seq ?? 0) <= state.joinedSeq) {
        older.push([where, message]);
        continue;
      }
      const first = shown.get(message.messageId);
      if (first !== undefined && asSeen(first) !== asSeen(message))
        wrong.push(`${where}: ${asSeen(message)} reads otherwise elsewhere: ${asSeen(first)}`);
      shown.set(message.messageId, first ?? { ...message, isWhole: true });
    }
  }
  for (const [where, message] of older) {
    const first = shown.get(message.messageId);
    const texts = [message, first ?? message].filter(({ content }) => textIn(content) !== null);
    if (!said.some((one) => texts.every((text) => isShownWith(one, text)))) {
      const [here, elsewhere] = texts.map(({ content }) => textIn(content));
      wrong.push(`${where}: "${here}" reads otherwise elsewhere: "${elsewhere}"`);
    }
    shown.set(message.messageId, first ?? { ...message, isWhole: false });
  }
  return shown;
}

function asSeen({ content, isEdited, isForwarded, reactions = [], timer = 0 }: MessageView): string {
  const given = reactions.map(({ emoji, userIds }) => `${emoji} ${userIds.toSorted().join(' ')}`).toSorted();
  return JSON.stringify([content, timer, isEdited === true, isForwarded === true, given]);
}

const textIn = (content: MessageView['content']): string | null =>
  content.kind === 'text' || content.kind === 'files' ? content.text : null;

/** All that came after it joined is read by a device. What nobody sees as a message is a change of one. */
function checkReading(world: World, view: View, shown: ReadonlyMap<string, Shown>): void {
  const { log, messages, state, where } = view;
  const byId = new Map(messages.map((message) => [message.messageId, message]));
  const later = log.entries.filter(({ kind, seq }) => kind === 'application' && seq > state.joinedSeq);
  // One that disappears may be gone here: that it came is seen after each step.
  const lasting = later.filter(({ id }) => shown.has(id) && shown.get(id)?.timer === undefined);
  for (const { seq } of lasting.filter(({ id }) => byId.get(id) === undefined))
    world.wrong.push(`${where}: ${seq} is not there`);
  for (const { content, seq } of messages.filter((message) => (message.seq ?? 0) > state.joinedSeq)) {
    if (textIn(content) === null && content.kind !== 'deleted')
      world.wrong.push(`${where}: ${seq} is ${'reason' in content ? content.reason : content.kind}`);
  }
  // Own devices tell each other more than notes.
  if (log.id.startsWith('self:')) return;
  const unseen = later.filter(({ id }) => !shown.has(id)).length;
  const changes = world.given.filter((given) => 'change' in given && given.conversationId === log.id).length;
  const timed = world.said.filter((said) => said.conversationId === log.id && world.timerOf(said) > 0).length;
  if (unseen > changes + timed)
    world.wrong.push(`${where}: ${unseen} entries are seen by nobody, of which ${changes} are changes`);
}

/** Each text that an outbox had taken is there, once, where it was said, and as its last edit has it. */
function checkSaid(world: World, logs: readonly LogOfRelay[], shown: ReadonlyMap<string, Shown>): void {
  const { wrong } = world;
  const byText = new Map<string, Shown[]>();
  for (const message of shown.values()) {
    const { conversationId } = message;
    const text = textIn(message.content);
    if (text === null) continue;
    const place = textAt(conversationId, text);
    byText.set(place, [...(byText.get(place) ?? []), message]);
    if (!world.isSaidIn(conversationId, text)) wrong.push(`"${text}" was not said in ${conversationId}`);
  }
  for (const said of world.said) {
    const { changes, conversationId, isGivenBack, isKept, mayBeLost, text } = said;
    const found = textsOf(said).flatMap((one) => byText.get(textAt(conversationId, one)) ?? []);
    const isGone = !logs.some(({ id }) => id === conversationId);
    if (found.length > 1) wrong.push(`"${text}" is there ${found.length} times`);
    if (isGivenBack && found.length > 0) wrong.push(`"${text}" was given back, and sent`);
    if (found.some(({ isForwarded }) => (isForwarded === true) !== said.isForwarded))
      wrong.push(`"${text}" does not say whether it was forwarded`);
    if (isGone || isDeleted(said) || world.timerOf(said) > 0) continue;
    if (found.length === 0 && isKept && !mayBeLost) wrong.push(`"${text}" is lost in ${conversationId}`);
    const sure = changes.filter((changed) => changed.isKept && !changed.mayBeLost);
    const [message] = found;
    // A copy that new devices alone have may lack changes that came when none of that person was there.
    if (message === undefined || !message.isWhole) continue;
    if (sure.some(({ change }) => change.kind === 'edit') && message.isEdited !== true)
      wrong.push(`an edit of "${text}" is lost`);
    for (const { change, seat } of sure) {
      if (change.kind !== 'reaction' || changes.some((other) => isOfSame(other, { change, seat }))) continue;
      const isThere = message.reactions?.some(
        ({ emoji, userIds }) => emoji === change.emoji && userIds.includes(seat.person.id),
      );
      if (isThere === change.isTaken) wrong.push(`a reaction of ${seat.person.name} to "${text}" is lost`);
    }
  }
}

/** Another of the same person with the same emoji: which of both holds is decided by the log. */
function isOfSame(other: Changed, { change, seat }: Pick<Changed, 'change' | 'seat'>): boolean {
  return (
    other.change !== change &&
    other.change.kind === 'reaction' &&
    change.kind === 'reaction' &&
    other.change.emoji === change.emoji &&
    other.seat.person === seat.person
  );
}

/**
 * Nothing of a deleted message is on anybody's disk, but where the browser was another device as the message came: the deletion may have
 * been for that one's keys.
 */
function checkDeleted(world: World): void {
  for (const { person, profile } of world.seats.filter(({ status }) => status === 'in')) {
    const { earlyTexts, texts } = storedDevice(profile.indexedDB, person.id) ?? {};
    const isLeft = (place: string) => texts?.has(place) === true && earlyTexts?.has(place) === false;
    for (const said of world.said) {
      const isSure = said.changes.some(
        ({ change, isKept, mayBeLost }) => change.kind === 'deletion' && isKept && !mayBeLost,
      );
      const left = isSure && textsOf(said).find((text) => isLeft(textAt(said.conversationId, text)));
      if (typeof left === 'string')
        world.wrong.push(`${profile.name} still has "${left}", which was deleted`);
    }
  }
}

/** Ids of the devices that the relay was told are in two places. */
async function copiedAtRelay({ relay }: World): Promise<Set<string>> {
  const { db } = relay.relay.database;
  const live = await db.selectFrom('devices').select('id').where('copied_at', 'is not', null).execute();
  const ended = await db
    .selectFrom('revoked_devices')
    .select('device_id as id')
    .where('copied_at', 'is not', null)
    .execute();
  return new Set([...live, ...ended].map(({ id }) => id));
}

export async function messagesOf(crypto: CryptoApi, conversationId: string): Promise<MessageView[]> {
  const all: MessageView[] = [];
  for (;;) {
    const [first] = all;
    const before = first?.seq;
    const found = await crypto.messages(conversationId, {
      limit: page,
      ...(before === undefined || before === null ? {} : { before }),
    });
    all.unshift(...found);
    if (found.length < page) return all;
  }
}

/** The copies of who was taken out open nothing of the last words, which all were said after everybody knew of it. */
async function checkThieves(world: World, logs: readonly LogOfRelay[]): Promise<void> {
  const last = new Set(world.said.slice(world.saidBeforeLast).map(({ text }) => text));
  for (const thief of world.thieves) {
    await thief.read(logs);
    for (const { conversationId, text } of thief.stolen.filter((stolen) => last.has(stolen.text)))
      world.wrong.push(`a copy of ${thief.name}'s storage reads "${text}" in ${conversationId}`);
  }
}

/** Something that a browser tells its person. */
export interface Notice {
  readonly browser: string;
  readonly what: string;
  readonly conversationId: string | null;
  /** The id of the device that it names, or of the person where it names no device. */
  readonly of: string | null;
}

export const inWords = ({ browser, conversationId, what }: Notice): string =>
  `${browser}: ${what}${conversationId === null ? '' : ` in ${conversationId}`}`;

/** Everything by which somebody is told that something is wrong. */
export async function alarms(world: World): Promise<Notice[]> {
  const found: Notice[] = [];
  for (const { profile, status, tabs } of world.seats) {
    if (status !== 'in') continue;
    const [tab] = tabs;
    if (tab === undefined) continue;
    const add = (what: string, conversationId: string | null = null, of: string | null = null) =>
      found.push({ browser: profile.name, what, conversationId, of });
    if (tab.store.get(olderVaultAtom)) add('older vault');
    if (tab.store.get(olderStatesAtom).length > 0) add('older state');
    for (const [userId, { changedAt, keyOffered }] of tab.store.get(trustAtom)) {
      if (keyOffered || changedAt.length > 0) add('changed key', null, userId);
    }
    for (const group of tab.store.get(groupsAtom).items) {
      if (group.mismatch !== null) add('members differ');
      if (group.refusal !== null) add(`group refused (${group.refusal})`);
    }
    for (const { conversationId, group, isDoubted } of await tab.crypto.conversations()) {
      if (isDoubted || (group?.unvouchedIds.length ?? 0) > 0) add('doubt', conversationId);
      for (const { change, senderDeviceId } of await tab.crypto.events(conversationId)) {
        if (['missing', 'withheld', 'diverged', 'refused'].includes(change.kind)) {
          const why = change.kind === 'refused' ? ` (${change.code})` : '';
          add(`${change.kind}${why}`, conversationId, senderDeviceId);
        }
      }
    }
  }
  return found;
}

/** Messages that can't be read, of all that anybody has. */
export async function undecryptable(world: World): Promise<Notice[]> {
  const found: Notice[] = [];
  for (const { profile, tabs } of world.seats) {
    const [tab] = tabs;
    for (const { conversationId } of (await tab?.crypto.conversations()) ?? []) {
      if (tab === undefined || conversationId.startsWith('self:')) continue;
      for (const { content, senderDeviceId } of await messagesOf(tab.crypto, conversationId)) {
        const isRead = content.kind !== 'undecryptable' || content.reason === 'before-join';
        if (!isRead)
          found.push({ browser: profile.name, what: content.reason, conversationId, of: senderDeviceId });
      }
    }
  }
  return found;
}
