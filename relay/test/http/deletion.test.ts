import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConversationSummary,
  type DeviceCertificate,
  directConversationId,
  type GroupDetails,
  routes,
} from '../../contract/index.ts';
import { createPurgeJob, purgeAfter, settleAfter } from '../../src/jobs/purge.ts';
import { nobody } from '../../src/repositories/deletions.ts';
import {
  base64Url,
  befriend,
  call,
  onAnotherDevice,
  type Person,
  type PersonOnDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  temporaryFolder,
  type TestRelay,
} from '../helpers.ts';
import { createClients, disconnectReason } from '../mqtt/mqttClient.ts';
import {
  addMember,
  commitBody,
  createGroup,
  groupLog,
  log,
  messageBody,
  send,
  sendToGroup,
  submitCommit,
  toldBy,
} from './conversation.ts';

let now = Date.parse('2026-03-01T12:00:00.000Z');
let relay: TestRelay;
let friend: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
});
afterAll(() => relay.close());
beforeEach(async () => {
  friend = await signUpOnDevice(relay);
});

const expired = { status: 401, body: { code: 'session-expired' } };
const purgeJob = () =>
  createPurgeJob({ db: relay.relay.database.db, clock: () => now, log: relay.relay.app.log });
const deleteAccount = (person: Person) => person.call('DELETE', '/user');

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
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, table]) => table !== 'table')
    .map(([, table = '', columns = '', , deletion = '', calls = '']) => ({
      table,
      columns: columns.split(', '),
      deletion,
      calls: calls.startsWith('no call: ') ? [] : calls.split(', '),
    }));
}

/** Every row of a table as text, bytes in base64url as the contract has them. */
async function dump(table: string): Promise<string[]> {
  const rows = await relay.relay.database.db
    .selectFrom(table as 'users')
    .selectAll()
    .execute();
  return rows.map((row) =>
    JSON.stringify(
      Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('base64url') : value)),
    ),
  );
}

/** Somebody who has left something in every table. */
async function everywhere() {
  const person = await signUpOnDevice(relay, { full_name: `Full ${randomUUID()}` });
  const [tablet, phone] = [await onAnotherDevice(relay, person), await onAnotherDevice(relay, person)];
  const others = {
    asked: await signUp(relay),
    asking: await signUp(relay),
    member: await signUpOnDevice(relay),
  };
  await befriend(person, friend);
  await befriend(person, others.member);
  await befriend(friend, others.member);
  await person.call('POST', `/contacts/request/${others.asked.id}`);
  await others.asking.call('POST', `/contacts/request/${person.id}`);

  const vault = { sealedVault: base64Url(200), passwordWrap: base64Url(72), recoveryWrap: base64Url(72) };
  await person.call('PUT', '/vault', { version: 0, ...vault, recoveryAuthKey: base64Url(32) });
  const keyPackages = { keyPackages: [base64Url(300)], lastResort: base64Url(300) };
  await person.call('POST', '/key-packages', keyPackages);
  const statement = base64Url(120);
  await person.call('DELETE', `/devices/${phone.deviceId}`, { statement });

  const direct = directConversationId(person.id, friend.id);
  const welcome = { deviceIds: [tablet.deviceId], welcome: base64Url(900) };
  await submitCommit(person, direct, commitBody(0, [welcome]));
  const message = messageBody(1);
  await send(person, friend, message);
  await send(friend, person, messageBody(1));
  const own = { id: await createGroup(person), commit: commitBody(0) };
  await addMember(person, own.id, friend, own.commit);
  const [groupMessage, farewell] = [messageBody(1), messageBody(2)];
  await sendToGroup(person, own.id, groupMessage);
  const left = await createGroup(friend);
  await addMember(friend, left, person, commitBody(0));
  await addMember(friend, left, others.member, commitBody(1));
  await sendToGroup(person, left, farewell);
  const departure = base64Url(120);
  await person.call('DELETE', `/group/${left}/leave`, { statement: departure });
  const sealed = base64Url(300);
  await person.call('PUT', '/history', {
    items: [{ id: message.messageId, conversationId: direct, sealed }],
  });

  const ids = [person.id, person.deviceId, tablet.deviceId, phone.deviceId];
  return {
    person,
    tablet,
    others,
    direct,
    own,
    left,
    commits: [own.commit.commit],
    /** Whatever in the database is this person's; none of it could be there by chance. */
    markers: [
      ...ids,
      person.username,
      person.email,
      person.salt,
      person.certificate,
      tablet.certificate,
      vault.sealedVault,
      vault.passwordWrap,
      vault.recoveryWrap,
      ...keyPackages.keyPackages,
      keyPackages.lastResort,
      statement,
      departure,
      message.content,
      groupMessage.content,
      farewell.content,
      own.commit.commit,
      sealed,
      welcome.welcome,
    ],
    messages: [message.content, groupMessage.content, farewell.content],
    ids,
  };
}

const holding = (rows: readonly string[], markers: readonly string[]) =>
  rows.filter((row) => markers.some((marker) => row.includes(marker)));

describe('DATA.md', () => {
  it('names every table and column that there is', async () => {
    const tables = await relay.relay.database.db.introspection.getTables();
    const actual = tables.map(({ name, columns }) => [name, columns.map((column) => column.name).toSorted()]);
    const named = (await documented()).map(({ table, columns }) => [table, columns.toSorted()]);
    expect(Object.fromEntries(named)).toEqual(Object.fromEntries(actual));
  });

  it('says truly what is left of a person at once and in the end', async () => {
    const { person, markers, messages, ids, direct } = await everywhere();
    const rows = await documented();
    for (const { table } of rows.filter(
      (row) => row.table !== 'deleted_accounts' && row.table !== 'history_totals',
    )) {
      expect([table, holding(await dump(table), markers).length > 0]).toEqual([table, true]);
    }
    expect((await deleteAccount(person)).status).toBe(204);

    for (const { table, deletion } of rows) {
      // The direct conversation is still there for the other one, under the id that it has.
      const stored = (await dump(table)).map((row) => row.replaceAll(direct, ''));
      expect([table, holding(stored, deletion === 'at once' ? markers : messages)]).toEqual([table, []]);
    }
    now += purgeAfter - 1;
    await purgeJob().run();
    expect(holding(await dump('deleted_accounts'), ids)).toHaveLength(1);
    now += 1;
    await purgeJob().run();
    for (const { table } of rows) {
      expect([table, holding(await dump(table), markers)]).toEqual([table, []]);
    }
    now -= purgeAfter;
  });

  it('names calls that give the person everything', async () => {
    const { person, tablet, own, markers } = await everywhere();
    const known = new Set(Object.values(routes).map(({ method, paths }) => `${method} ${paths[0]}`));
    const answerTo = async (name: string): Promise<string> => {
      expect(known).toContain(name);
      const path = name
        .replace('GET ', '')
        .replace('/user/{id}', `/user/${friend.id}`)
        .replace('/group/{id}', `/group/${own.id}`)
        .replace('{id}', person.id);
      const answers = await Promise.all([person, tablet].map((device) => device.call('GET', path)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      return JSON.stringify(answers.map(({ body }) => body));
    };
    // What these hold of a person are numbers, or they answer how many there are: see below.
    const counted = new Set(['history_totals', 'key_packages', 'last_resort_key_packages']);
    for (const { table, calls } of await documented()) {
      const answers = (await Promise.all(calls.map(answerTo))).join();
      if (calls.length === 0 || counted.has(table)) continue;
      const stored = holding(await dump(table), markers).join();
      const given = markers.some((marker) => stored.includes(marker) && answers.includes(marker));
      expect([table, given || sharesAnId(stored, answers)]).toEqual([table, true]);
    }
    expect((await person.call('GET', '/key-packages')).body).toEqual({ available: 1, lastResort: true });
    expect((await person.call('GET', '/history')).body).toHaveLength(1);
  });
});

/** Whether an answer names a row by an id that is not the person's, such as a request's or a notification's. */
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

  it('tells contacts, those with a pending request, and fellow members', async () => {
    const { person, others, own } = await everywhere();
    const people = [friend, others.asked, others.asking, others.member, await signUp(relay)];
    const signals: unknown[] = [];
    const stop = relay.relay.services.hub.onSignal((signal) => signals.push(signal));
    const events = await toldBy(relay, people, () => deleteAccount(person));
    stop();
    const told = (of: Person) => events.filter(([id]) => id === of.id).map(([, event]) => event.type);
    expect(people.map(told)).toEqual([['contacts', 'groups'], ['contacts'], ['contacts'], ['contacts'], []]);
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
    now += purgeAfter;
    await purgeJob().run();
    now -= purgeAfter;
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
      passwordWrap: base64Url(72),
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

describe('the purge job', () => {
  it('finishes what a relay that stopped in the middle of a deletion has left', async () => {
    const { person, messages } = await everywhere();
    const { db } = relay.relay.database;
    await db.insertInto('deleted_accounts').values({ user_id: person.id, deleted_at: now }).execute();
    const conversations = await db
      .selectFrom('participants')
      .select(['user_id', 'conversation_id'])
      .where('user_id', '=', person.id)
      .execute();
    await db.insertInto('past_participants').values(conversations).execute();
    await db.deleteFrom('users').where('id', '=', person.id).execute();
    await purgeJob().run();
    expect(holding(await dump('entries'), messages)).toHaveLength(3);
    now += settleAfter;
    await purgeJob().run();
    now -= settleAfter;
    expect(holding(await dump('entries'), messages)).toEqual([]);
  });

  it('runs when a relay starts', async () => {
    const dataDir = await temporaryFolder();
    const first = await startTestRelay({ dataDir, clock: () => now });
    const person = await signUp(first);
    await deleteAccount(person);
    await first.close();
    const second = await startTestRelay({ dataDir, clock: () => now + purgeAfter });
    // Closing waits for the run that starting began.
    await second.close();
    const third = await startTestRelay({ dataDir, clock: () => now + purgeAfter });
    const left = await third.relay.database.db.selectFrom('deleted_accounts').select('user_id').execute();
    await third.close();
    expect(left).toEqual([]);
    expect(second.logLines.join('')).toContain('deleted accounts purged');
    expect([...first.logLines, ...second.logLines].join('')).not.toContain(person.id);
    await rm(dataDir, { recursive: true });
  });

  it('goes through long conversations in parts, and loses no entry of others', async () => {
    const person = await signUpOnDevice(relay);
    await befriend(person, friend);
    const groupId = await createGroup(friend);
    await addMember(friend, groupId, person, commitBody(0));
    const { db } = relay.relay.database;
    const conversationId = `group:${groupId}`;
    const entry = (seq: number, sender: PersonOnDevice) => ({
      conversation_id: conversationId,
      seq,
      id: randomUUID(),
      kind: 'application' as const,
      epoch: 1,
      sender_id: sender.id,
      sender_device_id: sender.deviceId,
      content: Buffer.from('content'),
      created_at: now,
    });
    const entries = Array.from({ length: 900 }, (_, index) =>
      entry(index + 2, index % 2 === 0 ? person : friend),
    );
    await db.insertInto('entries').values(entries).execute();
    await deleteAccount(person);
    const contents = () =>
      db
        .selectFrom('entries')
        .select(['sender_id', 'content'])
        .where('conversation_id', '=', conversationId)
        .where('kind', '=', 'application')
        .execute();
    const emptied = await contents();
    expect(emptied.filter(({ content }) => content.length === 0)).toHaveLength(450);
    expect(emptied.every(({ sender_id: id, content }) => (id === person.id) === (content.length === 0))).toBe(
      true,
    );
    now += purgeAfter;
    await purgeJob().run();
    now -= purgeAfter;
    const purged = await contents();
    expect(purged.filter(({ sender_id: id }) => id === nobody)).toHaveLength(450);
    expect(purged.filter(({ sender_id: id }) => id === friend.id)).toHaveLength(450);
  });
});
