import { topics } from '../../contract/index.ts';

/** Everything the relays keep in Redis begins with this. */
const prefix = 'sinetti:';

/** Names of what the relays keep in Redis. */
export const keys = {
  /** Sorted set: relays by the time, in milliseconds of Redis's clock, after which they count as dead. */
  relays: `${prefix}relays`,
  /** Set: user ids that are online at this relay. */
  relayUsers: (relayId: string) => `${prefix}relay:${relayId}:users`,
  /** Set: the relays at which this person is online. In a cluster it is in the hash slot of the channel that tells of it. */
  online: (userId: string) => `${prefix}online:{${topics.userStatus(userId)}}`,
  /** Held by the relay that clears up after a dead one. */
  burial: (relayId: string) => `${prefix}relay:${relayId}:burial`,
  /** Number: when this bucket is full, in milliseconds of Redis's clock. */
  bucket: (key: string) => `${prefix}bucket:${key}`,
};

const topicPrefix = `${prefix}topic:`;

/** Names of what they say through it. */
export const channels = {
  topicPrefix,
  topic: (topic: string) => `${topicPrefix}{${topic}}`,
  /** The topic of a channel; null for a channel of something else. */
  topicOf: (channel: string) =>
    channel.startsWith(topicPrefix) ? channel.slice(`${topicPrefix}{`.length, -1) : null,
  signals: `${prefix}signals`,
  interruptions: `${prefix}interruptions`,
};
