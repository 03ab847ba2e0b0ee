import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect } from 'vitest';
import type { AccountData, Profile, UserSummary } from '../../contract/index.ts';
import { codeMailedTo } from '../emailCodes.ts';
import {
  type Person,
  type PersonOnDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { MailServer } from '../mailServer.ts';

/** For the files that call {@link withEmails}: a relay with a clock and a mail server of its own, and two people, for each test. */
export let now: number;
export let server: MailServer;
export let smtp: Record<string, string>;
export let relay: TestRelay;
export let aino: PersonOnDevice;
export let eero: PersonOnDevice;

export function advance(milliseconds: number): void {
  now += milliseconds;
}

export function withEmails(): void {
  beforeEach(async () => {
    now = Date.parse('2026-03-01T12:34:56.000Z');
    server = new MailServer();
    smtp = { SMTP_URL: `smtp://127.0.0.1:${await server.listen()}`, SMTP_FROM: 'relay@example.org' };
    relay = await startTestRelay({ environment: smtp, clock: () => now });
    [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  });
  afterEach(async () => {
    server.hangUp();
    await relay.close();
    await server.close();
  });
}

export const confirm = (person: Person, code: string) =>
  person.call<Profile & { code?: string }>('POST', '/users/me/email/confirm', { code });
export const verify = async (person: Person) => {
  expect((await confirm(person, await codeMailedTo(server, person.email))).status).toBe(200);
};
export const stateOf = async (person: Person) => {
  const { profile, email_verified, pending_email } = (await person.call<AccountData>('GET', '/users/me'))
    .body;
  return { email: profile.email, email_verified, pending_email };
};
export const change = (person: Person, email: string) =>
  person.call<Profile>('PUT', '/users/me', { username: person.username, email });
export const foundBy = async (q: string, seeker: Person = eero) =>
  (await seeker.call<UserSummary[]>('GET', `/users/search?q=${encodeURIComponent(q)}`)).body;
export const newEmail = () => `${randomUUID()}@example.org`;
/** Another code than this one. */
export const wrong = (code: string) => String((Number(code) + 1) % 10 ** 8).padStart(8, '0');
export const refused = (code: string, status = 403) => ({ status, body: { code } });
/** Waits until everything that is mailed is there: mails go one after the other, and this one is asked for last. */
export const allMailed = async () => {
  const last = await signUp(relay);
  await codeMailedTo(server, last.email);
};
