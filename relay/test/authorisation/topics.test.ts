import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { topics } from '../../contract/index.ts';
import { createClients, granted, puback } from '../mqtt/mqttClient.ts';
import { messagePayload, typingPayload } from '../mqtt/rawClient.ts';
import { Tab } from '../presence/tab.ts';
import { allowed } from './rows.ts';
import {
  type Actor,
  actors,
  createWorld,
  directId,
  epochOf,
  freshGroup,
  isLiving,
  type Living,
  type World,
} from './world.ts';

let world: World;
const clients = createClients();
beforeAll(async () => {
  world = await createWorld();
});
afterEach(() => clients.endAll());
afterAll(() => world.relay.close());

type TopicName = keyof typeof topics;
type Outcomes = Readonly<Record<Actor, string>>;

/** A caller that proves nothing doesn't get as far as a topic. */
const connected = (outcomes: Readonly<Record<Living, string>>): Outcomes => ({
  anonymous: 'no connection',
  revoked: 'no connection',
  deleted: 'no connection',
  suspended: 'no connection',
  ...outcomes,
});
const nobody = (outcome: string) => connected(denied(outcome));

interface TopicRow {
  /** The creator's topic of that name. */
  readonly topic: (world: World) => Promise<string> | string;
  readonly payload: (world: World, from: Living, topic: string) => Promise<string> | string;
  readonly subscribe: Outcomes;
  readonly publish: Outcomes;
}

const time = '2026-03-01T12:00:00.000Z';
/** A direct message to whoever is named, in the present epoch of the creator's conversation. */
async function message(inWorld: World, from: Living, to: { id: string }): Promise<string> {
  return messagePayload(inWorld[from], to, { epoch: await epochOf(inWorld.creator, directId(inWorld)) });
}

const table: Readonly<Record<TopicName, TopicRow>> = {
  userMessages: {
    topic: ({ creator }) => topics.userMessages(creator.id),
    payload: (inWorld, from) => message(inWorld, from, inWorld.creator),
    subscribe: connected({ ...denied('refused'), creator: 'granted' }),
    // The creator's goes to the conversation of the own devices, which has not been started.
    publish: connected({ ...denied('not-a-contact'), contact: 'ok', creator: 'not-found', blocked: 'ok' }),
  },
  userStatus: {
    topic: ({ creator }) => topics.userStatus(creator.id),
    payload: ({ creator }) => JSON.stringify({ userId: creator.id, online: true }),
    subscribe: connected({ ...denied('refused'), contact: 'granted', blocked: 'granted' }),
    publish: nobody('forbidden'),
  },
  groupMessages: {
    topic: async (inWorld) => topics.groupMessages(await freshGroup(inWorld)),
    payload: (inWorld, from, topic) =>
      JSON.stringify({
        type: 'group_message',
        messageId: randomUUID(),
        senderId: inWorld[from].id,
        groupId: topic.split('/')[1],
        epoch: 1,
        content: 'AAEC',
        timestamp: time,
      }),
    subscribe: connected({ ...denied('refused'), member: 'granted', creator: 'granted', blocked: 'granted' }),
    publish: connected({ ...denied('not-found'), member: 'ok', creator: 'ok', blocked: 'ok' }),
  },
  userTyping: {
    topic: ({ creator }) => topics.userTyping(creator.id),
    payload: () => typingPayload(),
    subscribe: connected({ ...denied('refused'), creator: 'granted' }),
    publish: connected({ ...denied('not-a-contact'), contact: 'ok', creator: 'not-found', blocked: 'ok' }),
  },
  groupTyping: {
    topic: async (inWorld) => topics.groupTyping(await freshGroup(inWorld)),
    payload: () => typingPayload(),
    subscribe: nobody('refused'),
    publish: connected({ ...denied('not-found'), member: 'ok', creator: 'ok', blocked: 'ok' }),
  },
  ping: {
    topic: () => topics.ping,
    payload: (inWorld, from) => JSON.stringify({ type: 'ping', userId: inWorld[from].id, timestamp: time }),
    subscribe: nobody('refused'),
    publish: nobody('ok'),
  },
};

function denied(outcome: string): Record<Living, string> {
  return {
    stranger: outcome,
    contact: outcome,
    member: outcome,
    creator: outcome,
    removed: outcome,
    blocked: outcome,
  };
}

/** @returns null if the gateway refuses the connection */
async function connect(actor: Actor) {
  const token = world.tokens[actor] ?? '';
  const answer = await clients.connack(world.relay.mqttUrl, { token });
  const isRefused = answer.cmd === 'connack' && answer.reasonCode === 0x87;
  return isRefused ? null : clients.connect(world.relay.mqttUrl, { token });
}

const names = Object.keys(table) as TopicName[];

it('the table has a row for every topic of the contract', () => {
  expect(names.toSorted()).toEqual(Object.keys(topics).toSorted());
});

describe.each(names)('the topic %s', (name) => {
  const row = table[name];

  it('is granted to the subscribers of its row and refused to the others', async () => {
    const topic = await row.topic(world);
    const outcomes: Partial<Record<Actor, string>> = {};
    for (const actor of actors) {
      const client = await connect(actor);
      if (client === null) outcomes[actor] = 'no connection';
      else {
        const [answer] = (await granted(client, topic)) as number[];
        outcomes[actor] =
          answer === 0 || answer === 1 ? 'granted' : answer === 0x87 ? 'refused' : String(answer);
      }
    }
    expect(outcomes).toEqual(row.subscribe);
  });

  it('takes messages of the publishers of its row and refuses the others', async () => {
    const topic = await row.topic(world);
    const outcomes: Partial<Record<Actor, string>> = {};
    for (const actor of actors) {
      const client = await connect(actor);
      if (client === null || !isLiving(actor)) outcomes[actor] = 'no connection';
      else {
        const answer: { reasonCode: number; code?: string } = await puback(
          client,
          topic,
          await row.payload(world, actor, topic),
        );
        outcomes[actor] = answer.reasonCode === 0 ? 'ok' : (answer.code ?? 'no code');
      }
    }
    expect(outcomes).toEqual(row.publish);
  });
});

describe('a name that is not of a topic', () => {
  it.each([
    'user',
    'user/x/messages',
    'group/x/messages',
    '$SYS/broker/clients',
    'user/0f8fad5b-d9cb-469f-a165-70867728950e/devices',
  ])('is refused to everybody: %s', async (topic) => {
    const client = await connect('creator');
    if (client === null) throw new Error('no connection');
    expect(await granted(client, topic)).toEqual([0x87]);
    expect(await puback(client, topic, '{}')).toMatchObject({ reasonCode: 0x87, code: 'forbidden' });
  });

  it.each(['user/+/messages', 'user/#', '#', 'group/+/messages', '$share/x/user/+/messages'])(
    'is refused to everybody as a wildcard: %s',
    async (filter) => {
      const client = await connect('creator');
      if (client === null) throw new Error('no connection');
      const [answer] = (await granted(client, filter)) as number[];
      expect([0x9e, 0xa2]).toContain(answer);
    },
  );
});

describe('the presence socket', () => {
  it('admits whoever has a session and nobody else', async () => {
    const outcomes: Partial<Record<Actor, string>> = {};
    for (const actor of actors) {
      const tab = await Tab.open(world.relay);
      const userId = isLiving(actor) ? world[actor].id : world.creator.id;
      tab.send({ userId, online: true, token: world.tokens[actor] ?? '' });
      const answered = tab.next().then((answer) => JSON.stringify(answer).includes('online_users'));
      const closed = tab.closed.then((code) => `closed with ${code}`);
      const first = await Promise.race([answered, closed]);
      outcomes[actor] = first === true ? 'ok' : String(first);
      if (tab.socket.readyState === WebSocket.OPEN) await tab.leave();
    }
    expect(outcomes).toEqual({
      ...allowed,
      anonymous: 'closed with 4401',
      revoked: 'closed with 4401',
      deleted: 'closed with 4401',
      suspended: 'closed with 4401',
    });
  });

  it('speaks for nobody else', async () => {
    const tab = await Tab.open(world.relay);
    tab.send({ userId: world.creator.id, online: true, token: world.contact.token });
    expect(await tab.closed).toBe(4401);
  });
});
