import { selfConversationId } from '#src/net/contract.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import { forGood } from '#src/store/mutes.ts';
import type { Random } from '../seams/random.ts';
import { after, pass } from '../seams/time.ts';
import type { Place } from './people.ts';
import { type Act, placesOf, placesWithNotes, type Spot, someChat, someMessage, someSeat } from './spots.ts';
import { storedDevice } from './stored.ts';
import {
  draft as draftOf,
  mutedAs,
  mute as muteOf,
  pin as pinOf,
  star as starOf,
  timer as timerOf,
} from './wishes.ts';
import type { World } from './world.ts';

export const say: Act = (world, random) => {
  const found = someChat(world, random);
  if (found !== null) world.say(found.seat, found.tab, found.key, found.conversationId);
};

export const note: Act = (world, random) => {
  const found = someSeat(world, random);
  const own = found?.seat.person.id ?? '';
  if (found !== null && own !== '') world.say(found.seat, found.tab, own, selfConversationId(own));
};

const emojis = ['👍️', '❤️', '😂'];

/** Answers a message, reacts to it, takes that back, or edits or deletes it where it is the person's own. */
export const change: Act = async (world, random) => {
  const found = someSeat(world, random);
  const shown = found && (await someMessage(world, found, random));
  if (found === null || shown === null) return;
  const { seat, tab } = found;
  const { conversationId, key, message, said } = shown;
  const of = message.messageId;
  const roll = random.fraction();
  if (roll < 0.2) return world.say(seat, tab, key, conversationId, of);
  const isOwn = said.seat.person === seat.person;
  // The caption of files is theirs for good.
  if (isOwn && roll < 0.4 && message.content.kind === 'text')
    return world.change(seat, tab, key, said, { kind: 'edit', of, text: '' });
  if (isOwn && roll < 0.6) return world.change(seat, tab, key, said, { kind: 'deletion', of });
  const emoji = random.pick(emojis);
  const isTaken =
    message.reactions?.some((one) => one.emoji === emoji && one.userIds.includes(seat.person.id)) === true;
  world.change(seat, tab, key, said, { kind: 'reaction', of, emoji, isTaken });
};

/** Passes a message on, text or files, to where nobody has said it yet: a world knows texts by their conversation. */
export const forward: Act = async (world, random) => {
  const found = someSeat(world, random);
  const shown = found && (await someMessage(world, found, random));
  if (found === null || shown === null) return;
  const { seat, tab } = found;
  const { message, said } = shown;
  const { content } = message;
  if (content.kind !== 'text' && content.kind !== 'files') return;
  const places = placesWithNotes(found).filter(
    ({ conversationId }) => !world.isSaidIn(conversationId, content.text),
  );
  // One that disappears is offered for forwarding by no client.
  if (places.length === 0 || message.timer !== undefined) return;
  world.forward(seat, tab, random.pick(places), message, content, said.file);
};

/** Sends a file of a few bytes, with a caption. */
export const file: Act = async (world, random) => {
  const found = someSeat(world, random);
  if (found === null) return;
  const places = placesWithNotes(found);
  await world.sendFile(
    found.seat,
    found.tab,
    random.pick(places),
    new Uint8Array(random.bytes(1 + random.below(3_000))),
  );
};

/** As short as a play can wait for in the end. */
const timers = [0, 30, 120, 300];

/** Somebody, one of their tabs, and a conversation with others that has begun there. */
async function someBegunChat(world: World, random: Random): Promise<(Spot & Place) | null> {
  const found = someSeat(world, random);
  if (found === null) return null;
  const states = await found.tab.answer(found.tab.crypto.conversations(), []);
  const begun = new Set(states.filter(({ status }) => status === 'joined').map((one) => one.conversationId));
  const places = placesOf(found.tab).filter(({ conversationId }) => begun.has(conversationId));
  return places.length === 0 ? null : { ...found, ...random.pick(places) };
}

/** Has everybody in a conversation agree on when messages disappear. */
export const timer: Act = async (world, random) => {
  const found = await someBegunChat(world, random);
  if (found === null) return;
  const { key, tab } = found;
  const seconds = random.pick(timers);
  world.wish(found, timerOf(found.conversationId), String(seconds), () =>
    tab.actions.setMessageTimer(key, seconds),
  );
};

/** Pins a message for everybody, or unpins it. */
export const pin: Act = async (world, random) => {
  const found = await someBegunChat(world, random);
  const shown = found && (await someMessage(world, found, random));
  if (found === null || shown === null) return;
  const { seat, tab } = found;
  const { conversationId, key, message } = shown;
  if (conversationId === selfConversationId(seat.person.id) || message.seq === null) return;
  const state = await tab.answer(tab.crypto.conversation(conversationId), null);
  const isPinned = state?.pinned.some(({ messageId }) => messageId === message.messageId) !== true;
  const about = pinOf(conversationId, message.messageId);
  world.wish({ seat, tab, conversationId }, about, String(isPinned), () =>
    tab.actions.setPinned(key, message.messageId, isPinned),
  );
};

/** Stars a message for oneself, or takes the star back. */
export const star: Act = async (world, random) => {
  const found = someSeat(world, random);
  const shown = found && (await someMessage(world, found, random));
  if (found === null || shown === null) return;
  const { seat, tab } = found;
  const { conversationId, key, message } = shown;
  const starred = await tab.answer(tab.crypto.starredMessages(), []);
  const isStarred = !starred.some(({ messageId }) => messageId === message.messageId);
  const about = starOf(seat.person, conversationId, message.messageId);
  world.wish({ seat, tab, conversationId }, about, String(isStarred), () =>
    tab.actions.setStar(key, message.messageId, isStarred),
  );
};

/** Mutes a conversation for good on all of the person's devices, or ends that. */
export const mute: Act = (world, random) => {
  const found = someChat(world, random);
  if (found === null) return;
  const { conversationId, key, seat, tab } = found;
  const wanted = { until: random.chance(0.6) ? forGood : 0, mentions: random.chance(0.5) };
  const value = wanted.until === 0 ? '' : mutedAs(wanted.mentions);
  world.wish({ seat, tab, conversationId }, muteOf(seat.person, conversationId), value, () =>
    tab.actions.muteConversation(key, wanted),
  );
};

/** The time within which a draft is on the disk, and on its way to the person's other devices. */
const untilKept = 1_500;

/** Writes something that isn't sent yet, or clears it. */
export const draft: Act = async (world, random) => {
  const found = someChat(world, random);
  if (found === null) return;
  const { conversationId, key, seat, tab } = found;
  const text = random.chance(0.2) ? '' : world.newText(seat);
  const write = () => {
    tab.store.set(draftsAtom, (drafts) => ({ ...drafts, [key]: text }));
    return new Promise<void>((resolve) => void after(untilKept, resolve));
  };
  const isOnDisk = () =>
    (storedDevice(seat.profile.indexedDB, seat.person.id)?.drafts.get(key) ?? '') === text;
  const about = draftOf(seat.person, conversationId);
  world.wish({ seat, tab, conversationId }, about, text, write, isOnDisk);
  await pass(untilKept + 1);
};
