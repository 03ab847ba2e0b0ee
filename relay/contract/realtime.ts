import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { base64Url, ConversationId, Epoch, Id, Seq, StartTag, Timestamp } from './primitives.ts';
import { Receipt } from './receipts.ts';

/** MQTT 5 topics. There are no others, and no wildcards. */
export const topics = {
  userMessages: (userId: string) => `user/${userId}/messages`,
  userStatus: (userId: string) => `user/${userId}/status`,
  groupMessages: (groupId: string) => `group/${groupId}/messages`,
  /** A contact's: published to. One's own: subscribed to, for what is said in all of one's conversations. */
  userTyping: (userId: string) => `user/${userId}/typing`,
  /** Published to by members; nobody subscribes to it, since it arrives on their own topics. */
  groupTyping: (groupId: string) => `group/${groupId}/typing`,
  ping: 'ping',
} as const;

/** The user property of CONNECT that carries the access token. */
export const tokenProperty = 'token';

/**
 * User properties of PUBACK: what REST would have answered. A CONNACK that refuses the token and the DISCONNECT at the
 * session's end have the code too, so that nobody has to ask with a token that is worth nothing any more.
 */
export const pubackProperties = {
  code: 'code',
  epoch: 'epoch',
  retryAfter: 'retryAfter',
  seq: 'seq',
  timestamp: 'timestamp',
} as const;

/** The payload that a client publishes to `user/{contact id}/messages`. */
export const OutgoingMessage = z.object({
  type: z.literal('message'),
  messageId: Id,
  senderId: Id,
  recipientId: Id,
  epoch: Epoch,
  content: base64Url(limits.contentMax),
  timestamp: Timestamp,
  /** As over REST. */
  start: z.optional(StartTag),
});
export type OutgoingMessage = z.infer<typeof OutgoingMessage>;

/** The payload that a client publishes to `group/{group id}/messages`. */
export const OutgoingGroupMessage = z.object({
  type: z.literal('group_message'),
  messageId: Id,
  senderId: Id,
  groupId: Id,
  epoch: Epoch,
  content: base64Url(limits.contentMax),
  timestamp: Timestamp,
  /** As over REST. */
  start: z.optional(StartTag),
});
export type OutgoingGroupMessage = z.infer<typeof OutgoingGroupMessage>;

export const Ping = z.object({ type: z.literal('ping'), userId: Id, timestamp: Timestamp });

/**
 * A log entry as it is fanned out to every device of every participant, the sender's included: on the participants'
 * own topics in a direct conversation, on the group's topic in a group.
 */
export const IncomingEntry = z.object({
  type: z.enum(['message', 'commit']),
  conversationId: ConversationId,
  messageId: Id,
  senderId: Id,
  senderDeviceId: Id,
  /** In a group only. */
  groupId: z.optional(Id),
  seq: Seq,
  epoch: Epoch,
  content: base64Url(limits.commitMax),
  timestamp: Timestamp,
});

/**
 * There is an entry to fetch from the log: it is too large for an MQTT packet, or it is a group's. Of every entry of a
 * group its members are told on their own topics too, since they are subscribed to the active chat's topic only.
 */
export const IncomingAvailable = z.object({
  type: z.literal('available'),
  conversationId: ConversationId,
  seq: Seq,
});

export const IncomingWelcome = z.object({ type: z.literal('welcome'), conversationId: ConversationId });

/** `readerId` has read the conversation up to and including `seq`. Sent to the reader's own devices. */
export const IncomingDelivered = z.object({
  type: z.literal('delivered'),
  conversationId: ConversationId,
  messageId: Id,
  readerId: Id,
  seq: Seq,
});

/**
 * A device's new receipt. Sent to both participants of a direct conversation; in a group on the group's topic, where who
 * has its chat open hears of it.
 */
export const IncomingReceipt = z.extend(Receipt, {
  type: z.literal('receipt'),
  conversationId: ConversationId,
});

/** The contact lists by the names in their paths: contacts, requests received, requests sent. */
export const ContactListName = z.enum(['contacts', 'requests', 'sent-requests']);
export type ContactListName = z.infer<typeof ContactListName>;

/** These contact lists have changed: a request came, was accepted or declined, or a contact was removed or renamed. */
export const IncomingContacts = z.object({ type: z.literal('contacts'), lists: z.array(ContactListName) });

/** The list of groups, or the members of one, have changed. */
export const IncomingGroups = z.object({ type: z.literal('groups') });

/** The people whom the person has blocked are others: another browser of theirs has blocked or unblocked somebody. */
export const IncomingBlocks = z.object({ type: z.literal('blocks') });

/** Invitations to groups that ask the person, or are the person's own, have changed. */
export const IncomingGroupInvitations = z.object({ type: z.literal('group-invitations') });

/** A person's devices have changed for good: this one was revoked. Sent to the person, contacts and fellow members. */
export const IncomingDevices = z.object({ type: z.literal('devices'), userId: Id, deviceId: Id });

/** The access to the account was changed: listAccountChanges says by which device. */
export const IncomingAccount = z.object({ type: z.literal('account') });

/**
 * Another start of one of the person's devices is registered. Sent to the person: a place that has not
 * drawn it asks at once, by putStart, whether it is still the device's.
 */
export const IncomingStart = z.object({ type: z.literal('start'), deviceId: Id, tag: StartTag });

/** Everything that arrives on `user/{own id}/messages` and `group/{id}/messages`. */
export const IncomingEvent = z.discriminatedUnion('type', [
  IncomingEntry,
  IncomingAvailable,
  IncomingWelcome,
  IncomingDelivered,
  IncomingReceipt,
  IncomingContacts,
  IncomingGroups,
  IncomingGroupInvitations,
  IncomingBlocks,
  IncomingDevices,
  IncomingAccount,
  IncomingStart,
]);
export type IncomingEvent = z.infer<typeof IncomingEvent>;

/** The payload that arrives on `user/{contact id}/status` and on the presence socket. */
export const PresenceChange = z.object({ userId: Id, online: z.boolean() });
export type PresenceChange = z.infer<typeof PresenceChange>;

/** The first message on the presence socket carries the token: a URL would end in logs. */
export const PresenceClientMessage = z.union([
  z.object({ type: z.literal('ping') }),
  z.object({ userId: Id, online: z.boolean(), token: z.optional(z.string().check(z.maxLength(4096))) }),
]);

export const PresenceServerMessage = z.union([
  z.object({ type: z.literal('online_users'), userIds: z.array(Id) }),
  z.object({ type: z.literal('pong') }),
  PresenceChange,
]);
export type PresenceServerMessage = z.infer<typeof PresenceServerMessage>;

export const presencePath = '/ws/presence/';
export const mqttPath = '/mqtt';
