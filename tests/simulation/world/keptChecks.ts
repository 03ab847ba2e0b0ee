import { selfConversationId } from '#src/net/contract.ts';
import { chatsAtom, groupIdOfKey } from '#src/store/chats.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import type { AttachedFile, FilePlace } from '#src/store/files.ts';
import { galleryAtom, galleryMessagesAtom } from '#src/store/gallery.ts';
import { starsAtom } from '#src/store/stars.ts';
import type { ConversationState, MessageView } from '#workers/api/cryptoApi.ts';
import { pass, passUntil } from '../seams/time.ts';
import type { LogOfRelay } from './log.ts';
import { isShownWith, type Person, type Seat, textAt } from './people.ts';
import type { Tab } from './profile.ts';
import { comeBack, keyIn } from './settle.ts';
import { storedDevice } from './stored.ts';
import { draft, faultsOfHeld, type Held, mute, mutedAs, pin, star, timer, type Wish } from './wishes.ts';
import type { World } from './world.ts';

const second = 1_000;
const minute = 60 * second;

/** A conversation as a browser has it. */
export interface View {
  readonly seat: Seat;
  readonly tab: Tab;
  readonly where: string;
  readonly log: LogOfRelay;
  readonly state: ConversationState;
  readonly messages: readonly MessageView[];
}

/** Everybody who has a message with a file opens it, and has the bytes that were sent. */
export async function checkFiles(world: World, views: readonly View[]): Promise<void> {
  for (const { messages, tab, where } of views) {
    for (const message of messages) {
      const said = world.said.find((one) => isShownWith(one, message));
      const { content, conversationId, messageId } = message;
      const isFile = content.kind === 'files';
      if (said === undefined) continue;
      if (isFile !== (said.file !== null)) world.wrong.push(`${where}: "${said.text}" has another kind`);
      const [file] = isFile ? content.files : [];
      if (file === undefined || said.file === null) continue;
      const bytes = await bytesOf(tab, { conversationId, messageId, index: 0 }, file);
      world.count('a file is opened');
      if (typeof bytes === 'string') world.wrong.push(`${where}: the file of "${said.text}" is ${bytes}`);
      else if (!bytes.equals(said.file))
        world.wrong.push(`${where}: the file of "${said.text}" has other bytes`);
    }
  }
}

/** @returns the failure where it can't be had */
async function bytesOf(tab: Tab, place: FilePlace, file: AttachedFile): Promise<Buffer | string> {
  let outcome: Buffer | string | null = null;
  const read = async () => {
    try {
      const files = await tab.actions.files();
      const opened = await files.read(place, file);
      outcome = Buffer.from(await opened.arrayBuffer());
    } catch (error) {
      outcome = String(error);
    }
  };
  void read();
  await passUntil(() => outcome !== null, minute);
  return outcome ?? 'never answered';
}

/** Pins of one conversation at most: a fourth takes the place of one. */
const mostPins = 3;

/** Everything that people have set is the same to everybody whom it concerns, and what they have wished last where that is sure. */
export async function checkWishes(world: World, views: readonly View[]): Promise<void> {
  const compare = (about: string, held: readonly Held[], before: string, wishes = wishesOf(world, about)) => {
    if (wishes.length === 0) return;
    world.count(held.length === 0 ? 'a wish of which nobody can tell' : 'a wish is compared');
    world.wrong.push(...faultsOfHeld(about, wishes, held, before));
  };
  for (const id of new Set(views.map(({ log }) => log.id))) {
    const own = views.filter(({ log }) => log.id === id);
    compare(
      timer(id),
      own.map(({ state, where }) => ({ where, value: String(state.timer) })),
      '0',
    );
    const ids = new Set(own.flatMap(({ messages }) => messages.map(({ messageId }) => messageId)));
    const pins = [...ids].filter((messageId) => wishesOf(world, pin(id, messageId)).length > 0);
    for (const messageId of pins) {
      const wishes = wishesOf(world, pin(id, messageId));
      const mayBeReplaced = pins.length > mostPins;
      const held = own.flatMap(({ messages, state, where }) =>
        isLastingIn(messages, messageId)
          ? { where, value: String(state.pinned.some((one) => one.messageId === messageId)) }
          : [],
      );
      compare(
        pin(id, messageId),
        held,
        'false',
        wishes.map((wish) => ({ ...wish, mayBeLost: wish.mayBeLost || mayBeReplaced })),
      );
    }
  }
  for (const person of world.people) {
    const own = views.filter(({ seat }) => seat.person === person);
    for (const { conversationId, about } of firstOfEach(world.wishes, person)) {
      const wishes = wishesOf(world, about);
      const held: Held[] = [];
      for (const device of devicesOf(person, own)) {
        const isEarly = wishes.every(
          ({ deviceId, ownSeq }) => deviceId === device.seat.deviceId || device.joinedSeq <= ownSeq,
        );
        const value = await ownValue(device, conversationId, about, isEarly);
        if (value !== null) held.push({ where: device.seat.profile.name, value });
      }
      compare(about, held, about.includes('star') ? 'false' : '');
    }
  }
}

const wishesOf = (world: World, about: string): readonly Wish[] =>
  world.wishes.filter((wish) => wish.about === about);

/** One wish for each thing that a person has set for themselves. */
function firstOfEach(wishes: readonly Wish[], person: Person): readonly Wish[] {
  const own = wishes.filter(({ about }) => about.startsWith(`${person.name}'s `));
  return own.filter(({ about }, at) => own.findIndex((one) => one.about === about) === at);
}

interface OwnDevice {
  readonly seat: Seat;
  readonly tab: Tab;
  /** The position at which it came into the group of the person's own devices. */
  readonly joinedSeq: number;
  readonly views: readonly View[];
}

function devicesOf({ id, seats }: Person, views: readonly View[]): OwnDevice[] {
  return seats
    .filter(({ status }) => status === 'in')
    .flatMap((seat) => {
      const own = views.filter((view) => view.seat === seat);
      const joinedSeq = own.find(({ log }) => log.id === selfConversationId(id))?.state.joinedSeq ?? 0;
      const [tab] = seat.tabs;
      return tab === undefined ? [] : [{ seat, tab, joinedSeq, views: own }];
    });
}

/**
 * The value that one of a person's devices has of what the person has set for themselves; null where it can't tell.
 * @param isEarly it was there when all of that was said: drafts and stars of before reach a new device by chance
 */
async function ownValue(
  { seat, tab, views }: OwnDevice,
  conversationId: string,
  about: string,
  isEarly: boolean,
): Promise<string | null> {
  const key = keyIn(conversationId, seat);
  const view = views.find(({ log }) => log.id === conversationId);
  if (groupIdOfKey(key) !== null && view === undefined) return null;
  if (about === mute(seat.person, conversationId)) {
    const muted = (await tab.crypto.mutes()).find((one) => one.conversationId === conversationId);
    return muted === undefined ? '' : mutedAs(muted.mentions);
  }
  if (!isEarly) return null;
  if (about === draft(seat.person, conversationId)) return tab.store.get(draftsAtom)[key] ?? '';
  const starred = view?.messages.find(
    ({ messageId }) => about === star(seat.person, conversationId, messageId),
  );
  if (view === undefined || starred === undefined || !isLastingIn(view.messages, starred.messageId))
    return null;
  const stars = await tab.crypto.starredMessages();
  return String(stars.some(({ messageId }) => messageId === starred.messageId));
}

/** Returns whether a message is there that was not deleted, and does not disappear. */
const isLastingIn = (messages: readonly MessageView[], id: string): boolean =>
  messages.some(
    ({ content, messageId, timer: seconds }) =>
      messageId === id && (content.kind === 'text' || content.kind === 'files') && seconds === undefined,
  );

/** Browsers look for copies of messages that others have left as often. */
const copiesRead = 5 * minute + 10 * second;

/** Everybody comes back later and reads everything, and when the time of what disappears is over, no disk and no screen has any of it. */
export async function checkDisappearing(world: World, views: readonly View[]): Promise<void> {
  if (world.timed.size === 0) return;
  for (const { seat } of views) await openLists(world, seat, views);
  countShown(world);
  await pass(copiesRead + minute);
  tellOwnShown(world);
  for (const { profile } of world.seats) {
    profile.killTabs();
    // A clock that is behind keeps what was read until it has come so far (PROTOCOL section 4), which may be hours.
    profile.clockSkew = Math.max(0, profile.clockSkew);
  }
  await comeBack(world);
  for (const { log, seat } of views) {
    const [tab] = seat.tabs;
    if (tab === undefined) continue;
    const key = keyIn(log.id, seat);
    const groupId = groupIdOfKey(key);
    await world.finish(tab, 'read in the end', () =>
      groupId === null ? tab.actions.openChat(key) : tab.actions.openGroup(groupId),
    );
    await pass(second);
  }
  for (const { seat } of views) await openLists(world, seat, views);
  countShown(world);
  await pass(Math.max(...world.timed.values()) * second + minute);
  await world.look();
  for (const { person, profile, tabs } of world.seats.filter(({ status }) => status === 'in')) {
    const texts = storedDevice(profile.indexedDB, person.id)?.texts;
    for (const text of world.timed.keys())
      if (texts?.has(text) === true)
        world.wrong.push(`${profile.name} still has "${text}", whose time is over`);
    for (const { conversationId, text, where } of tabs.flatMap(shownBy)) {
      if (world.timed.has(textAt(conversationId, text)))
        world.wrong.push(`${profile.name} still shows "${text}" ${where}, whose time is over`);
    }
  }
  world.events.set('texts have disappeared', world.timed.size);
}

function countShown(world: World): void {
  for (const { conversationId, text, where } of world.seats.flatMap(({ tabs }) => tabs.flatMap(shownBy)))
    if (world.timed.has(textAt(conversationId, text))) world.count(`shown ${where}, and to disappear`);
}

/** Tells of a browser that still shows something it has sent: the time of that runs from then on, whoever has read it. */
function tellOwnShown({ said, seats, timed, wrong }: World): void {
  const own = new Map(said.map(({ conversationId, seat, text }) => [textAt(conversationId, text), seat]));
  for (const seat of seats.filter(({ status }) => status === 'in')) {
    for (const { conversationId, text, where } of seat.tabs.flatMap(shownBy)) {
      const place = textAt(conversationId, text);
      if (own.get(place) === seat && timed.has(place))
        wrong.push(`${seat.profile.name} still shows "${text}" of its own ${where}, whose time is over`);
    }
  }
}

/** Opens what may show messages beside chats: the stars, and the gallery of one conversation with files that disappear. */
async function openLists(world: World, seat: Seat, views: readonly View[]): Promise<void> {
  const [tab] = seat.tabs;
  if (tab === undefined || tab.store.get(galleryAtom) !== null) return;
  await world.finish(tab, 'look at the stars', () => tab.actions.loadStars());
  const withFiles = views.find(
    ({ messages, seat: other }) =>
      other === seat && messages.some(({ content, timer: seconds }) => content.kind === 'files' && seconds),
  );
  if (withFiles === undefined) return;
  const key = keyIn(withFiles.log.id, seat);
  tab.store.set(galleryAtom, { key, shelves: {} });
  await world.finish(tab, 'open a gallery', async () =>
    (await tab.actions.files()).loadGallery(key, 'files'),
  );
}

interface ShownText {
  readonly conversationId: string;
  readonly text: string;
  readonly where: string;
}

/** Every text on a screen: in chats and answers there, above them, in the list of chats, among the stars and in the gallery. */
function shownBy({ store }: Tab): readonly ShownText[] {
  const chats = Object.values(store.get(chatsAtom));
  const messages = chats.flatMap((chat) => chat.messages);
  const quotes = messages.flatMap(({ conversationId, quote }) =>
    quote?.message ? [{ conversationId, content: quote.message.content }] : [],
  );
  const places = {
    'in a chat': messages,
    'in an answer': quotes,
    'as the last one': chats.flatMap(({ state }) => state?.lastMessage ?? []),
    'where it is pinned': chats.flatMap(({ state }) => state?.pinned ?? []),
    'among the stars': (store.get(starsAtom) ?? []).map(({ message }) => message),
    'in a gallery': store.get(galleryMessagesAtom),
  };
  return Object.entries(places).flatMap(([where, shown]) =>
    shown.flatMap(({ content, conversationId }) =>
      content.kind === 'text' || content.kind === 'files'
        ? { conversationId, text: content.text, where }
        : [],
    ),
  );
}
