import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId, limits, selfConversationId } from '../../contract/index.ts';
import { declineLifetime, declinesTaken } from '../../src/contacts/contacts.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import { createRetentionJob, keptAtLeast } from '../../src/jobs/retention.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { personQuotas } from '../../src/personQuotas.ts';
import { entriesAt } from '../../src/repositories/entries.ts';
import { emptyLog } from '../../src/repositories/retention.ts';
import {
  base64Url,
  befriend,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import {
  addMember,
  commitBody,
  createGroup,
  messageBody,
  putReceipt,
  receiptBody,
  send,
  submitCommit,
} from './conversation.ts';

const MiB = 1024 * 1024;

let relay: TestRelay;
let now: number;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
let conversationId: string;

beforeEach(async () => {
  now = Date.now();
  relay = await startTestRelay({ clock: () => now, environment: { RATE_LIMITS: 'off' } });
  [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(aino, eero);
  conversationId = directConversationId(aino.id, eero.id);
});
afterEach(() => relay.close());

const db = () => relay.relay.database.db;
const full = (quota: string) => ({ status: 413, body: { code: 'quota', quota } });

const storedBytes = async ({ id } = aino) => {
  const row = await db()
    .selectFrom('stored_bytes')
    .select('bytes')
    .where('user_id', '=', id)
    .executeTakeFirst();
  return row?.bytes ?? 0;
};
/** Has somebody have stored so much that this is left. */
const leave = async (bytes: number, { id } = aino) => {
  await db()
    .updateTable('stored_bytes')
    .set({ bytes: personQuotas.storedBytesPerUser - bytes })
    .where('user_id', '=', id)
    .execute();
};
/** Has somebody have added so many entries today that this many are left. */
const leaveToday = async (entries: number, { id } = aino) => {
  await db()
    .updateTable('stored_bytes')
    .set({ entries: personQuotas.entriesADay - entries })
    .where('user_id', '=', id)
    .execute();
};
const contentBytes = async () => {
  const rows = await db().selectFrom('entries').select('content').execute();
  return rows.reduce((sum, { content }) => sum + content.length, 0);
};

describe('messages', () => {
  it('of one new account leave no more than its quota, by messages and commits alike, however fast they come', async () => {
    await submitCommit(aino, conversationId, commitBody(0));
    await leave(2 * MiB);
    const before = await contentBytes();
    const large = () => ({ ...messageBody(1), content: base64Url(limits.contentMax) });
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(aino, eero, large())));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(16);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(answer).toMatchObject(full('messages'));
    const commit = { ...commitBody(1), commit: base64Url(1.5 * MiB) };
    expect(await submitCommit(aino, conversationId, commit)).toMatchObject(full('messages'));
    expect((await contentBytes()) - before).toBe(2 * MiB);
    // The log has no gap, and goes on where there is room.
    await leave(MiB);
    expect((await send(aino, eero, messageBody(1))).body).toMatchObject({ seq: 18 });
    expect((await send(eero, aino, messageBody(1))).body).not.toMatchObject({ code: 'quota' });
  });

  it('to own devices, which acknowledge none, leave room for those to others', async () => {
    for (const id of [conversationId, selfConversationId(aino.id)])
      await submitCommit(aino, id, commitBody(0));
    await leave(personQuotas.storedBytesPerUser - personQuotas.storedBytesForOwnDevices + 300);
    const toBoth = () => Promise.all([eero, aino].map((to) => send(aino, to, messageBody(1))));
    expect((await send(aino, aino, messageBody(1))).status).toBe(201);
    for (let time = 0; time < 2; time += 1)
      expect(await toBoth()).toMatchObject([{ status: 201 }, full('messages')]);
  });

  it('count those that were stored, and no others', async () => {
    await submitCommit(aino, conversationId, commitBody(0));
    expect(await storedBytes()).toBe(500);
    await send(aino, eero, messageBody(1));
    await send(aino, eero, messageBody(7));
    await send(aino, { id: randomUUID() }, messageBody(1));
    await submitCommit(aino, conversationId, commitBody(7));
    const message = messageBody(1);
    for (let time = 0; time < 3; time += 1) await send(aino, eero, message);
    expect(await storedBytes()).toBe(1100);
    const counted = await db()
      .selectFrom('stored_bytes')
      .select('entries')
      .where('user_id', '=', aino.id)
      .execute();
    expect(counted).toEqual([{ entries: 3 }]);
    expect(await storedBytes(eero)).toBe(0);
  });

  it('are as many in a day as its quota says, with commits, however small, and more on the next', async () => {
    await submitCommit(aino, conversationId, commitBody(0));
    await leaveToday(3);
    const messages = Array.from({ length: 8 }, () => messageBody(1));
    const answers = await Promise.all(messages.map((message) => send(aino, eero, message)));
    const taken = messages.filter((_, index) => answers[index]?.status === 201);
    expect(taken).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(answer).toMatchObject(full('entries'));
    expect(await submitCommit(aino, conversationId, commitBody(1))).toMatchObject(full('entries'));
    // A refused one took no place, and a repeat of one that was taken needs none.
    expect(await storedBytes()).toBe(500 + 3 * 300);
    for (const message of taken) expect((await send(aino, eero, message)).status).toBe(201);
    // Somebody else's day is somebody else's.
    expect((await send(eero, aino, messageBody(1))).body).toMatchObject({ seq: 5 });
    now += 24 * 60 * 60 * 1000;
    expect((await send(aino, eero, messageBody(1))).status).toBe(201);
    expect((await submitCommit(aino, conversationId, commitBody(1))).status).toBe(201);
    const row = await db().selectFrom('stored_bytes').selectAll().where('user_id', '=', aino.id).execute();
    expect(row).toMatchObject([{ entries: 2 }]);
  });

  it('to own devices leave room in a day for those to others', async () => {
    for (const id of [conversationId, selfConversationId(aino.id)])
      await submitCommit(aino, id, commitBody(0));
    await leaveToday(personQuotas.entriesADay - personQuotas.entriesADayForOwnDevices + 1);
    const toBoth = () => Promise.all([eero, aino].map((to) => send(aino, to, messageBody(1))));
    expect((await send(aino, aino, messageBody(1))).status).toBe(201);
    for (let time = 0; time < 2; time += 1)
      expect(await toBoth()).toMatchObject([{ status: 201 }, full('entries')]);
  });

  it('have room again once they were received, or their group is deleted', async () => {
    await submitCommit(aino, conversationId, commitBody(0));
    await send(aino, eero, messageBody(1));
    await send(eero, aino, messageBody(1));
    const groupId = await createGroup(aino);
    await addMember(aino, groupId, eero, commitBody(0));
    await eero.call('POST', `/messages/group/${groupId}`, messageBody(1));
    expect([await storedBytes(), await storedBytes(eero)]).toEqual([1300, 600]);
    now += keptAtLeast;
    for (const device of [aino, eero])
      await putReceipt(device, conversationId, receiptBody(device, conversationId, 3));
    await createRetentionJob({
      database: relay.relay.database,
      retention: { days: 90, historyDays: null },
      clock: () => now,
      metrics: new Metrics(),
      log: relay.relay.app.log,
    }).run();
    expect([await storedBytes(), await storedBytes(eero)]).toEqual([500, 300]);
    await aino.call('DELETE', `/group/${groupId}`);
    expect([await storedBytes(), await storedBytes(eero)]).toEqual([0, 0]);
  });

  it('that two relays empty at once have room for them once', async () => {
    await submitCommit(aino, conversationId, commitBody(0));
    await send(aino, eero, messageBody(1));
    const entries = await entriesAt(db(), conversationId, [1]);
    for (const _relay of [1, 2]) await emptyLog(db(), { conversationId, entries, upTo: 1 }, false);
    expect(await storedBytes()).toBe(300);
  });
});

describe('what comes with commits', () => {
  it('Welcomes that wait have a quota, and room again once they are fetched', async () => {
    const welcome = (size: number) => [{ deviceIds: [eero.deviceId], welcome: base64Url(size) }];
    await submitCommit(aino, conversationId, commitBody(0, welcome(MiB)));
    await db()
      .updateTable('welcomes')
      .set({ content: Buffer.alloc(personQuotas.welcomeBytesPerUser - MiB) })
      .execute();
    expect(await submitCommit(aino, conversationId, commitBody(1, welcome(MiB + 1)))).toMatchObject(
      full('welcomes'),
    );
    expect((await submitCommit(aino, conversationId, commitBody(1, welcome(MiB)))).status).toBe(201);
    // Somebody else's are somebody else's.
    expect((await submitCommit(eero, conversationId, commitBody(2))).status).toBe(201);
    for (const { id } of await db().selectFrom('welcome_deliveries').select('id').execute())
      await eero.call('DELETE', `/welcomes/${id}`);
    expect((await submitCommit(aino, conversationId, commitBody(3, welcome(MiB + 1)))).status).toBe(201);
  });

  it('GroupInfos have a quota over all groups of one creator, whoever makes them', async () => {
    const [one, other] = [await createGroup(aino), await createGroup(aino)];
    for (const groupId of [one, other]) await addMember(aino, groupId, eero, commitBody(0));
    await db()
      .updateTable('conversations')
      .set({ group_info: Buffer.alloc(personQuotas.groupInfoBytesPerUser - MiB) })
      .where('id', '=', `group:${one}`)
      .execute();
    const commit = (size: number) => ({ ...commitBody(1), groupInfo: base64Url(size) });
    expect(await submitCommit(eero, `group:${other}`, commit(MiB + 1))).toMatchObject(full('group-infos'));
    expect((await submitCommit(eero, `group:${other}`, commit(MiB))).status).toBe(201);
    const eeros = await createGroup(eero);
    expect((await submitCommit(eero, `group:${eeros}`, { ...commit(MiB + 1), epoch: 0 })).status).toBe(201);
    // Where others have made them too large, one that gets no larger is taken: somebody may have to be removed.
    await db()
      .updateTable('conversations')
      .set({ group_info: Buffer.alloc(personQuotas.groupInfoBytesPerUser) })
      .where('id', '=', `group:${one}`)
      .execute();
    const next = (size: number) => submitCommit(aino, `group:${other}`, { ...commit(size), epoch: 2 });
    expect(await next(MiB + 1)).toMatchObject(full('group-infos'));
    expect((await next(MiB)).status).toBe(201);
  });
});

describe('what else is kept of one person', () => {
  it('KeyPackages have a quota over all devices', async () => {
    const publish = (device: PersonOnDevice) =>
      device.call('POST', '/key-packages', { keyPackages: [base64Url(MiB / 100)] });
    expect((await publish(aino)).status).toBe(201);
    await db()
      .updateTable('key_packages')
      .set({ content: Buffer.alloc(personQuotas.keyPackageBytesPerUser) })
      .execute();
    expect(await publish(aino)).toMatchObject(full('key-packages'));
    expect((await publish(eero)).status).toBe(201);
  });

  it('copies have a quota', async () => {
    const put = () =>
      aino.call('PUT', '/history', {
        items: [{ id: randomUUID(), conversationId, sealed: base64Url(300) }],
      });
    expect((await put()).status).toBe(200);
    await db().updateTable('history_totals').set({ bytes: limits.historyBytesPerUser }).execute();
    expect(await put()).toMatchObject(full('history'));
  });

  it('nobody is put into more groups than one can be in', async () => {
    const ids = Array.from({ length: limits.groupsPerUser }, () => randomUUID());
    const groupInfo = { group_info: Buffer.alloc(0), created_at: now, last_seq: 0, epoch: 0 };
    for (const id of ids) {
      await db()
        .insertInto('conversations')
        .values({ id: `group:${id}`, ...groupInfo })
        .execute();
      const group = { creator_id: null, sealed_name: Buffer.alloc(0), name_epoch: 0, created_at: now };
      await db()
        .insertInto('groups')
        .values({ id, conversation_id: `group:${id}`, ...group })
        .execute();
      await db()
        .insertInto('participants')
        .values({ conversation_id: `group:${id}`, user_id: eero.id, read_seq: 0 })
        .execute();
    }
    const groupId = await createGroup(aino);
    expect(await addMember(aino, groupId, eero, commitBody(0))).toMatchObject(full('groups'));
    await eero.call('DELETE', `/group/${ids[0]}/leave`, { statement: base64Url(120) });
    expect((await addMember(aino, groupId, eero, commitBody(0))).status).toBe(201);
  });

  it('pending requests have a quota for who sends them and for who gets them', async () => {
    const person = await signUpOnDevice(relay);
    const template = await db()
      .selectFrom('users')
      .selectAll()
      .where('id', '=', person.id)
      .executeTakeFirstOrThrow();
    const ids = Array.from({ length: personQuotas.requestsReceivedPerUser }, () => randomUUID());
    for (const id of ids) {
      const name = { username: id, username_key: id, username_skeleton: id, email: id, email_key: id };
      await db()
        .insertInto('users')
        .values({ ...template, id, ...name })
        .execute();
    }
    const pending = (from: string, to: string) =>
      db()
        .insertInto('contact_requests')
        .values({ id: randomUUID(), from_user_id: from, to_user_id: to, created_at: now })
        .execute();
    for (const id of ids) await pending(id, person.id);
    for (const id of ids.slice(0, personQuotas.requestsSentPerUser)) await pending(eero.id, id);
    const [first = '', last = ''] = [ids[0], ids.at(-1)];
    expect(await eero.call('POST', `/contacts/request/${last}`)).toMatchObject(full('requests'));
    expect(await aino.call('POST', `/contacts/request/${person.id}`)).toMatchObject(full('requests'));
    expect((await aino.call('POST', `/contacts/request/${first}`)).status).toBe(201);
    await db().deleteFrom('contact_requests').where('to_user_id', '=', first).execute();
    expect((await eero.call('POST', `/contacts/request/${last}`)).status).toBe(201);
  });
});

describe('a request that was declined', () => {
  const ask = (from: PersonOnDevice, to: PersonOnDevice) =>
    from.call<{ id: string; status: string }>('POST', `/contacts/request/${to.id}`);

  it('comes again twice, and then not for a month, unless who declined asks', async () => {
    const mette = await signUpOnDevice(relay);
    for (let time = 0; time < declinesTaken; time += 1) {
      const { id } = (await ask(mette, aino)).body;
      expect((await aino.call('POST', `/contacts/reject/${id}`)).status).toBe(204);
    }
    for (let time = 0; time < 15; time += 1) {
      const answer = await ask(mette, aino);
      expect(answer).toMatchObject(full('requests'));
      expect(answer.headers.get('retry-after')).toBe(String(declineLifetime / 1000));
    }
    expect((await mette.call<unknown[]>('GET', '/contacts/sent-requests')).body).toEqual([]);
    expect((await aino.call<unknown[]>('GET', '/contacts/requests')).body).toEqual([]);
    expect((await ask(mette, eero)).status).toBe(201);
    expect((await ask(aino, mette)).body).toMatchObject({ status: 'pending' });
    expect((await ask(mette, aino)).body).toMatchObject({ status: 'accepted' });
  });

  it('may come again after that, and is forgotten', async () => {
    const mette = await signUpOnDevice(relay);
    const { id } = (await ask(mette, aino)).body;
    await aino.call('POST', `/contacts/reject/${id}`);
    const purge = () => createPurgeJob({ db: db(), clock: () => now, log: relay.relay.app.log }).run();
    const remembered = () => db().selectFrom('declined_requests').selectAll().execute();
    now += declineLifetime - 1;
    await purge();
    expect(await remembered()).toHaveLength(1);
    now += 1;
    await purge();
    expect(await remembered()).toEqual([]);
  });
});
