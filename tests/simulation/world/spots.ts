import { directConversationId, groupConversationId, selfConversationId } from '#src/net/contract.ts';
import { groupKeyOf } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { groupsAtom } from '#src/store/groups.ts';
import type { MessageView } from '#workers/api/cryptoApi.ts';
import type { Random } from '../seams/random.ts';
import { isShownWith, type Place, type Said, type Seat } from './people.ts';
import type { Tab } from './profile.ts';
import type { World } from './world.ts';

/** Plays one step with what it acts on. */
export type Act = (world: World, random: Random) => Promise<void> | void;

export const signedIn = (world: World): Seat[] =>
  world.seats.filter(({ status, tabs }) => status === 'in' && tabs.length > 0);

export interface Spot {
  readonly seat: Seat;
  readonly tab: Tab;
}

export function someSeat(world: World, random: Random): Spot | null {
  const seats = signedIn(world);
  if (seats.length === 0) return null;
  const seat = random.pick(seats);
  return { seat, tab: random.pick(seat.tabs) };
}

/** The chats that a tab shows and can write in. */
export function placesOf(tab: Tab): Place[] {
  const own = tab.userId ?? '';
  const direct = tab.store
    .get(contactsAtom)
    .items.map(({ id }) => ({ key: id, conversationId: directConversationId(own, id) }));
  const groups = tab.store
    .get(groupsAtom)
    .items.filter(({ ended, left }) => !ended && !left)
    .map(({ id }) => ({ key: groupKeyOf(id), conversationId: groupConversationId(id) }));
  // As many words in groups as between two, however many people one knows.
  return groups.length === 0
    ? direct
    : [...direct, ...direct.flatMap(() => groups).slice(0, direct.length * 2)];
}

/** The chats that a tab shows and can write in, and the notes of its person. */
export function placesWithNotes({ seat: { person }, tab }: Spot): Place[] {
  return [...placesOf(tab), { key: person.id, conversationId: selfConversationId(person.id) }];
}

/** Some chat of somebody's; null where there is none. */
export function someChat(world: World, random: Random): (Spot & Place) | null {
  const found = someSeat(world, random);
  const places = found === null ? [] : placesOf(found.tab);
  return found === null || places.length === 0 ? null : { ...found, ...random.pick(places) };
}

export interface Shown extends Place {
  readonly message: MessageView;
  readonly said: Said;
}

/** One of the newest messages of some chat that has any; null where none has. */
export async function someMessage(
  world: World,
  spot: Spot,
  random: Random,
  kinds: readonly MessageView['content']['kind'][] = ['text', 'files'],
): Promise<Shown | null> {
  const { tab } = spot;
  const places = placesWithNotes(spot);
  const first = random.below(places.length);
  for (const place of [...places.slice(first), ...places.slice(0, first)]) {
    const messages = await tab.answer(tab.crypto.messages(place.conversationId, { limit: 20 }), []);
    const shown = messages.flatMap((message) => {
      const said = world.said.find((one) => isShownWith(one, message));
      return said && kinds.includes(message.content.kind) ? [{ ...place, message, said }] : [];
    });
    if (shown.length > 0) return random.pick(shown);
  }
  return null;
}
