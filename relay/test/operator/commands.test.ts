import { once } from 'node:events';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { directConversationId } from '../../contract/index.ts';
import { defaultOperator } from '../../contract/operator.ts';
import { stateOf } from '../../src/operator/check.ts';
import {
  befriend,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
  temporaryFolder,
  writeWebClient,
} from '../helpers.ts';
import { commitBody, messageBody, send, submitCommit } from '../http/conversation.ts';
import { done, run } from './operator.ts';

let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay();
  aino = await signUpOnDevice(relay);
  eero = await signUpOnDevice(relay);
  await befriend(aino, eero);
  await submitCommit(aino, directConversationId(aino.id, eero.id), commitBody(0));
  await send(aino, eero, messageBody(1));
});
afterAll(() => relay.close());
afterEach(() => vi.restoreAllMocks());

interface Finding {
  readonly what: string;
  readonly state: string;
  readonly detail: string;
}

/** Looks at a relay that listens at this port. */
async function findings(environment: Record<string, string>) {
  const { status, out } = await run({ ...relay.environment, ...environment }, 'check', '--json');
  const found = JSON.parse(out) as Finding[];
  return { status, of: (what: string) => found.find((finding) => finding.what === what) };
}

describe('the words of sinetti-relay', () => {
  it.each([
    [['nonsense'], 'There is no command nonsense.'],
    [['people'], 'There is no command people.'],
    [['people', 'dance', '--json'], 'There is no command people dance.'],
    [['people', 'suspend'], 'people suspend takes a PERSON.'],
    [['people', 'suspend', 'one', 'two'], 'people suspend takes no more than 1 words.'],
    [['people', 'list', '--limit', '0'], '--limit must be a whole number from 1 to 10000.'],
    [['people', 'list', '--limit', 'many'], '--limit must be a whole number from 1 to 10000.'],
    [['usage', '--bottom'], "Unknown option '--bottom'."],
  ])('are refused with a sentence and 2 where they are wrong: %s', async (words, sentence) => {
    expect(await run(relay.environment, ...words)).toEqual({
      status: 2,
      out: '',
      err: `${sentence} sinetti-relay --help says what there is.\n`,
    });
  });

  it('are explained by --help: all of them, and each', async () => {
    const all = await run({}, '--help');
    expect(all).toMatchObject({ status: 0, err: '' });
    const names = [...all.out.matchAll(/^ {2}sinetti-relay ([a-z][a-z -]*[a-z])/gm)].map(
      ([, name]) => name ?? '',
    );
    expect(names).toContain('people suspend');
    for (const name of names) {
      const one = await run({}, ...name.split(' '), '--help');
      expect(one).toMatchObject({
        status: 0,
        err: '',
        out: expect.stringContaining(`sinetti-relay ${name}`),
      });
    }
    expect(await run({})).toMatchObject({ status: 2, out: '' });
  });

  it('naming nobody are refused with a sentence and 1', async () => {
    for (const what of ['show', 'suspend', 'restore', 'end-sessions', 'delete']) {
      expect(await run(relay.environment, 'people', what, 'nobody')).toEqual({
        status: 1,
        out: '',
        err: 'There is nobody with the username, email or id nobody.\n',
      });
    }
  });
});

describe('what sinetti-relay says', () => {
  it('has no secret, no email that was not asked for, and nothing that anybody has written', async () => {
    const db = relay.relay.database.db;
    const { password_hash: hash } = await db
      .selectFrom('users')
      .select('password_hash')
      .where('id', '=', aino.id)
      .executeTakeFirstOrThrow();
    const secret = [hash, aino.salt, aino.token, aino.password, aino.email, aino.certificate, '127.0.0.1/'];
    for (const words of [
      ['people', 'list'],
      ['people', 'show', aino.id],
      ['usage'],
      ['check'],
      ['version'],
    ]) {
      for (const form of [[], ['--json']]) {
        const { out, err } = await run(relay.environment, ...words, ...form);
        expect(secret.filter((text) => `${out}${err}`.includes(text))).toEqual([]);
      }
    }
  });

  it('moves no cursor by what strangers have typed', async () => {
    const { db } = relay.relay.database;
    const rename = (username: string) =>
      db.updateTable('users').set({ username }).where('id', '=', eero.id).execute();
    await rename('e\u001B[2Jero\u202E');
    const { out } = await run(relay.environment, 'people', 'show', eero.id);
    await rename(eero.username);
    expect(out).toContain('e�[2Jero�');
  });

  it('of a person tells since when their email is verified', async () => {
    const verified = (at: number | null) =>
      relay.relay.database.db
        .updateTable('users')
        .set({ email_verified_at: at })
        .where('id', '=', eero.id)
        .execute();
    const shown = () => done(relay, 'people', 'show', eero.username);
    expect(await shown()).toMatchObject({ email_verified_at: null });
    await verified(Date.parse('2026-03-01T12:00:00.000Z'));
    expect(await shown()).toMatchObject({ email_verified_at: '2026-03-01T12:00:00.000Z' });
    expect((await run(relay.environment, 'people', 'show', eero.id)).out).toMatch(
      /^email verified +2026-03-01/m,
    );
    await verified(null);
  });

  it('of the usage counts what there is', async () => {
    const usage = await done(relay, 'usage', '--top', '1');
    expect(usage).toMatchObject({
      people: 2,
      suspended: 0,
      seenIn7Days: 2,
      seenIn30Days: 2,
      devices: 2,
      sessions: 2,
      conversations: 1,
      groups: 0,
      entries: 2,
      largest: [{ id: aino.id, username: aino.username, bytes: expect.any(Number) }],
    });
    expect((usage as { databaseBytes: number }).databaseBytes).toBeGreaterThan(100_000);
    expect((await run(relay.environment, 'usage')).out).toMatch(
      /^people +2, of them suspended: 0\nemails verified +0\n/,
    );
  });

  it('of the version needs no relay', async () => {
    const { version, schema, node } = await done<Record<string, string>>({ environment: {} }, 'version');
    expect([version, schema]).toEqual([
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
      expect.stringMatching(/^\d{4}-/),
    ]);
    expect(node).toBe(process.versions.node);
  });
});

describe('sinetti-relay check', () => {
  it('finds a relay at work in order, and says what it has looked at', async () => {
    const webDir = await temporaryFolder();
    await writeWebClient(webDir);
    const { status, of } = await findings({ PORT: new URL(relay.url).port, WEB_DIR: webDir });
    await rm(webDir, { recursive: true });
    for (const what of ['configuration', 'database', 'secrets', 'web client', 'relay']) {
      expect(of(what)).toMatchObject({ state: 'ok' });
    }
    expect(of('space')?.detail).toMatch(/ are free in /);
    expect([0, 1]).toContain(status);
  });

  it('compares the settings that the relay serves with the file as it is now, and looks for the frame of the keys', async () => {
    const folder = await temporaryFolder();
    const webDir = path.join(folder, 'web');
    await writeWebClient(webDir);
    const file = path.join(folder, 'operator.json');
    const { apiHost: _a, mqttUrl: _m, ...facts } = defaultOperator;
    await writeFile(file, JSON.stringify(facts));
    const serving = await startTestRelay({ environment: { WEB_DIR: webDir, OPERATOR_FILE: file } });
    const port = new URL(serving.url).port;
    const settings = { PORT: port, WEB_DIR: webDir, OPERATOR_FILE: file };
    const asConfigured = await findings(settings);
    expect(asConfigured.of('operator settings')).toMatchObject({ state: 'ok' });
    expect(asConfigured.of('frame of the keys')).toMatchObject({ state: 'ok' });

    await writeFile(file, JSON.stringify({ ...facts, productName: 'Postbox' }));
    const edited = await findings(settings);
    expect(edited.status).toBe(1);
    expect(edited.of('operator settings')?.detail).toMatch(/ is not as configured: restart the relay$/);
    await writeFile(file, JSON.stringify({ ...facts, name: 'Postbox' }));
    expect((await findings(settings)).of('operator settings')?.detail).toMatch(/name is not known\.$/);

    // Browsers’ own addresses are asked, where they are known.
    const { of } = await findings({ ...settings, KEYS_ORIGIN: `http://localhost:${port}` });
    expect(of('frame of the keys')?.detail).toBe(`http://localhost:${port}/keys answers 302`);
    await serving.close();
    expect((await findings(settings)).of('frame of the keys')?.detail).toMatch(/^nothing answers at /);
    await rm(folder, { recursive: true });
  });

  it('ends with 1 and names what is wrong', async () => {
    const closed = createServer();
    closed.listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const free = closed.address();
    const port = typeof free === 'object' ? String(free?.port) : '';
    closed.close();
    await once(closed, 'close');
    await chmod(path.join(relay.dataDir, 'secrets.json'), 0o644);
    const { status, of } = await findings({
      PORT: port,
      WEB_DIR: relay.dataDir,
      TRUST_PROXY: 'true',
      KEYS_ORIGIN: `https://localhost:${port}`,
      SMTP_URL: `smtp://name:hidden@127.0.0.1:${port}`,
      SMTP_FROM: 'relay@example.org',
    });
    await chmod(path.join(relay.dataDir, 'secrets.json'), 0o600);
    expect(status).toBe(1);
    expect(of('secrets')?.detail).toMatch(/^others can read /);
    expect(of('relay')?.detail).toBe(`nothing answers at 127.0.0.1:${port}`);
    expect(of(`https://localhost:${port}`)).toMatchObject({ state: 'failed' });
    expect(of('mail server')).toMatchObject({ state: 'failed' });
    expect(of('web client')).toMatchObject({ state: 'warning' });
  });

  it('names a wrong setting, and a proxy without the address of the keys', async () => {
    const wrong = await findings({ PORT: 'many' });
    expect(wrong.of('configuration')?.detail).toBe('PORT must be a port number.');
    const { of } = await findings({ TRUST_PROXY: 'true' });
    expect(of('configuration')?.detail).toBe('KEYS_ORIGIN must be set behind a proxy.');
  });

  it('calls a number low before it is too low', () => {
    const limits = { failed: 2, warning: 14 };
    expect([1, 2, 13, 14].map((value) => stateOf(value, limits))).toEqual([
      'failed',
      'warning',
      'warning',
      'ok',
    ]);
  });
});

describe('the settings of sinetti-relay', () => {
  it('come from a file as systemd reads it, over those of the environment', async () => {
    const file = path.join(relay.dataDir, 'relay.env');
    const lines = Object.entries({ ...relay.environment, LOG_LEVEL: 'info' });
    await writeFile(file, `# the relay\n${lines.map(([name, value]) => `${name}=${value}`).join('\n')}\n`);
    const shown = await run({ LOG_LEVEL: 'loud' }, 'people', 'show', aino.id, '--settings', file);
    expect(shown).toMatchObject({ status: 0, err: '' });
    await writeFile(file, 'LOG_LEVEL=loud\n');
    const wrong = await run(relay.environment, 'people', 'show', aino.id, '--settings', file);
    expect(wrong).toMatchObject({ status: 1, err: expect.stringMatching(/^LOG_LEVEL must be one of/) });
    const missing = await run({}, 'people', 'list', '--settings', `${file}.not`);
    expect(missing).toMatchObject({ status: 1, err: expect.stringContaining("can't be read") });
  });

  it('lead to a database of this version, or to a sentence', async () => {
    const { db } = relay.relay.database;
    await sql`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '')`.execute(db);
    const newer = await run(relay.environment, 'people', 'list');
    await sql`delete from kysely_migration where name = '9999-from-the-future'`.execute(db);
    expect(newer).toEqual({
      status: 1,
      out: '',
      err: 'The database is of another version than this program. Start the relay of this version first.\n',
    });
    const empty = path.join(relay.dataDir, 'empty');
    await mkdir(empty);
    expect(await run({ DATA_DIR: empty }, 'people', 'list')).toEqual({
      status: 1,
      out: '',
      err: `There is no relay.db in ${empty}. Set DATA_DIR.\n`,
    });
  });
});

// On PostgreSQL there is no file that belongs to anybody.
describe.each(process.env.TEST_DATABASE_URL === undefined ? ['relay.db'] : [])('%s', (file) => {
  it('is left alone by the command of another account, whose files the relay could not write', async () => {
    vi.spyOn(process, 'getuid').mockReturnValue(54_321);
    expect(await run(relay.environment, 'people', 'list')).toEqual({
      status: 1,
      out: '',
      err: `${path.join(relay.dataDir, file)} is another account's. Run this as the account that runs the relay.\n`,
    });
  });
});
