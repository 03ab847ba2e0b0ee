import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** Where the relays' Redis is: one server, or some nodes of a Redis Cluster, by which the others are found. */
export interface RedisAddress {
  readonly urls: readonly [string, ...string[]];
  readonly isCluster: boolean;
}

/** A connection to one server or to a cluster. In a cluster the keys of a command have to be of one hash slot. */
export type Connection = Redis | Cluster;

const settings = {
  lazyConnect: true,
  connectionName: 'sinetti-relay',
  connectTimeout: 5000,
  commandTimeout: 5000,
  keepAlive: 10_000,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  enableAutoPipelining: false,
} satisfies RedisOptions;

/** Relays that lose it together don't come back together. Milliseconds. */
const retryDelay = (attempt: number) => Math.min(attempt * 100, 2000) * (0.5 + Math.random() / 2);

/** A connection that isn't opened yet. Commands missed while Redis was away are not replayed: the whole state is sent anew. */
export function connectionTo({ urls, isCluster }: RedisAddress): Connection {
  const connection = isCluster
    ? clusterOf(urls)
    : new Redis(urls[0], { ...settings, enableOfflineQueue: false, retryStrategy: retryDelay });
  // 'close' follows.
  connection.on('error', () => {});
  return connection;
}

/** Opens it, and resolves once Redis answers. */
export async function openConnection(connection: Connection): Promise<void> {
  await connection.connect();
  // The driver refuses what comes while it opens the connection to a node, so it opens all of them before anything comes.
  if (connection instanceof Cluster) await Promise.all(connection.nodes().map((node) => node.ping()));
  else await connection.ping();
}

function clusterOf(urls: RedisAddress['urls']): Cluster {
  // The nodes that are found by the named ones have the same name, password and kind of connection.
  const { protocol, username, password } = new URL(urls[0]);
  return new Cluster(
    urls.map((url) => {
      const { hostname, port } = new URL(url);
      return { host: hostname, port: port === '' ? 6379 : Number(port) };
    }),
    {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryDelay,
      shardedSubscribers: true,
      // A slot that has moved to another node takes its channels along, and the driver doesn't hear of that.
      slotsRefreshInterval: 5000,
      // A command is not worth the seconds in which a replica takes the place of its primary.
      maxRedirections: 3,
      retryDelayOnFailover: 200,
      retryDelayOnClusterDown: 200,
      // A certificate is for the name that a node says.
      dnsLookup: (address, callback) => callback(null, address),
      redisOptions: {
        ...settings,
        ...(username === '' ? {} : { username: decodeURIComponent(username) }),
        ...(password === '' ? {} : { password: decodeURIComponent(password) }),
        ...(protocol === 'rediss:' ? { tls: {} } : {}),
      },
    },
  );
}

/** Publishing and subscribing: in a cluster by sharded channels, each of which only the nodes of its hash slot carry. */
export interface Channels {
  /** The command by which a script publishes. */
  readonly publishing: 'PUBLISH' | 'SPUBLISH';
  publish(channel: string, message: string): Promise<unknown>;
  /** @throws Error where not all of them are heard */
  subscribe(channels: readonly string[]): Promise<void>;
  unsubscribe(channels: readonly string[]): Promise<void>;
  onMessage(listener: (channel: string, message: string) => void): void;
  /** Called when what was subscribed to has to be asked for anew, after a time in which something may have been missed. */
  onBack(listener: () => void): void;
  /** Returns whether nothing that is published can be missed just now. */
  isListening(): boolean;
}

/** @param subscriber a connection of its own: one that subscribes can do nothing else */
export function channelsOf(commands: Connection, subscriber: Connection): Channels {
  if (commands instanceof Cluster && subscriber instanceof Cluster)
    return shardedChannels(commands, subscriber);
  if (commands instanceof Redis && subscriber instanceof Redis) return plainChannels(commands, subscriber);
  throw new TypeError('one server and one cluster');
}

function plainChannels(commands: Redis, subscriber: Redis): Channels {
  return {
    publishing: 'PUBLISH',
    publish: (channel, message) => commands.publish(channel, message),
    async subscribe(channels) {
      // A thousand channels fit well into one command.
      for (let start = 0; start < channels.length; start += 1000) {
        await subscriber.subscribe(...channels.slice(start, start + 1000));
      }
    },
    async unsubscribe(channels) {
      await subscriber.unsubscribe(...channels);
    },
    onMessage: (listener) => subscriber.on('message', listener),
    onBack: (listener) => subscriber.on('ready', listener),
    isListening: () => subscriber.status === 'ready',
  };
}

function shardedChannels(commands: Cluster, subscriber: Cluster): Channels {
  /** The driver notes each channel as often as it is asked for it, and asks for all of them after each change of the slots. */
  const noted = new Set<string>();
  async function subscribe(channel: string): Promise<void> {
    if (noted.has(channel)) await subscriber.sunsubscribe(channel).catch(() => {});
    noted.add(channel);
    await subscriber.ssubscribe(channel);
  }
  /** A connection to a node has ended, and what it was subscribed to is not heard from another one yet. */
  let isDeaf = false;
  const noteLoss = () => {
    isDeaf = true;
  };
  subscriber.on('-subscriber', noteLoss);
  // The name is missing where the node is one for commands.
  subscriber.on('-node', (_node: Redis, subscriberName?: string) => {
    if (subscriberName !== undefined) noteLoss();
  });
  return {
    publishing: 'SPUBLISH',
    publish: (channel, message) => commands.spublish(channel, message),
    async subscribe(channels) {
      // One command can name channels of one slot only; these go out together.
      await Promise.all(channels.map(subscribe));
    },
    async unsubscribe(channels) {
      for (const channel of channels) noted.delete(channel);
      await Promise.all(channels.map((channel) => subscriber.sunsubscribe(channel)));
    },
    onMessage: (listener) => subscriber.on('smessage', listener),
    onBack(listener) {
      // Said after each change of who serves which slots, and after a lost connection to one node.
      subscriber.on('subscribersReady', () => {
        isDeaf = false;
        listener();
      });
      subscriber.on('ready', listener);
    },
    isListening: () => subscriber.status === 'ready' && !isDeaf,
  };
}
