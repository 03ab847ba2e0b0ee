import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { directConversationId, type LogEntry } from '../../contract/index.ts';
import { befriend, call, signUpOnDevice, startTestRelay, temporaryFolder } from '../helpers.ts';
import { commitBody, messageBody, send, seqs, submitCommit } from '../http/conversation.ts';
import { findPostgres } from '../servers/binaries.mjs';
import { createDatabase, dropDatabase } from '../servers/postgres.ts';

const run = promisify(execFile);
const serverUrl = inject('postgresUrl');
const urlOf = (database: string) => serverUrl.replace(/\/postgres$/, `/${database}`);
const program = (name: string) => path.join(findPostgres() ?? '', name);

let dataDir: string;
const names = [randomUUID(), randomUUID()] as const;
beforeEach(async () => {
  dataDir = await temporaryFolder();
  for (const name of names) await createDatabase(serverUrl, name);
});
afterEach(async () => {
  for (const name of names) await dropDatabase(serverUrl, name);
  await rm(dataDir, { recursive: true });
});

it('a dump taken at work, restored into an empty database, is what a relay goes on with', async () => {
  const on = (database: string) =>
    startTestRelay({ dataDir, environment: { DATABASE_URL: urlOf(database) } });
  const relay = await on(names[0]);
  const [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(aino, eero);
  await submitCommit(aino, directConversationId(aino.id, eero.id), commitBody(0));
  for (let index = 0; index < 10; index += 1) await send(aino, eero, messageBody(1));
  const writers = new AbortController();
  const writing = (async () => {
    while (!writers.signal.aborted) await send(eero, aino, messageBody(1));
  })();
  const dump = path.join(dataDir, 'relay.dump');
  await run(program('pg_dump'), ['--format=custom', `--file=${dump}`, urlOf(names[0])]);
  writers.abort();
  await writing;
  await relay.close();

  await run(program('pg_restore'), ['--exit-on-error', '--no-owner', `--dbname=${urlOf(names[1])}`, dump]);
  const restored = await on(names[1]);
  const { token } = eero;
  const log = await call<LogEntry[]>(restored, 'GET', `/messages/user/${aino.id}?limit=200`, { token });
  expect(log.body.length).toBeGreaterThanOrEqual(11);
  expect(seqs(log.body)).toEqual(log.body.map((_entry, index) => index + 1));
  const next = await call(restored, 'POST', `/messages/user/${aino.id}`, { token, body: messageBody(1) });
  expect(next).toMatchObject({ status: 201, body: { seq: log.body.length + 1 } });
  await restored.close();
});
