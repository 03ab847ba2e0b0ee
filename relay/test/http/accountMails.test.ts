import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textsOf } from '../../src/mail/texts.ts';
import { revocationOf } from '../devices.ts';
import { codeMailedTo } from '../emailCodes.ts';
import { eventually } from '../eventually.ts';
import {
  base64Url,
  onAnotherDevice,
  type PersonOnDevice,
  rotatedVault,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { MailServer } from '../mailServer.ts';
import { proofKeyOf } from '../proofs.ts';

const now = Date.parse('2026-03-01T12:34:56.000Z');
let server: MailServer;
let relay: TestRelay;
let aino: PersonOnDevice;
beforeEach(async () => {
  server = new MailServer();
  const environment = {
    SMTP_URL: `smtp://127.0.0.1:${await server.listen()}`,
    SMTP_FROM: 'relay@example.org',
    METRICS_PORT: '0',
  };
  relay = await startTestRelay({ environment, clock: () => now });
  aino = await signUpOnDevice(relay);
  await aino.call('PUT', '/vault', { version: 0, sealedVault: base64Url(145), passwordWrap: base64Url(73) });
});
afterEach(async () => {
  // Nothing that is under way holds up the end.
  server.hangUp();
  await relay.close();
  await server.close();
});

const newPassword = () => {
  const password = base64Url(32);
  const passwordParams = { salt: base64Url(16), opsLimit: 3, memLimit: 134_217_728 };
  const vault = rotatedVault(1);
  const passwordProofKey = proofKeyOf(password);
  return { currentPassword: aino.password, password, passwordParams, passwordProofKey, vault };
};
const recoveryKey = () => {
  const recoveryAuthKey = base64Url(32);
  const recoveryProofKey = proofKeyOf(recoveryAuthKey);
  const vault = { version: 1, sealedVault: base64Url(145), recoveryWrap: base64Url(73) };
  return { ...vault, recoveryAuthKey, recoveryProofKey };
};
/** Mails of changes: without the codes that come with each sign-up. */
const told = () => server.received.filter(({ text }) => !text.includes('Subject: Your code'));
const outcomes = async () => {
  const text = await (await fetch(relay.metricsUrl ?? '')).text();
  return text.match(/^sinetti_mails_total\{.*/gm) ?? [];
};

describe('a change of who owns the account', () => {
  it.each<[string, string, () => Promise<{ status: number }>]>([
    [
      'The password of your account was changed',
      'Tilisi salasana vaihdettiin',
      () => aino.call('PUT', '/users/me/password', newPassword()),
    ],
    [
      'A recovery key was set up for your account',
      'Tilillesi otettiin käyttöön palautusavain',
      () => aino.call('PUT', '/vault', recoveryKey()),
    ],
    [
      'The recovery key of your account was replaced or removed',
      'Tilisi palautusavain vaihdettiin tai poistettiin',
      async () => {
        aino = await signUpOnDevice(relay);
        await aino.call('PUT', '/vault', { ...recoveryKey(), version: 0, passwordWrap: base64Url(73) });
        return aino.call('PUT', '/vault', { version: 1, sealedVault: base64Url(145), recoveryWrap: null });
      },
    ],
    [
      'A new browser was signed in to your account',
      'Tilillesi kirjauduttiin uudella selaimella',
      async () => {
        await onAnotherDevice(relay, aino);
        return { status: 200 };
      },
    ],
    ['Your account was deleted', 'Tilisi poistettiin', () => aino.call('DELETE', '/user')],
    [
      'The username of your account was changed',
      'Tilisi käyttäjänimi vaihdettiin',
      () => aino.call('PUT', '/users/me', { username: `uusi${aino.username}`, email: aino.email }),
    ],
    [
      'The email address of your account was changed',
      'Tilisi sähköpostiosoite vaihdettiin',
      async () => {
        await aino.call('PUT', '/users/me', { username: aino.username, email: 'thief@example.org' });
        return aino.call('POST', '/users/me/email/confirm', {
          code: await codeMailedTo(server, 'thief@example.org'),
        });
      },
    ],
  ])(
    'is mailed to the address that the account had before, in both languages: %s',
    async (en, fi, change) => {
      expect((await change()).status).toBeLessThan(300);
      await eventually(() => expect(told()).toHaveLength(1));
      const [mail] = told();
      expect(mail).toMatchObject({ from: 'relay@example.org', to: [aino.email] });
      expect(mail?.text).toContain(`Subject: ${en} / ${fi}`);
      expect(mail?.text).toContain(`${aino.username}: ${en} (2026-03-01 12:34 UTC).`);
      expect(mail?.text).toContain(`${aino.username}: ${fi} (2026-03-01 12:34 UTC).`);
      expect(mail?.text).toContain('Content-Type: text/plain');
      expect(mail?.text).toContain('Auto-Submitted: auto-generated');
      await eventually(async () =>
        expect(await outcomes()).toEqual([`sinetti_mails_total{outcome="sent"} ${server.received.length}`]),
      );
    },
  );

  it('is mailed without links, tokens, ids and whatever else its maker has chosen', async () => {
    const { deviceId } = await onAnotherDevice(relay, aino);
    await aino.call('DELETE', `/devices/${deviceId}`, { statement: revocationOf(aino, deviceId) });
    await eventually(() => expect(told()).toHaveLength(2));
    const said = told()
      .map(({ text }) => text.slice(text.indexOf('\n\n')))
      .join('\n');
    for (const secret of [
      aino.token,
      aino.password,
      aino.id,
      deviceId,
      aino.deviceId,
      'A browser',
      '://',
      '@',
    ])
      expect(said).not.toContain(secret);
  });

  it('is mailed so many times a day, so that nobody floods an address or keeps the mails of others waiting', async () => {
    const vault = (version: number) => ({ ...recoveryKey(), version });
    for (let version = 1; version <= 24; version += 1)
      expect((await aino.call('PUT', '/vault', vault(version))).status).toBe(200);
    const eero = await signUpOnDevice(relay);
    await onAnotherDevice(relay, eero);
    await eventually(() => expect(told().at(-1)?.to).toEqual([eero.email]));
    expect(told().filter(({ to }) => to[0] === aino.email)).toHaveLength(20);
  });

  it('is answered and told to devices while the mail server is silent, which ends without the mail', async () => {
    await eventually(async () => expect(await outcomes()).toEqual(['sinetti_mails_total{outcome="sent"} 1']));
    server.isSilent = true;
    expect((await aino.call('PUT', '/users/me/password', newPassword())).status).toBe(200);
    expect((await aino.call('GET', '/account-changes')).body).toMatchObject([{ kind: 'password' }]);
    server.hangUp();
    await eventually(async () => {
      server.hangUp();
      expect(await outcomes()).toContain('sinetti_mails_total{outcome="failed"} 1');
    });
  });

  it('is logged without the address where the mail server refuses it, and the next one is sent', async () => {
    await eventually(() => expect(server.received).toHaveLength(1));
    server.refusal = 'nobody here is called';
    expect((await aino.call('PUT', '/vault', recoveryKey())).status).toBe(200);
    await eventually(() => expect(relay.logLines.join('')).toContain('mail not sent'));
    const line = relay.logLines.find((one) => one.includes('mail not sent'));
    expect(JSON.parse(line ?? '')).toMatchObject({ level: 40, code: 'EENVELOPE', status: 550 });
    for (const name of [aino.email, aino.username]) expect(relay.logLines.join('')).not.toContain(name);
    server.refusal = null;
    await onAnotherDevice(relay, aino);
    await eventually(() => expect(told()).toHaveLength(1));
  });
});

it('signing up, and logging in on a device that is known, are no changes that are mailed', async () => {
  const { certificate, deviceId } = aino;
  await aino.call('PUT', `/devices/${deviceId}`, { name: 'Another name', certificate });
  await aino.call('DELETE', '/user');
  await eventually(() => expect(told()).toHaveLength(1));
  expect(told()[0]?.text).toContain('Your account was deleted');
});

it('a mail holds no username that a mail program would make a link of', () => {
  expect(textsOf('email', 'safety.example.org', now).text).not.toContain('example.org');
});

it('a mail of each change has both languages, with the letters of the second', () => {
  const { subject, text } = textsOf('device-revoked', 'äijä', now);
  expect(subject).toBe('A device was removed from your account / Tililtäsi poistettiin laite');
  expect(text.split('\n\n')).toHaveLength(8);
  expect(text).toContain('äijä: Tililtäsi poistettiin laite (2026-03-01 12:34 UTC).');
});
