import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOfOneScript, skeletonOf } from '../../src/accounts/names.ts';
import { createNameJob } from '../../src/jobs/names.ts';
import { setSkeletons } from '../../src/repositories/skeletons.ts';
import { eventually } from '../eventually.ts';
import { call, signUp, signUpBody, startTestRelay, type TestRelay } from '../helpers.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());

const register = (username: string) => call(relay, 'POST', '/register', { body: signUpBody({ username }) });
const isTaken = { status: 409, body: { code: 'username-taken' } };

describe('a username that looks like another', () => {
  it.each([
    ['Cyrillic letters', 'оса', 'oca'],
    ['a one for an l', 'paul.k', 'pau1.k'],
    ['an upper-case i for an l', 'malla', 'maIla'],
    ['a zero for an o', 'otso', '0tso'],
    ['r and n for an m', 'emma.m', 'ernma.m'],
    ['the same in another case', 'otso.2', 'OTS0.2'],
  ])('is refused for a new account: %s', async (_what, first, second) => {
    expect(skeletonOf(first)).toBe(skeletonOf(second));
    expect((await register(first)).status).toBe(201);
    expect(await register(second)).toMatchObject(isTaken);
  });

  it('is refused for a change of the name, and frees the former look', async () => {
    const [one, other] = [await signUp(relay, { username: 'kalle.x' }), await signUp(relay)];
    const rename = (username: string) => other.call('PUT', '/users/me', { username, email: other.email });
    expect(await rename('ka1le.x')).toMatchObject(isTaken);
    await one.call('PUT', '/users/me', { username: `k${randomUUID().slice(0, 8)}`, email: one.email });
    expect((await rename('ka1le.x')).status).toBe(200);
    expect(await register('kalle.x')).toMatchObject(isTaken);
  });

  it.each([
    ['an upper-case i for an l', 'lumo.i', 'iumo.i', 'Iumo.i'],
    ['upper-case Greek letters', 'NANA', 'νανα', 'ΝΑΝΑ'],
  ])('is refused for another case of the same name: %s', async (_what, first, own, changed) => {
    const [one, other] = [await signUp(relay, { username: first }), await signUp(relay, { username: own })];
    const rename = (username: string) => other.call('PUT', '/users/me', { username, email: other.email });
    expect(await rename(changed)).toMatchObject(isTaken);
    await one.call('PUT', '/users/me', { username: `k${randomUUID().slice(0, 8)}`, email: one.email });
    expect((await rename(changed)).status).toBe(200);
    expect(await register(first)).toMatchObject(isTaken);
  });

  it.each([
    ['an accent more', 'liisa.q', 'ḷiisa.q'],
    ['two letters for one', 'owla', 'ovvla'],
  ])('is let through where the table does not know it: %s', async (_what, first, second) => {
    expect((await register(first)).status).toBe(201);
    expect((await register(second)).status).toBe(201);
  });

  it('is given to exactly one of several who ask at once', async () => {
    const names = ['limo', '1imo', 'Iimo', 'lim0', '1im0'];
    const answers = await Promise.all(names.map((name) => register(name)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409]);
  });

  it('of before stays with whoever has it, who can change the email, and the case where the look stays', async () => {
    const people = [await signUp(relay, { username: 'veli.w' }), await signUp(relay)];
    const { db } = relay.relay.database;
    await db.updateTable('users').set({ username_skeleton: null }).where('username', '=', 'veli.w').execute();
    await db
      .updateTable('users')
      .set({ username: 've1i.w', username_key: 've1i.w', username_skeleton: null })
      .where('id', '=', people[1]?.id ?? '')
      .execute();
    const job = createNameJob({
      ...relay.relay,
      db,
      names: relay.relay.database.names,
      log: relay.relay.app.log,
    });
    job.start();
    await eventually(async () => {
      const left = await db.selectFrom('users').select('id').where('username_skeleton', 'is', null).execute();
      expect(left).toEqual([]);
    });
    await job.close();
    expect(await register('veIi.w')).toMatchObject(isTaken);
    for (const [index, username] of ['Veli.W', 'Ve1i.W'].entries()) {
      const email = `${randomUUID()}@example.org`;
      const answer = await people[index]?.call('PUT', '/users/me', { username, email });
      expect(answer).toMatchObject({ status: 200, body: { username, email } });
    }
  });

  it('of before is not taken for a name that has been changed meanwhile, or compared already', async () => {
    const person = await signUp(relay, { username: 'niilo.n' });
    const { db } = relay.relay.database;
    const find = () => db.selectFrom('users').select('username_skeleton').where('id', '=', person.id);
    const before = await find().executeTakeFirst();
    await setSkeletons(db, [{ id: person.id, username: 'niilo.n', skeleton: 'another' }]);
    expect(await find().executeTakeFirst()).toEqual(before);
    await db.updateTable('users').set({ username_skeleton: null }).where('id', '=', person.id).execute();
    await setSkeletons(db, [{ id: person.id, username: 'former', skeleton: 'former' }]);
    expect(await find().executeTakeFirst()).toEqual({ username_skeleton: null });
  });
});

describe('the letters of a username', () => {
  it.each([
    'anna',
    'Zoë-1',
    'анна',
    'Ἄννα',
    'さくら花カ',
    '김민수a',
    '李a',
    'नमस्ते',
    'ⴰⴽⴰⵍ',
    'ᏣᎳᎩ',
    '0123',
    'ａｎｎａ',
  ])('are of one writing: %s', (name) => {
    expect(isOfOneScript(name)).toBe(true);
  });

  it.each(['аnna', 'annα', 'анnа', '김さ', 'ᏣLa', 'αβв'])(
    'of several scripts are refused for a new account and a change: %s',
    async (username) => {
      const refused = { status: 422, body: { code: 'invalid-username' } };
      expect(await register(username)).toMatchObject(refused);
      const person = await signUp(relay);
      expect(await person.call('PUT', '/users/me', { username, email: person.email })).toMatchObject(refused);
    },
  );

  it('of a name of before stay, whatever else its owner changes', async () => {
    const person = await signUp(relay);
    const username = 'аnna.mixed';
    await relay.relay.database.db
      .updateTable('users')
      .set({ username, username_key: username, username_skeleton: skeletonOf(username) })
      .where('id', '=', person.id)
      .execute();
    const email = `${randomUUID()}@example.org`;
    const names = { username: 'аnna.MIXED', email };
    expect(await person.call('PUT', '/users/me', names)).toMatchObject({ status: 200, body: names });
  });
});
