import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { EntityTags, leastSpacing } from '../../src/http/entityTags.ts';
import type { Hub } from '../../src/realtime/hub.ts';
import { eventually } from '../eventually.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { createRelays, serverAt } from './relays.ts';

let server: RedisServer;
const relays = createRelays(() => serverAt(server.url));
beforeAll(async () => {
  server = await startRedis();
});
afterEach(() => relays.closeAll());
afterAll(() => server.remove());

const etag = '"pMR9mEN9LEZrAcECwVPRRA"';
const aYear = 365 * 24 * 60 * 60 * 1000;

/** A person's session at one relay, which has just read their contacts; and another relay. */
async function openPoller() {
  const [here, there] = [(await relays.open()).hub, (await relays.open()).hub];
  let now = Date.now();
  const entityTags = new EntityTags({ hub: here, clock: () => now });
  const [id, userId, token] = [randomUUID(), randomUUID(), 'token'];
  const session = { id, userId, deviceId: null, createdAt: now, expiresAt: now + aYear };
  const read = async () => (await entityTags.read(token, session, 'listContacts')).done(etag);
  await read();
  const match = () => {
    now += leastSpacing;
    return entityTags.match(token, 'listContacts', etag);
  };
  return { there, session, read, match };
}

type Told = (there: Hub, session: { readonly id: string; readonly userId: string }) => void;
const changes: readonly [string, Told][] = [
  ['an event', (there, { userId }) => there.publishToUsers([userId], { type: 'groups' })],
  ['a signal', (there, { userId }) => there.signal({ type: 'notifications-changed', userIds: [userId] })],
  [
    'the end',
    (there, { id: sessionId }) => there.signal({ type: 'session-ended', sessionId, code: 'session-expired' }),
  ],
];

it.each(changes)(
  'an answer is not known from memory once another relay tells %s of it',
  async (_what, tell) => {
    const { match, session, there } = await openPoller();
    expect(match()).toBe(etag);
    tell(there, session);
    await eventually(() => expect(match()).toBeNull());
  },
);

it('no answer is known from memory while Redis is away, and afterwards until it was read anew', async () => {
  const { match, read } = await openPoller();
  expect(match()).toBe(etag);
  await server.crash();
  await eventually(() => expect(match()).toBeNull());
  await server.start();
  await eventually(async () => {
    expect(match()).toBeNull();
    await read();
    expect(match()).toBe(etag);
  });
});
