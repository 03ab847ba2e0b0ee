import { randomUUID } from 'node:crypto';
import { directConversationId, groupConversationId, selfConversationId } from '../../contract/index.ts';
import { suspendAccount } from '../../src/accounts/suspension.ts';
import { revocationOf } from '../devices.ts';
import {
  base64Url,
  befriend,
  onAnotherDevice,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { addMember, commitBody, createGroup, messageBody, send, submitCommit } from '../http/conversation.ts';
import { proofKeyOf } from '../proofs.ts';

/**
 * The callers, as seen from `creator`, who owns the things that are asked for:
 * - `anonymous` has no token;
 * - `stranger` has an account and nothing to do with anybody;
 * - `contact` is a contact and shares a direct conversation;
 * - `member` is in the creator's group, and no contact;
 * - `removed` was in the group, and was a contact with a conversation, and is neither any more;
 * - `revoked` is a device of the creator's own that has been revoked;
 * - `deleted` was a member, and has deleted the account;
 * - `blocked` is a contact and a member, and the creator has blocked them;
 * - `suspended` is a contact and a member whom the operator has suspended.
 */
export const actors = [
  'anonymous',
  'stranger',
  'contact',
  'member',
  'creator',
  'removed',
  'blocked',
  'revoked',
  'deleted',
  'suspended',
] as const;
export type Actor = (typeof actors)[number];

/** The actors whose token is valid. */
export type Living = 'stranger' | 'contact' | 'member' | 'creator' | 'removed' | 'blocked';
export const isLiving = (actor: Actor): actor is Living =>
  actor in { stranger: 0, contact: 0, member: 0, creator: 0, removed: 0, blocked: 0 };

export interface World extends Readonly<Record<Living, PersonOnDevice>> {
  readonly relay: TestRelay;
  /** The token that each actor sends; null for none. */
  readonly tokens: Readonly<Record<Actor, string | null>>;
  readonly recoveryAuthKey: string;
  readonly suspended: PersonOnDevice;
}

export async function createWorld(): Promise<World> {
  const relay = await startTestRelay({
    // No mail server is there: its mails are lost, and the calls are what they are with one.
    environment: { RATE_LIMITS: 'off', SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'relay@example.org' },
  });
  const people: PersonOnDevice[] = [];
  for (let count = 0; count < 8; count++) people.push(await signUpOnDevice(relay));
  const [stranger, contact, member, creator, removed, blocked, leaving, suspended] = people as [
    PersonOnDevice,
    PersonOnDevice,
    PersonOnDevice,
    PersonOnDevice,
    PersonOnDevice,
    PersonOnDevice,
    PersonOnDevice,
    PersonOnDevice,
  ];
  const recoveryAuthKey = base64Url(32);
  for (const person of [stranger, contact, member, creator, removed, blocked]) {
    const wraps = { passwordWrap: base64Url(73), recoveryWrap: base64Url(73) };
    const recoveryProofKey = proofKeyOf(recoveryAuthKey);
    const vault = { version: 0, sealedVault: base64Url(145), ...wraps, recoveryAuthKey, recoveryProofKey };
    await must(person.call('PUT', '/vault', vault));
  }
  for (const person of [contact, removed, blocked]) {
    await befriend(creator, person);
    await must(submitCommit(creator, directConversationId(creator.id, person.id), commitBody(0)));
    await must(send(person, creator, messageBody(1)));
  }
  await must(creator.call('DELETE', `/contacts/${removed.id}`));
  await must(creator.call('PUT', `/blocks/${blocked.id}`));

  const revoked = await onAnotherDevice(relay, creator);
  await must(
    creator.call('DELETE', `/devices/${revoked.deviceId}`, {
      statement: revocationOf(creator, revoked.deviceId),
    }),
  );
  await befriend(creator, leaving);
  const groupId = await createGroup(creator);
  await must(addMember(creator, groupId, leaving, commitBody(0)));
  await must(leaving.call('DELETE', '/user'));
  await befriend(creator, suspended);
  await must(addMember(creator, groupId, suspended, commitBody(1)));
  await suspendAccount(
    { db: relay.relay.database.db, hub: relay.relay.services.hub, clock: Date.now },
    suspended.id,
  );

  const living = { stranger, contact, member, creator, removed, blocked };
  return {
    relay,
    ...living,
    recoveryAuthKey,
    suspended,
    tokens: {
      anonymous: null,
      stranger: stranger.token,
      contact: contact.token,
      member: member.token,
      creator: creator.token,
      removed: removed.token,
      blocked: blocked.token,
      revoked: revoked.token,
      deleted: leaving.token,
      suspended: suspended.token,
    },
  };
}

/** @throws Error unless it succeeded: what a test stands on must hold */
export async function must<T>(answer: Promise<{ status: number; body: T }>): Promise<T> {
  const { status, body } = await answer;
  if (status >= 400) throw new Error(`answered ${status} ${JSON.stringify(body)}`);
  return body;
}

/** A group of the creator's at epoch 1 that `member` and `blocked` are in, and `removed` was. */
export async function freshGroup(world: World): Promise<string> {
  const { creator, member, removed, blocked } = world;
  const groupId = await createGroup(creator);
  for (const person of [member, removed]) await befriend(creator, person);
  const welcomes = [{ deviceIds: [member.deviceId], welcome: base64Url(200) }];
  const people = { user_ids: [member.id, removed.id, blocked.id] };
  // Nobody adds whom they have blocked.
  await must(creator.call('DELETE', `/blocks/${blocked.id}`));
  await must(creator.call('POST', `/group/${groupId}/add`, { ...people, ...commitBody(0, welcomes) }));
  await must(creator.call('PUT', `/blocks/${blocked.id}`));
  await must(removed.call('DELETE', `/group/${groupId}/leave`, { statement: base64Url(200) }));
  for (const person of [member, removed]) await must(creator.call('DELETE', `/contacts/${person.id}`));
  return groupId;
}

/** The epoch of a conversation; 0 before it is started. */
export async function epochOf(person: Person, conversationId: string): Promise<number> {
  const conversations = await must(
    person.call<{ conversationId: string; epoch: number }[]>('GET', '/conversations'),
  );
  return conversations.find((found) => found.conversationId === conversationId)?.epoch ?? 0;
}

/** The id of a device of the creator's that no other row needs: as many as the actors would be more than one may have. */
export async function spareDevice({ relay, creator }: World): Promise<string> {
  const devices = await must(creator.call<{ id: string }[]>('GET', '/devices'));
  const spare = devices.find(({ id }) => id !== creator.deviceId);
  return spare?.id ?? (await onAnotherDevice(relay, creator)).deviceId;
}

/** The id of a pending request of the stranger to the creator. */
export async function pendingRequest({ relay, stranger, creator }: World): Promise<string> {
  // One that was declined before would not come again.
  await relay.relay.database.db.deleteFrom('declined_requests').execute();
  // It may be there already.
  await stranger.call('POST', `/contacts/request/${creator.id}`);
  const requests = await must(
    creator.call<{ id: string; from_user: { id: string } }[]>('GET', '/contacts/requests'),
  );
  const found = requests.find(({ from_user: { id } }) => id === stranger.id);
  if (found === undefined) throw new Error('there is no request');
  return found.id;
}

/** The id of a message that the contact has sent to the creator. */
export async function messageToCreator({ contact, creator }: World): Promise<string> {
  const epoch = await epochOf(contact, directConversationId(contact.id, creator.id));
  return (await must(send(contact, creator, messageBody(epoch)))).id;
}

/** The id of a notification of the creator's. */
export async function notificationOfCreator(world: World): Promise<string> {
  await messageToCreator(world);
  const [first] = await must(world.creator.call<{ id: string }[]>('GET', '/notifications'));
  return first?.id ?? randomUUID();
}

export const directId = ({ creator, contact }: World) => directConversationId(creator.id, contact.id);

/** The id of the conversation of the creator's own devices, which has been started. */
export async function ownDevicesId({ creator }: World): Promise<string> {
  const id = selfConversationId(creator.id);
  if ((await epochOf(creator, id)) === 0) await must(submitCommit(creator, id, commitBody(0)));
  return id;
}

export const groupConversation = async (world: World) => groupConversationId(await freshGroup(world));
