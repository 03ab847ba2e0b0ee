import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type ConversationSummary, type DeviceCertificate, type GroupDetails } from '../../contract/index.ts';
import { servedRoutes as routes } from '../../contract/served.ts';
import { purgeAfter } from '../../src/jobs/purge.ts';
import { nobody } from '../../src/repositories/deletions.ts';
import { base64Url, befriend, call, type Person, signUp, signUpOnDevice } from '../helpers.ts';
import { createClients, disconnectReason } from '../mqtt/mqttClient.ts';
import { groupLog, log, messageBody, recordEvents, recordSignals, send } from './conversation.ts';
import {
  advance,
  deleteAccount,
  dump,
  everywhere,
  friend,
  holding,
  purgeJob,
  relay,
  takeOut,
  withDeletedPerson,
} from './deletedPerson.ts';

withDeletedPerson();

const expired = { status: 401, body: { code: 'session-expired' } };

/** One row of the table in DATA.md. */
interface Documented {
  readonly table: string;
  readonly columns: readonly string[];
  readonly deletion: string;
  readonly calls: readonly string[];
}

async function documented(): Promise<Documented[]> {
  const text = await readFile(new URL('../../DATA.md', import.meta.url), 'utf8');
  const rows = text.split('\n').filter((line) => /^\| [a-z_]+ \| [a-z_]+(, [a-z_]+)* \|/.test(line));
  return rows
    .filter((line) => relay.relay.database.program !== null || !line.startsWith('| username'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, table]) => table !== 'table')
    .map(([, table = '', columns = '', , deletion = '', calls = '']) => ({
      table,
      columns: columns.split(', '),
      deletion,
      calls: calls.startsWith('no call: ') ? [] : calls.split(', '),
    }));
}

describe('DATA.md', () => {
  it('names every table and column that there is', async () => {
    const all = await relay.relay.database.db.introspection.getTables();
    // The insides of an index, which `nameIndex.test.ts` looks into.
    const tables = all.filter(({ name }) => !name.startsWith('username_trigrams_'));
    const actual = tables.map(({ name, columns }) => [name, columns.map((column) => column.name).toSorted()]);
    const named = (await documented()).map(({ table, columns }) => [table, columns.toSorted()]);
    expect(Object.fromEntries(named)).toEqual(Object.fromEntries(actual));
  });

  it('says truly what is left of a person at once and in the end', async () => {
    const { person, markers, messages, ids, direct, own } = await everywhere();
    const rows = await documented();
    // There is nothing yet, a number alone, what a running relay takes away within a second, and nothing of anybody.
    const others = new Set([
      'deleted_accounts',
      'history_totals',
      'operator_news',
      'operator_settings',
      'invitations',
      'retention_days',
      'deleted_blobs',
    ]);
    for (const { table } of rows.filter((row) => !others.has(row.table))) {
      expect([table, holding(await dump(table), markers).length > 0]).toEqual([table, true]);
    }
    expect((await deleteAccount(person)).status).toBe(204);

    for (const { table, deletion } of rows) {
      // The direct conversation is still there for the other one, under the id that it has.
      const stored = (await dump(table)).map((row) => row.replaceAll(direct, ''));
      expect([table, holding(stored, deletion === 'at once' ? markers : messages)]).toEqual([table, []]);
    }
    await takeOut(own.id);
    advance(purgeAfter - 1);
    await purgeJob().run();
    expect(holding(await dump('deleted_accounts'), ids)).toHaveLength(1);
    advance(1);
    await purgeJob().run();
    for (const { table } of rows) {
      expect([table, holding(await dump(table), markers)]).toEqual([table, []]);
    }
    advance(-purgeAfter);
  });

  it('names calls that give the person everything', async () => {
    const { person, tablet, direct, own, left, markers } = await everywhere();
    const known = new Set(Object.values(routes).map(({ method, paths }) => `${method} ${paths[0]}`));
    const answerTo = async (name: string): Promise<string> => {
      expect(known).toContain(name);
      const path = name
        .replace('GET ', '')
        .replace('/user/{id}', `/user/${friend.id}`)
        .replace('/group/{id}/departure', `/group/${left}/departure`)
        .replace('/group/{id}', `/group/${own.id}`)
        .replace('{conversationId}', direct)
        .replace('{id}', person.id);
      const answers = await Promise.all([person, tablet].map((device) => device.call('GET', path)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      return JSON.stringify(answers.map(({ body }) => body));
    };
    // These tables hold numbers, or their calls answer a count: see below.
    const counted = new Set([
      'history_totals',
      'key_packages',
      'last_resort_key_packages',
      'blobs',
      'blob_totals',
    ]);
    for (const { table, calls } of await documented()) {
      const answers = (await Promise.all(calls.map(answerTo))).join();
      if (calls.length === 0 || counted.has(table)) continue;
      const stored = holding(await dump(table), markers).join();
      const given = markers.some((marker) => stored.includes(marker) && answers.includes(marker));
      expect([table, given || sharesAnId(stored, answers)]).toEqual([table, true]);
    }
    expect((await person.call('GET', '/key-packages')).body).toMatchObject({
      available: 1,
      lastResort: true,
    });
    expect((await person.call('GET', '/history')).body).toHaveLength(1);
    expect((await person.call('GET', '/blobs')).body).toMatchObject({ storedBlobs: 1, storedBytes: 4096 });
  });
});

/** Returns whether an answer names a row by an id other than the person's, such as a request's. */
function sharesAnId(stored: string, answers: string): boolean {
  return (stored.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []).some((id) =>
    answers.includes(id),
  );
}

describe('deleting an account', () => {
  it('ends every session at once, on open connections too', async () => {
    const { person, tablet } = await everywhere();
    const clients = createClients();
    const client = await clients.connect(relay.mqttUrl, tablet);
    const reason = disconnectReason(client);
    await deleteAccount(person);
    expect(await reason).toBe(0x87);
    await clients.endAll();
    for (const session of [person, tablet]) {
      expect(await session.call('GET', '/profile')).toMatchObject(expired);
    }
    const login = { email: person.username, password: person.password };
    expect(await call(relay, 'POST', '/login', { body: login })).toMatchObject({ status: 401 });
  });

  it('is published to contacts, people with a pending request, and fellow members', async () => {
    const { person, others, own } = await everywhere();
    const people = [friend, others.asked, others.asking, others.member, await signUp(relay)];
    let events: Awaited<ReturnType<typeof recordEvents>> = [];
    const signals = await recordSignals(relay, async () => {
      events = await recordEvents(relay, people, () => deleteAccount(person));
    });
    const eventTypes = (of: Person) => events.filter(([id]) => id === of.id).map(([, event]) => event.type);
    expect(people.map(eventTypes)).toEqual([
      ['contacts', 'groups'],
      ['contacts'],
      ['contacts'],
      ['contacts'],
      [],
    ]);
    expect(signals).toContainEqual({ type: 'contacts-changed', userIds: [person.id, friend.id] });
    expect(signals).toContainEqual({ type: 'members-removed', groupId: own.id, userIds: [person.id] });
  });

  it('leaves the others their logs without a gap, and nothing of the person in their lists', async () => {
    const { person, own, commits, direct } = await everywhere();
    const before = await log(friend, person);
    await deleteAccount(person);
    const after = await log(friend, person);
    expect(after.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq));
    const isEmpty = after.map(({ content }) => content === '');
    const wasMessage = before.map(({ kind, sender_id: id }) => kind === 'application' && id === person.id);
    expect(isEmpty).toEqual(wasMessage);
    const entries = await groupLog(friend, own.id);
    expect(entries.map(({ kind, content }) => [kind, content])).toEqual([
      ['commit', commits[0]],
      ['application', ''],
    ]);
    for (const path of ['/contacts', '/contacts/requests', '/contacts/sent-requests', '/notifications']) {
      expect(JSON.stringify((await friend.call('GET', path)).body)).not.toContain(person.id);
    }
    expect((await friend.call<GroupDetails>('GET', `/group/${own.id}`)).body).toMatchObject({
      creator_id: null,
      members: [{ id: friend.id }],
    });
    expect((await friend.call<ConversationSummary[]>('GET', '/conversations')).body).toContainEqual(
      expect.objectContaining({ conversationId: direct, peerReadSeq: null }),
    );
    expect(await send(friend, person, messageBody(1))).toMatchObject({ status: 404 });
    expect(await friend.call('GET', `/users/${person.id}/devices`)).toMatchObject({ status: 404 });
    expect((await friend.call('GET', `/users/search?q=${person.username}`)).body).toEqual([]);
  });

  it('ends in nobody’s entries in groups, and no direct conversation', async () => {
    const { person, own } = await everywhere();
    await deleteAccount(person);
    advance(purgeAfter);
    await purgeJob().run();
    advance(-purgeAfter);
    const entries = await groupLog(friend, own.id);
    expect(entries).toHaveLength(2);
    for (const entry of entries) {
      expect(entry).toMatchObject({ content: '', sender_id: nobody, sender_device_id: nobody });
    }
    expect((await friend.call('GET', `/messages/user/${person.id}`)).status).toBe(404);
  });

  it('of the last one in a conversation deletes the conversation', async () => {
    const { person, direct, own, others } = await everywhere();
    for (const one of [person, friend, others.member]) expect((await deleteAccount(one)).status).toBe(204);
    const conversations = (await dump('conversations')).join();
    expect(conversations).not.toContain(direct);
    expect(conversations).not.toContain(own.id);
  });

  it('frees the names', async () => {
    const person = await signUp(relay);
    await deleteAccount(person);
    const names = { username: person.username, email: person.email };
    expect((await signUp(relay, names)).id).not.toBe(person.id);
  });

  it("takes nothing of anybody else's", async () => {
    const person = await signUpOnDevice(relay);
    await friend.call('POST', '/key-packages', { keyPackages: [base64Url(300)] });
    await friend.call('PUT', '/vault', {
      version: 0,
      sealedVault: base64Url(200),
      passwordWrap: base64Url(73),
      recoveryWrap: null,
    });
    await befriend(person, friend);
    const before = await Promise.all(
      ['/profile', '/vault', '/devices', '/key-packages'].map((path) => friend.call('GET', path)),
    );
    await deleteAccount(person);
    const after = await Promise.all(
      ['/profile', '/vault', '/devices', '/key-packages'].map((path) => friend.call('GET', path)),
    );
    expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
    const devices = await friend.call<DeviceCertificate[]>('GET', `/users/${friend.id}/devices`);
    expect(devices.body).toHaveLength(1);
  });
});
