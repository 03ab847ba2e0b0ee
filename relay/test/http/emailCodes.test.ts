import { describe, expect, it } from 'vitest';
import { emailCodeLifetime } from '../../src/accounts/emails.ts';
import { codeMailedTo } from '../emailCodes.ts';
import { signUp, signUpOnDevice } from '../helpers.ts';
import {
  advance,
  aino,
  allMailed,
  change,
  confirm,
  eero,
  newEmail,
  refused,
  relay,
  server,
  stateOf,
  withEmails,
  wrong,
} from './emailWorld.ts';

withEmails();

describe('a code', () => {
  it('is good for the account and the address that it was mailed for, and for no other', async () => {
    const code = await codeMailedTo(server, aino.email);
    expect(await confirm(eero, code)).toMatchObject(refused('wrong-code'));
    await change(aino, newEmail());
    expect(await confirm(aino, code)).toMatchObject(refused('wrong-code'));
  });

  it('is good for an hour', async () => {
    const code = await codeMailedTo(server, aino.email);
    advance(emailCodeLifetime);
    expect(await confirm(aino, code)).toMatchObject(refused('code-expired'));
    advance(-1);
    expect((await confirm(aino, code)).status).toBe(200);
  });

  it('ends with the fifth wrong one, until another is asked for', async () => {
    const code = await codeMailedTo(server, aino.email);
    for (let tries = 1; tries < 5; tries += 1)
      expect(await confirm(aino, wrong(code))).toMatchObject(refused('wrong-code'));
    expect(await confirm(aino, wrong(code))).toMatchObject(refused('too-many-tries'));
    expect(await confirm(aino, code)).toMatchObject(refused('too-many-tries'));
    expect((await aino.call('POST', '/users/me/email/code')).status).toBe(204);
    const next = await codeMailedTo(server, aino.email, code);
    expect((await confirm(aino, next)).status).toBe(200);
  });

  it('is tried no more than five times at once', async () => {
    const code = await codeMailedTo(server, aino.email);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_none, index) => confirm(aino, wrong(String(Number(code) + index)))),
    );
    const codes = answers.map(({ body }) => body.code);
    expect(codes.filter((one) => one === 'wrong-code')).toHaveLength(4);
    expect(codes.filter((one) => one === 'too-many-tries')).toHaveLength(16);
  });

  it('takes the place of the former one', async () => {
    const code = await codeMailedTo(server, aino.email);
    await aino.call('POST', '/users/me/email/code');
    const next = await codeMailedTo(server, aino.email, code);
    expect(await confirm(aino, code)).toMatchObject(refused('wrong-code'));
    expect((await confirm(aino, next)).status).toBe(200);
    expect(await aino.call('POST', '/users/me/email/code')).toMatchObject(refused('not-found', 404));
  });

  it('is in no row of the database, and in no line of the log', async () => {
    const code = await codeMailedTo(server, aino.email);
    const rows = await relay.relay.database.db.selectFrom('email_codes').selectAll().execute();
    expect(rows.map(({ user_id }) => user_id)).toContain(aino.id);
    expect(rows.map(({ code_hash }) => code_hash.length)).toEqual(rows.map(() => 32));
    expect(`${JSON.stringify(rows)}${relay.logLines.join('')}`).not.toContain(code);
  });

  it.each(['1234567', '123456789', '1234 5678', '１２３４５６７８', ''])(
    'is eight digits: %j is none',
    async (code) => {
      expect(await confirm(aino, code)).toMatchObject(refused('invalid-request', 422));
    },
  );

  it('is mailed ten times a day at most', async () => {
    for (let sent = 1; sent < 10; sent += 1)
      expect((await aino.call('POST', '/users/me/email/code')).status).toBe(204);
    const refusal = await aino.call('POST', '/users/me/email/code');
    expect(refusal).toMatchObject(refused('rate-limited', 429));
    expect(await change(aino, newEmail())).toMatchObject(refused('rate-limited', 429));
    expect(await stateOf(aino)).toMatchObject({ email: aino.email });
    // Another name is no matter of mails.
    const username = `uusi${aino.username}`;
    expect((await aino.call('PUT', '/users/me', { username, email: aino.email })).status).toBe(200);
  });

  it('is mailed to one address ten times a day at most, whoever asks', async () => {
    const email = newEmail();
    const people = [];
    for (let count = 0; count < 11; count += 1) people.push(await signUpOnDevice(relay));
    const last = people.pop();
    for (const person of people) expect((await change(person, email)).status).toBe(200);
    expect(await change(last ?? aino, email.toUpperCase())).toMatchObject(refused('rate-limited', 429));
    const owner = await signUp(relay, { email });
    await allMailed();
    expect(server.received.filter(({ to }) => to[0] === email)).toHaveLength(10);
    // The account is there, and asks again another day.
    expect(await stateOf(owner)).toEqual({ email, email_verified: false });
  });

  it('is tried thirty times an hour at most', async () => {
    for (let tries = 0; tries < 30; tries += 1) await confirm(aino, '00000000');
    expect(await confirm(aino, '00000000')).toMatchObject(refused('rate-limited', 429));
  });
});
