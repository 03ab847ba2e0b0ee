import path from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId } from '../../contract/index.ts';
import { buildApp, type Relay } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { tablesInOrder } from '../../src/db/copy.ts';
import type { Db } from '../../src/db/tables.ts';
import { base64Url, befriend, type PersonOnDevice, signUpOnDevice } from '../helpers.ts';
import {
  addMember,
  commitBody,
  createGroup,
  groupLog,
  log,
  messageBody,
  send,
  sendToGroup,
  seqs,
  submitCommit,
} from '../http/conversation.ts';
import { createClients, puback } from '../mqtt/mqttClient.ts';
import { messagePayload } from '../mqtt/rawClient.ts';
import { run } from '../operator/operator.ts';
import { withOwnDatabase } from './ownDatabase.ts';

const own = withOwnDatabase();
const clients = createClients();
let relay: Relay | null = null;
let port = 0;
let aino: PersonOnDevice;
let eero: PersonOnDevice;

/** Starts a relay on the data folder, where the people knew it to be. */
async function start(environment: Record<string, string> = {}): Promise<Relay> {
  const WEB_DIR = path.join(own.dataDir, 'no-web-client');
  const config = readConfig({ PORT: String(port), WEB_DIR, ...environment, DATA_DIR: own.dataDir });
  relay = await buildApp({ config, logStream: { write: () => {} } });
  ({ port } = await relay.listen());
  return relay;
}
async function stop(): Promise<void> {
  await clients.endAll();
  await relay?.close();
  relay = null;
}
afterEach(stop);

/** Every row of every table that is copied, in no order that a database has made. */
async function rowsOf(db: Db): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const table of tablesInOrder) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db);
    tables[table] = rows
      .map((row) => JSON.stringify(Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1))))
      .toSorted();
  }
  return tables;
}

describe('a relay that moves from SQLite to PostgreSQL', () => {
  const convert = () => run({ DATA_DIR: own.dataDir, DATABASE_URL: own.url }, 'convert', '--json');

  beforeEach(async () => {
    port = 0;
    await start();
    const at = { url: `http://127.0.0.1:${port}` };
    [aino, eero] = [await signUpOnDevice(at), await signUpOnDevice(at)];
    await befriend(aino, eero);
  });

  it('keeps everything: the devices, sessions and conversations of its people go on', async () => {
    const direct = directConversationId(aino.id, eero.id);
    await submitCommit(aino, direct, commitBody(0));
    // More than are copied at a time.
    for (let count = 0; count < 230; count += 1) await send(aino, eero, messageBody(1));
    const groupId = await createGroup(aino);
    await addMember(
      aino,
      groupId,
      eero,
      commitBody(0, [{ deviceIds: [eero.deviceId], welcome: base64Url(900) }]),
    );
    await eero.call('PUT', `/blocks/${aino.id}`);
    await eero.call('DELETE', `/blocks/${aino.id}`);
    for (const suite of [0x004d, 0xf04d])
      await aino.call('POST', '/key-packages', {
        suite,
        keyPackages: [base64Url(300)],
        lastResort: base64Url(300),
      });
    const before = await rowsOf((relay as Relay).database.db);
    const texts = await log(eero, aino);
    await stop();
    expect(await convert()).toMatchObject({ status: 0, err: '' });

    const { database } = await start({ DATABASE_URL: own.url });
    expect(database.program).toBeNull();
    const after = await rowsOf(database.db);
    // A relay notes as it starts what it has heard of its operator, and when it has used its days.
    const without = ({ operator_news: _news, retention_days: _used, ...tables }: Record<string, string[]>) =>
      tables;
    expect(without(after)).toEqual(without(before));
    expect(await log(eero, aino)).toEqual(texts);

    // The sessions that there were, by REST and MQTT, in the epochs that there were.
    expect((await send(eero, aino, messageBody(1))).body).toMatchObject({ seq: 232 });
    const client = await clients.connect(`ws://127.0.0.1:${port}/mqtt`, aino);
    const payload = messagePayload(aino, eero, { epoch: 1 });
    expect(await puback(client, `user/${eero.id}/messages`, payload)).toMatchObject({ reasonCode: 0 });
    expect((await sendToGroup(eero, groupId, messageBody(1))).status).toBe(201);
    expect(seqs(await groupLog(aino, groupId))).toEqual([1, 2]);
    expect((await submitCommit(aino, direct, commitBody(1))).status).toBe(201);
    expect((await eero.call('GET', `/users/search?q=${aino.username}`)).body).toMatchObject([
      { id: aino.id },
    ]);
  });

  it('is not converted while it runs, into a database that has people, or without one', async () => {
    const inUse = await convert();
    expect(inUse.status).toBe(1);
    expect(inUse.err).toContain('is in use by another relay');
    await stop();
    expect(await run({ DATA_DIR: own.dataDir }, 'convert')).toEqual({
      status: 1,
      out: '',
      err: 'Set DATABASE_URL to the PostgreSQL database that the relay is to have.\n',
    });
    expect((await convert()).status).toBe(0);
    expect(await convert()).toEqual({
      status: 1,
      out: '',
      err: 'Somebody has an account in that PostgreSQL database: make an empty one.\n',
    });
  });

  it('copies every table that there is but the index of names', async () => {
    const { db } = (relay as Relay).database;
    const tables = (await db.introspection.getTables())
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('username'));
    expect([...tablesInOrder].toSorted()).toEqual(tables.toSorted());
  });
});
