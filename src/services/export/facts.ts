import type { ConversationState } from '../../crypto/client.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Api } from '../../net/api.ts';
import {
  contactsAtom,
  type IncomingRequest,
  incomingRequestsAtom,
  type OutgoingRequest,
  outgoingRequestsAtom,
  type Person,
} from '../../store/contacts.ts';
import { groupsAtom } from '../../store/groups.ts';
import type { LoadedList } from '../../store/loadedList.ts';
import { nameOfAtom } from '../../store/names.ts';
import { type Notification, notificationsAtom } from '../../store/notifications.ts';
import { type CurrentUser, currentUserAtom } from '../../store/session.ts';
import { groupOf } from '../core/conversationIds.ts';
import type { Deps } from '../core/deps.ts';

/** A group as its keys and the relay describe it. */
export interface ExportedGroup {
  readonly id: string;
  readonly name: string | null;
  readonly creator_id: string | null;
  /** RFC 3339; null where the relay has not said. */
  readonly created_at: string | null;
  readonly members: readonly { readonly id: string; readonly username: string }[];
}

type Answer<Name extends keyof Api> = Awaited<ReturnType<Api[Name]>> | null;

/** Everything of an export but the messages. Null is what the relay could not be asked. */
export interface ExportFacts {
  readonly exported_at: string;
  readonly profile: Pick<CurrentUser, 'username' | 'email' | 'id' | 'created_at'>;
  readonly contacts: readonly Person[];
  readonly groups: readonly ExportedGroup[];
  readonly contact_requests: {
    readonly received: readonly IncomingRequest[] | null;
    readonly sent: readonly OutgoingRequest[] | null;
  };
  readonly notifications: readonly Notification[] | null;
  readonly devices: Answer<'listDevices'>;
  /** Reports about others to whoever runs the server. */
  readonly reports: Answer<'listReports'>;
  /** Consent, sessions, and how keys are derived from the password. */
  readonly account: Answer<'accountData'>;
}

/** Gathers what this browser knows and what the relay holds of the person; without a connection only the former. */
export async function gatherFacts(
  { api, clock, store }: Deps,
  user: CurrentUser,
  states: readonly ConversationState[],
): Promise<ExportFacts> {
  const [contacts, received, sent, notifications, devices, reports, account] = await Promise.all([
    orNull(api.listContacts()),
    orNull(api.listContactRequests()),
    orNull(api.listSentRequests()),
    orNull(api.listNotifications()),
    orNull(api.listDevices()),
    orNull(api.listReports()),
    orNull(api.accountData()),
  ]);
  const { id, username, email, created_at } = store.get(currentUserAtom) ?? user;
  return {
    exported_at: timestamp(clock),
    profile: { username, email, id, created_at },
    contacts: contacts ?? store.get(contactsAtom).items,
    groups: groupsIn(store, states),
    contact_requests: {
      received: received ?? itemsIn(store.get(incomingRequestsAtom)),
      sent: sent ?? itemsIn(store.get(outgoingRequestsAtom)),
    },
    notifications: notifications ?? itemsIn(store.get(notificationsAtom)),
    devices,
    reports,
    account,
  };
}

/** Returns what this browser has of a list; null where it doesn't know whether there is anything. */
function itemsIn<T>({ items, loaded }: LoadedList<T>): readonly T[] | null {
  return loaded || items.length > 0 ? items : null;
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch {
    return null;
  }
}

function groupsIn(store: Deps['store'], states: readonly ConversationState[]): ExportedGroup[] {
  const nameOf = store.get(nameOfAtom);
  const groups = new Map<string, ExportedGroup>();
  for (const { conversationId, group, members } of states) {
    const id = groupOf(conversationId);
    if (id === null) continue;
    const people = members.map(({ userId }) => ({ id: userId, username: nameOf(userId) }));
    groups.set(id, {
      id,
      name: group?.name ?? null,
      creator_id: group?.creatorId ?? null,
      created_at: null,
      members: people,
    });
  }
  for (const { id, name, creatorId, createdAt, members } of store.get(groupsAtom).items) {
    const known = groups.get(id);
    const people = members.map(({ userId }) => ({ id: userId, username: nameOf(userId) }));
    groups.set(id, {
      id,
      name: name ?? known?.name ?? null,
      creator_id: creatorId,
      created_at: createdAt,
      members: people.length > 0 ? people : (known?.members ?? []),
    });
  }
  return [...groups.values()];
}
