import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ErrorBody, errorStatus, type Route } from '../../contract/index.ts';
import { servedRoutes as routes } from '../../contract/served.ts';
import { withSignature } from '../devices.ts';
import { call, logIn, type Person, signUp } from '../helpers.ts';
import { proofHeaders } from '../proofs.ts';
import type { Request, Row } from './rows.ts';
import { table } from './table.ts';
import { type Actor, actors, createWorld, isLiving, must, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.relay.close());

const named = Object.entries(routes).map(([name, route]): [string, Route] => [name, route]);
const rows = Object.entries(table).flatMap(([name, variants]) =>
  variants.map((row): [string, Row, Route] => [
    row.about === undefined ? name : `${name} (${row.about})`,
    row,
    routes[name as keyof typeof routes],
  ]),
);

/** Somebody who calls: with a password, too, where the call takes a proof, and on a device, which signs what it has to. */
interface Caller {
  readonly token: string | null;
  readonly password?: string;
  readonly deviceId?: string;
}

async function send(
  route: Route,
  request: Request,
  { deviceId, token, password }: Caller,
  path = route.paths[0],
) {
  const address = path.replace(/\{\w+\}/, request.id ?? '').replace('{treeHash}', request.treeHash ?? '');
  const query = request.query === undefined ? '' : `?${request.query}`;
  const signing = { deviceId: deviceId ?? null, token: token ?? '' };
  const body =
    token?.split('.').length === 3 && token.length > 10
      ? await withSignature(world.relay, signing, route.method, address, request.body)
      : request.body;
  const sent = { method: route.method, path: `${address}${query}`, body };
  return call(world.relay, route.method, sent.path, {
    ...(token === null ? {} : { token }),
    ...(token === null || password === undefined
      ? {}
      : { headers: await proofHeaders(world.relay, { token, authKey: password }, sent) }),
    ...(body === undefined ? {} : { body }),
  });
}

function outcomeOf({ status, body }: { status: number; body: ErrorBody | undefined }): string {
  if (status < 300) return 'ok';
  if (body === undefined || errorStatus[body.code] !== status) return `${status}`;
  return body.code;
}

/** Takes another session or account for the calls that end one, because the other rows need the actors. */
async function callerFor(route: Route, actor: Actor): Promise<Caller> {
  if (route === routes.logout && isLiving(actor)) return logIn(world.relay, world[actor]);
  if (route === routes.deleteAccount && isLiving(actor)) return signUp(world.relay);
  return isLiving(actor) ? world[actor] : { token: world.tokens[actor] };
}

it('the table has a row for every call of the contract', () => {
  expect(Object.keys(table).toSorted()).toEqual(Object.keys(routes).toSorted());
  expect(Object.values(table).every((variants) => variants.length > 0)).toBe(true);
});

describe('who may do what', () => {
  it.each(rows)('%s admits the callers of its row and refuses the others', async (_name, row, route) => {
    const outcomes: Partial<Record<Actor, string>> = {};
    for (const actor of actors) {
      const request = await row.request(world, actor);
      const answer = await send(route, request, await callerFor(route, actor));
      outcomes[actor] = outcomeOf(answer);
      if (outcomes[actor] === 'ok') await row.undo?.(world, actor);
    }
    expect(outcomes).toEqual(row.expected);
  });
});

describe('what one may not see', () => {
  const hiding = rows.filter(([, { expected }]) => expected.stranger === 'not-found');

  it.each(hiding)('%s answers as if it did not exist', async (_name, row, route) => {
    const request = await row.request(world, 'stranger');
    const id = (request.id ?? '').replace(/[0-9a-f-]{36}$/, randomUUID());
    const ofSomebody = await send(route, request, world.stranger);
    const ofNobody = await send(route, { ...request, id }, world.stranger);
    expect(ofNobody.status).toBe(ofSomebody.status);
    expect(ofNobody.body).toEqual(ofSomebody.body);
  });
});

describe('a caller who', () => {
  const guarded = named.filter(([, { access }]) => access !== 'public');
  const aliased = guarded.flatMap(([, route]) =>
    route.paths.map((path): [string, string, Route] => [route.method, path, route]),
  );

  it.each(aliased)('has no token gets nothing from %s %s', async (_method, path, route) => {
    const request = { id: randomUUID() };
    expect(outcomeOf(await send(route, request, { token: null }, path))).toBe('unauthenticated');
    expect(outcomeOf(await send(route, request, { token: 'x.y.z' }, path))).toBe('unauthenticated');
  });

  it('has registered no device gets what takes one from no call', async () => {
    const person: Person = await logIn(world.relay, world.contact);
    const outcomes = await Promise.all(
      guarded
        .filter(([, { access }]) => access === 'device')
        .map(async ([name, route]) => [name, outcomeOf(await send(route, { id: randomUUID() }, person))]),
    );
    expect(outcomes.length).toBeGreaterThan(10);
    expect(outcomes.filter(([, outcome]) => outcome !== 'device-required')).toEqual([]);
  });

  it('has proven the recovery key alone gets what setting a new password takes, and nothing else', async () => {
    const { recoveryAuthKey, contact } = world;
    const body = { email: contact.email, recoveryAuthKey };
    const answer = call<{ access_token: string }>(world.relay, 'POST', '/recovery', { body });
    const token = (await must(answer)).access_token;
    const allowed: string[] = [];
    // Logging out comes last: it is allowed, and ends this session.
    const others = guarded.filter(([, route]) => route !== routes.logout);
    for (const [name, route] of [...others, ['logout', routes.logout] as const]) {
      const outcome = outcomeOf(await send(route, { id: randomUUID() }, { token }));
      if (outcome !== 'forbidden') allowed.push(name);
    }
    expect(allowed.toSorted()).toEqual([
      'changePassword',
      'createProofNonce',
      'getVault',
      'getVaultWraps',
      'logout',
      'profile',
    ]);
  });
});
