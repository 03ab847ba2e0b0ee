import { contactsAtom, type Person } from '../../store/contacts.ts';
import { otherNamesAtom } from '../../store/names.ts';
import { trustAtom } from '../../store/trust.ts';
import type { SessionDeps } from '../core/deps.ts';
import { type Background, isPassing } from '../core/failures.ts';
import { takeSignedNames } from '../core/signedNames.ts';
import type { Trust } from './trust.ts';

/** People asked about in one call of the relay. */
const atOnce = 200;

export interface SignedNames {
  stop(): void;
}

/**
 * Shows contacts by the names that they have signed, whatever the relay calls them, and says where it calls them otherwise.
 * Whoever has signed none is shown as the relay says.
 */
export function createSignedNames(
  { api, crypto, store }: SessionDeps,
  trust: Pick<Trust, 'reload'>,
  background: Background,
): SignedNames {
  /** By user id, of whoever is shown by another name than the relay's: the two. */
  const replaced = new Map<string, { readonly shown: string; readonly said: string }>();
  /** People whose signed names were asked for, each with the relay's word at the time. */
  const asked = new Map<string, string>();

  /** The relay's word for somebody in the list. */
  function saidOf({ id, username }: Person): string {
    const known = replaced.get(id);
    return known?.shown === username ? known.said : username;
  }

  /** Puts the signed names into the list of contacts. */
  function show(): void {
    const known = store.get(trustAtom);
    const list = store.get(contactsAtom);
    const items = list.items.map((contact) => {
      const said = saidOf(contact);
      const signed = known.get(contact.id)?.name ?? null;
      const username = signed === null || isSameName(signed, said) ? said : signed;
      if (username === said) replaced.delete(contact.id);
      else replaced.set(contact.id, { shown: username, said });
      return username === contact.username ? contact : { ...contact, username };
    });
    const settled = [...store.get(otherNamesAtom).keys()].filter((id) => !replaced.has(id));
    if (settled.length > 0) {
      store.set(otherNamesAtom, (before) => new Map([...before].filter(([id]) => !settled.includes(id))));
    }
    if (items.some((contact, i) => contact !== list.items[i])) store.set(contactsAtom, { ...list, items });
  }

  async function ask(people: readonly { readonly id: string; readonly name: string }[]): Promise<void> {
    try {
      for (let at = 0; at < people.length; at += atOnce) {
        const userIds = people.slice(at, at + atOnce).map(({ id }) => id);
        await takeSignedNames({ api, crypto }, userIds);
      }
    } catch (error) {
      // The call has failed for now, so they are asked about again.
      if (!isPassing(error)) throw error;
      for (const { id } of people) asked.delete(id);
      return;
    }
    await trust.reload();
    const known = store.get(trustAtom);
    store.set(otherNamesAtom, (before) => {
      const others = new Map(before);
      for (const { id, name } of people) {
        const signed = known.get(id)?.name ?? null;
        if (signed === null || isSameName(signed, name)) others.delete(id);
        else others.set(id, name);
      }
      return others;
    });
  }

  /** Asks for the signed names of whom the relay calls otherwise, and of those who are known by none. */
  function check(): void {
    show();
    const known = store.get(trustAtom);
    const due = store.get(contactsAtom).items.flatMap(({ id, username }) => {
      const name = replaced.get(id)?.said ?? username;
      const isDue = known.get(id)?.name === null || replaced.has(id);
      return isDue && asked.get(id) !== name ? [{ id, name }] : [];
    });
    for (const { id, name } of due) asked.set(id, name);
    if (due.length > 0) background(() => ask(due));
  }

  const unsubscribe = [store.sub(contactsAtom, check), store.sub(trustAtom, check)];
  return {
    stop() {
      for (const end of unsubscribe) end();
    },
  };
}

/** As the relay compares names: case and Unicode encoding don't count. */
function isSameName(one: string, other: string): boolean {
  const key = (name: string) => name.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
  return key(one) === key(other);
}
