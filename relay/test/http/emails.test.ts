import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { AccountData, ContactRequest, UserSummary } from '../../contract/index.ts';
import { emailCodeLifetime, pendingEmailLifetime } from '../../src/accounts/emails.ts';
import type { Session } from '../../src/auth/session.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import { codeTextsOf, takenTexts } from '../../src/mail/texts.ts';
import { codeMailedTo } from '../emailCodes.ts';
import { eventually } from '../eventually.ts';
import {
  befriend,
  call,
  onAnotherDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  temporaryFolder,
} from '../helpers.ts';
import {
  advance,
  aino,
  allMailed,
  change,
  confirm,
  eero,
  foundBy,
  newEmail,
  now,
  refused,
  relay,
  server,
  smtp,
  stateOf,
  verify,
  withEmails,
  wrong,
} from './emailWorld.ts';

withEmails();

describe('an email of a new account', () => {
  it('gets a code at once, which verifies it', async () => {
    const code = await codeMailedTo(server, aino.email);
    const mail = server.received.find(({ to }) => to[0] === aino.email);
    expect(mail?.text).toContain('Subject: Your code / Koodisi');
    expect(mail?.text).toContain(`${aino.username} is to have this email address. The code is ${code}.`);
    expect(mail?.text).toContain(`Koodi on ${code}.`);
    expect(mail?.text).not.toContain('://');
    expect(await stateOf(aino)).toEqual({ email: aino.email, email_verified: false });
    expect(await confirm(aino, code)).toMatchObject({ status: 200, body: { email: aino.email } });
    expect(await stateOf(aino)).toEqual({ email: aino.email, email_verified: true });
    expect(await confirm(aino, code)).toMatchObject(refused('not-found', 404));
    // Nothing has changed of which its owner would have to be warned.
    expect((await aino.call('GET', '/account-changes')).body).toEqual([]);
  });

  it('finds its owner, and is shown to others, only once it is verified', async () => {
    await aino.call('PUT', '/users/me/discoverability', { found_by: 'both', shows_email: true });
    await befriend(aino, eero);
    const third = await signUp(relay);
    await aino.call('POST', `/contacts/request/${third.id}`);
    const seen = async () => {
      const requests = (await third.call<ContactRequest[]>('GET', '/contacts/requests')).body;
      return [
        (await foundBy(aino.email)).map(({ email }) => email),
        (await foundBy(aino.username)).map(({ email }) => email),
        (await eero.call<UserSummary[]>('GET', '/contacts')).body.map(({ email }) => email),
        requests.map(({ from_user }) => from_user.email),
      ];
    };
    expect(await seen()).toEqual([[], [''], [''], ['']]);
    await verify(aino);
    const { email } = aino;
    expect(await seen()).toEqual([[email], [email], [email], [email]]);
    const requests = (await third.call<ContactRequest[]>('GET', '/contacts/requests')).body;
    expect((await third.call('POST', `/contacts/accept/${requests[0]?.id}`)).body).toMatchObject({
      contact: { email },
    });
  });

  it('is not in the answer to who accepts its owner as a contact', async () => {
    await aino.call('POST', `/contacts/request/${eero.id}`);
    const requests = (await eero.call<ContactRequest[]>('GET', '/contacts/requests')).body;
    expect((await eero.call('POST', `/contacts/accept/${requests[0]?.id}`)).body).toEqual({
      contact: { id: aino.id, username: aino.username, email: '' },
    });
  });

  it('logs its owner in, and gets the warnings, before it is verified', async () => {
    const { email, password } = aino;
    expect((await call(relay, 'POST', '/login', { body: { email, password } })).status).toBe(200);
    await onAnotherDevice(relay, aino);
    await eventually(() => expect(server.received.at(-1)).toMatchObject({ to: [email] }));
    await eventually(() => expect(server.received.at(-1)?.text).toContain('A new browser was signed in'));
  });

  it('keeps nobody from signing up where the mail server is silent', async () => {
    server.isSilent = true;
    const person = await signUp(relay);
    expect(await stateOf(person)).toMatchObject({ email_verified: false });
  });
});

describe('a change of email', () => {
  it('waits for the code, and replaces the email then', async () => {
    await verify(aino);
    const email = newEmail();
    expect(await change(aino, email)).toMatchObject({ status: 200, body: { email: aino.email } });
    expect(await stateOf(aino)).toEqual({ email: aino.email, email_verified: true, pending_email: email });
    expect(await foundBy(email)).toEqual([]);
    expect(await foundBy(aino.email)).toMatchObject([{ email: aino.email }]);
    const { password } = aino;
    expect((await call(relay, 'POST', '/login', { body: { email, password } })).status).toBe(401);
    expect((await aino.call('GET', '/account-changes')).body).toEqual([]);

    expect(await confirm(aino, await codeMailedTo(server, email))).toMatchObject({ body: { email } });
    expect(await stateOf(aino)).toEqual({ email, email_verified: true });
    expect(await foundBy(email)).toMatchObject([{ email }]);
    expect(await foundBy(aino.email)).toEqual([]);
    expect((await call(relay, 'POST', '/login', { body: { email, password } })).status).toBe(200);
    expect((await aino.call('GET', '/account-changes')).body).toMatchObject([{ kind: 'email' }]);
    await eventually(() =>
      expect(server.received.at(-1)).toMatchObject({
        to: [aino.email],
        text: expect.stringContaining('The email address of your account was changed'),
      }),
    );
  });

  it('takes the proof that it took before, and the code takes none', async () => {
    const body = { username: aino.username, email: newEmail() };
    const { token } = aino;
    const answer = await call(relay, 'PUT', '/users/me', { token, body });
    expect(answer).toMatchObject(refused('proof-required'));
    expect((await change(aino, body.email)).status).toBe(200);
    const code = await codeMailedTo(server, body.email);
    const confirmed = await call(relay, 'POST', '/users/me/email/confirm', { token, body: { code } });
    expect(confirmed).toMatchObject({ status: 200, body: { email: body.email } });
  });

  it('lets the username change at once', async () => {
    const [username, email] = [`uusi${aino.username}`, newEmail()];
    const answer = await aino.call('PUT', '/users/me', { username, email });
    expect(answer).toMatchObject({ status: 200, body: { username, email: aino.email } });
    expect((await aino.call('GET', '/account-changes')).body).toMatchObject([{ kind: 'username' }]);
    // A change of the name leaves the address that waits.
    await aino.call('PUT', '/users/me', { username: aino.username, email: aino.email });
    expect(await stateOf(aino)).toMatchObject({ pending_email: email });
  });

  it('can be cancelled, after which its code is good for nothing', async () => {
    const email = newEmail();
    await change(aino, email);
    const code = await codeMailedTo(server, email);
    expect((await aino.call('DELETE', '/users/me/email/pending')).status).toBe(204);
    expect(await stateOf(aino)).toEqual({ email: aino.email, email_verified: false });
    expect(await confirm(aino, code)).toMatchObject(refused('not-found', 404));
    expect(await aino.call('DELETE', '/users/me/email/pending')).toMatchObject(refused('not-found', 404));
    // The first address can still be verified.
    expect((await aino.call('POST', '/users/me/email/code')).status).toBe(204);
    const former = server.codeFor(aino.email) ?? '';
    await eventually(() => expect(server.received.filter(({ to }) => to[0] === aino.email)).toHaveLength(2));
    expect(await confirm(aino, await codeMailedTo(server, aino.email, former))).toMatchObject({
      body: { email: aino.email },
    });
  });

  it('in case alone is none that waits, and stays verified', async () => {
    await verify(aino);
    const email = aino.email.toUpperCase();
    expect(await change(aino, email)).toMatchObject({ body: { email } });
    expect(await stateOf(aino)).toEqual({ email, email_verified: true });
  });

  it('waits for a week, and is forgotten then', async () => {
    await change(aino, newEmail());
    const purge = createPurgeJob({ db: relay.relay.database.db, clock: () => now, log: relay.relay.app.log });
    advance(emailCodeLifetime + pendingEmailLifetime - 1);
    await purge.run();
    const data = () =>
      relay.relay.database.db.selectFrom('email_codes').selectAll().where('user_id', '=', aino.id).execute();
    expect(await data()).toHaveLength(1);
    advance(1);
    await purge.run();
    expect(await data()).toEqual([]);
  });
});

describe('an email of somebody else', () => {
  it('is answered like any other, and its owner reads of it without a code', async () => {
    const free = await change(aino, newEmail());
    const taken = await change(aino, eero.email.toUpperCase());
    expect([taken.status, taken.body]).toEqual([free.status, free.body]);
    expect(await stateOf(aino)).toMatchObject({ pending_email: eero.email.toUpperCase() });
    await allMailed();
    const mails = server.received.filter(({ to }) => to[0] === eero.email);
    expect(mails).toHaveLength(2);
    const said = mails[1]?.text.split('\n\n').slice(1).join('\n\n') ?? '';
    expect(said).toContain('Somebody wanted to use this email address for another account.');
    expect(said).toContain('Joku halusi käyttää tätä sähköpostiosoitetta toisella tilillä.');
    expect(said).not.toMatch(/\d{8}/);
    expect(said).not.toContain(aino.username);
    expect(server.received.filter(({ to }) => to[0] === eero.email.toUpperCase())).toEqual([]);
    // Guesses, new codes and cancelling are answered like any other, too.
    expect(await confirm(aino, '00000000')).toMatchObject(refused('wrong-code'));
    expect((await aino.call('POST', '/users/me/email/code')).status).toBe(204);
    expect((await aino.call('DELETE', '/users/me/email/pending')).status).toBe(204);
  });

  it('is said to be taken to who has proven that it is theirs, and to nobody else', async () => {
    const email = newEmail();
    await change(aino, email);
    const first = await codeMailedTo(server, email);
    await change(eero, email);
    const second = await codeMailedTo(server, email, first);
    expect((await confirm(aino, first)).status).toBe(200);
    expect(await confirm(eero, wrong(second))).toMatchObject(refused('wrong-code'));
    expect(await confirm(eero, second)).toMatchObject(refused('email-taken', 409));
    expect(await stateOf(eero)).toEqual({ email: eero.email, email_verified: false });
  });

  it('is still told to who signs up', async () => {
    const taken = signUp(relay, { email: aino.email });
    await expect(taken).rejects.toThrow('409');
  });
});

describe('the operator', () => {
  it('who sets no mail server has everything as before', async () => {
    const plain = await startTestRelay();
    try {
      const [person, seeker] = [await signUpOnDevice(plain), await signUp(plain)];
      const data = (await person.call<AccountData>('GET', '/users/me')).body;
      expect(Object.keys(data)).not.toContain('email_verified');
      expect(await foundBy(person.email, seeker)).toMatchObject([{ email: person.email }]);
      const email = newEmail();
      expect(await change(person, email)).toMatchObject({ body: { email } });
      for (const [method, path, body] of [
        ['POST', '/users/me/email/code'],
        ['POST', '/users/me/email/confirm', { code: '12345678' }],
        ['DELETE', '/users/me/email/pending'],
      ] as const)
        expect(await person.call(method, path, body)).toMatchObject(refused('not-found', 404));
    } finally {
      await plain.close();
    }
  });

  it('who sets one later has people who are to verify theirs, whom nothing else is taken from', async () => {
    const dataDir = await temporaryFolder();
    const plain = await startTestRelay({ dataDir });
    const person = await signUpOnDevice(plain);
    await befriend(person, await signUp(plain));
    await plain.close();
    const later = await startTestRelay({ dataDir, environment: smtp });
    try {
      const ask = (method: string, path: string, body?: unknown) =>
        call<AccountData>(later, method, path, {
          token: person.token,
          ...(body === undefined ? {} : { body }),
        });
      expect((await ask('GET', '/users/me')).body).toMatchObject({ email_verified: false });
      expect((await ask('GET', '/contacts')).body).toHaveLength(1);
      const { email, password } = person;
      expect((await call(later, 'POST', '/login', { body: { email, password } })).status).toBe(200);
      expect((await ask('POST', '/users/me/email/code')).status).toBe(204);
      const code = await codeMailedTo(server, email);
      expect((await ask('POST', '/users/me/email/confirm', { code })).status).toBe(200);
    } finally {
      await later.close();
      await rm(dataDir, { recursive: true });
    }
  });

  it('who takes it away for a while leaves verified only what has stayed', async () => {
    await verify(aino);
    const email = newEmail();
    // As a relay without a mail server takes it.
    const session = { userId: aino.id } as Session;
    const names = { username: aino.username, email, signedName: null };
    await relay.relay.services.accounts.updateProfile(session, names);
    expect(await stateOf(aino)).toEqual({ email, email_verified: false });
  });
});

it.each([codeTextsOf('12345678', 'safety.example.org'), takenTexts('safety.example.org')])(
  'a mail of codes and of taken addresses has both languages, no link, and no name that would become one',
  ({ text }) => {
    expect(text.split('\n\n')).toHaveLength(8);
    expect(text).not.toMatch(/example\.org|:\/\//);
  },
);
