import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from '../helpers.ts';
import { created, look, patch, read, refusalOf, remove, uploaded } from '../http/uploads.ts';
import { allowed } from './rows.ts';
import { type Actor, actors, createWorld, must, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.relay.close());

const out = {
  anonymous: 'unauthenticated',
  revoked: 'device-revoked',
  deleted: 'session-expired',
  suspended: 'account-suspended',
};
const everyone = { ...out, ...allowed };
const ownerAlone = {
  ...out,
  stranger: 'not-found',
  contact: 'not-found',
  member: 'not-found',
  creator: 'ok',
  removed: 'not-found',
  blocked: 'not-found',
};

/** Has every actor do something with what the creator has uploaded. */
async function outcomes(
  make: () => Promise<string>,
  doWith: (caller: { token: string }, id: string) => Promise<Response>,
): Promise<Partial<Record<Actor, string>>> {
  const found: Partial<Record<Actor, string>> = {};
  for (const actor of actors) {
    const id = await make();
    const response = await doWith({ token: world.tokens[actor] ?? '' }, id);
    found[actor] = response.ok ? 'ok' : (await refusalOf(response))[1];
    await remove(world.relay, world.creator, id);
  }
  return found;
}

const file = () => uploaded(world.relay, world.creator, 100);
const unfinished = async () => {
  const id = await created(world.relay, world.creator, 100);
  await patch(world.relay, world.creator, id, 0, randomBytes(40));
  return id;
};

it('a file is read by everybody who is signed in and knows its id', async () => {
  expect(await outcomes(file, (caller, id) => read(world.relay, caller, id))).toEqual(everyone);
});

it('a file is read by somebody whom its person has blocked: who named it to them is not the relay’s to know', async () => {
  const { creator, contact, relay } = world;
  const id = await file();
  await must(creator.call('PUT', `/blocks/${contact.id}`));
  expect((await read(relay, contact, id)).status).toBe(200);
  await must(creator.call('DELETE', `/blocks/${contact.id}`));
});

it('an upload is written, looked at and ended by its person alone, and read by nobody', async () => {
  const { relay } = world;
  const append = (caller: { token: string }, id: string) => patch(relay, caller, id, 40, randomBytes(10));
  expect(await outcomes(unfinished, append)).toEqual(ownerAlone);
  expect(await outcomes(unfinished, (caller, id) => remove(relay, caller, id))).toEqual(ownerAlone);
  expect(await outcomes(unfinished, (caller, id) => read(relay, caller, id))).toEqual({
    ...ownerAlone,
    creator: 'not-found',
  });
  const id = await unfinished();
  const statuses: Partial<Record<Actor, number>> = {};
  for (const actor of actors) {
    statuses[actor] = (await look(relay, { token: world.tokens[actor] ?? '' }, id)).status;
  }
  const others = { stranger: 404, contact: 404, member: 404, removed: 404, blocked: 404, creator: 200 };
  expect(statuses).toEqual({ ...others, anonymous: 401, revoked: 401, deleted: 401, suspended: 401 });
});

it('a file is deleted by its person alone', async () => {
  expect(await outcomes(file, (caller, id) => remove(world.relay, caller, id))).toEqual(ownerAlone);
});

it('a session that has proven only the recovery key reaches none', async () => {
  const { contact, recoveryAuthKey, relay } = world;
  const body = { email: contact.email, recoveryAuthKey };
  const token = (await must(call<{ access_token: string }>(relay, 'POST', '/recovery', { body })))
    .access_token;
  expect(await refusalOf(await read(relay, { token }, await file()))).toEqual([403, 'forbidden']);
});
