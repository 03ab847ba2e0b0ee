import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId } from '../../contract/index.ts';
import { insertNews } from '../../src/repositories/operatorNews.ts';
import {
  base64Url,
  befriend,
  call,
  logIn,
  onAnotherDevice,
  type PersonOnDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import {
  addMember,
  commitBody,
  createGroup,
  log,
  messageBody,
  recordEvents,
  send,
  seqs,
  submitCommit,
} from '../http/conversation.ts';
import { createClients, disconnectReason } from '../mqtt/mqttClient.ts';
import { arriveAt } from '../presence/tab.ts';
import { proofKeyOf } from '../proofs.ts';
import { done, run } from './operator.ts';

let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
const recoveryAuthKey = base64Url(32);
const clients = createClients();
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());
beforeEach(async () => {
  aino = await signUpOnDevice(relay);
  eero = await signUpOnDevice(relay);
  await befriend(aino, eero);
  await submitCommit(aino, directConversationId(aino.id, eero.id), commitBody(0));
});
afterEach(() => clients.endAll());

const suspended = { status: 401, body: { code: 'account-suspended' } };
const logInBody = ({ username, password }: PersonOnDevice) => ({ body: { email: username, password } });
const suspend = (person: PersonOnDevice) => done(relay, 'people', 'suspend', person.username);
const restore = (person: PersonOnDevice) => done(relay, 'people', 'restore', person.username);

describe('sinetti-relay people list and show', () => {
  it('find people by the beginning of a username, by a whole email, and those who are suspended', async () => {
    const ids = async (...words: string[]) =>
      (await done<{ id: string }[]>(relay, 'people', 'list', ...words)).map(({ id }) => id);
    expect(await ids(aino.username.slice(0, 8))).toContain(aino.id);
    expect(await ids(aino.email.toUpperCase())).toEqual([aino.id]);
    expect(await ids('nobody-has-this')).toEqual([]);
    expect(await ids('--limit', '1')).toHaveLength(1);
    const [first, second] = await ids('--limit', '2');
    const { username } = await done<{ username: string }>(relay, 'people', 'show', first ?? '');
    expect(await ids('--after', username, '--limit', '1')).toEqual([second]);
    await suspend(aino);
    expect(await ids('--suspended')).toEqual([aino.id]);
    await restore(aino);
  });

  it('say how much there is of a person, named in any of three ways', async () => {
    await send(aino, eero, messageBody(1));
    for (const name of [aino.username, aino.email, aino.id]) {
      expect(await done(relay, 'people', 'show', name)).toMatchObject({
        id: aino.id,
        username: aino.username,
        suspended_at: null,
        usage: { devices: 1, sessions: 1, contacts: 1, groups: 0, messageBytes: expect.any(Number) },
      });
    }
  });
});

describe('a suspended person', () => {
  it('is out at once everywhere: calls, sockets and whatever they write', async () => {
    const tablet = await onAnotherDevice(relay, aino);
    const client = await clients.connect(relay.mqttUrl, aino);
    const reason = disconnectReason(client);
    const { tab } = await arriveAt(relay, tablet);
    await suspend(aino);
    for (const device of [aino, tablet]) {
      expect(await device.call('GET', '/profile')).toMatchObject(suspended);
      expect(await send(device, eero, messageBody(1))).toMatchObject(suspended);
    }
    expect(await reason).toBe(0x87);
    await tab.closed;
  });

  it('is out although the command has said something before that the relay does not know', async () => {
    const { db } = relay.relay.database;
    const sessions = db.selectFrom('sessions').select('id').where('user_id', '=', aino.id);
    const { id: sessionId } = await sessions.executeTakeFirstOrThrow();
    const reason = disconnectReason(await clients.connect(relay.mqttUrl, aino));
    const signal = { type: 'session-ended', sessionId, code: 'account-suspended' };
    const news = ['{', '{"signal":{"type":"news-of-later"}}', JSON.stringify({ signal })];
    await insertNews(db, news, Date.now());
    expect(await reason).toBe(0x87);
  });

  it('is told so by a log-in and a recovery that prove who they are, and strangers by none', async () => {
    const recovery = {
      recoveryWrap: base64Url(73),
      recoveryAuthKey,
      recoveryProofKey: proofKeyOf(recoveryAuthKey),
    };
    const vault = { version: 0, sealedVault: base64Url(145), passwordWrap: base64Url(73), ...recovery };
    expect((await aino.call('PUT', '/vault', vault)).status).toBe(200);
    await suspend(aino);
    const recover = (key: string) =>
      call(relay, 'POST', '/recovery', { body: { email: aino.email, recoveryAuthKey: key } });
    const guess = { body: { email: aino.username, password: base64Url(32) } };
    expect(await call(relay, 'POST', '/login', logInBody(aino))).toMatchObject(suspended);
    expect(await recover(recoveryAuthKey)).toMatchObject(suspended);
    for (const answer of [await call(relay, 'POST', '/login', guess), await recover(base64Url(32))]) {
      expect(answer).toMatchObject({ status: 401, body: { code: 'wrong-credentials' } });
    }
  });

  it('is seen, written to and added by others as before', async () => {
    const paths = ['/contacts', `/users/${aino.id}/devices`, `/users/search?q=${aino.username}`];
    const seen = async () =>
      (await Promise.all(paths.map((path) => eero.call('GET', path)))).map(({ body }) => body);
    const before = await seen();
    await suspend(aino);
    expect(before).toMatchObject([[{ id: aino.id }], [{ id: aino.deviceId }], [{ id: aino.id }]]);
    expect(await seen()).toEqual(before);
    expect(await send(eero, aino, messageBody(1))).toMatchObject({ status: 201 });
    const group = await createGroup(eero);
    expect(await addMember(eero, group, aino, commitBody(0))).toMatchObject({ status: 201 });
  });

  it('finds everything as it was, and what came meanwhile, once restored', async () => {
    await send(aino, eero, messageBody(1));
    await suspend(aino);
    await send(eero, aino, messageBody(1));
    await restore(aino);
    // A browser that comes only now is not told of what is over.
    expect(await aino.call('GET', '/profile')).toMatchObject({ body: { code: 'session-expired' } });
    const again = await logIn(relay, aino);
    const { deviceId, certificate } = aino;
    const resumed = await again.call('PUT', `/devices/${deviceId}`, { name: 'A browser', certificate });
    expect(resumed.status).toBe(200);
    expect(seqs(await log(again, eero))).toEqual([1, 2, 3]);
    expect((await again.call<{ id: string }[]>('GET', '/contacts')).body.map(({ id }) => id)).toEqual([
      eero.id,
    ]);
    const refused = await run(relay.environment, 'people', 'restore', aino.id);
    expect(refused).toEqual({ status: 1, out: '', err: `${aino.username} is not suspended.\n` });
  });
});

describe('sinetti-relay people end-sessions', () => {
  it('logs a person out everywhere, who can log in again', async () => {
    const client = await clients.connect(relay.mqttUrl, aino);
    const reason = disconnectReason(client);
    await onAnotherDevice(relay, aino);
    expect(await done(relay, 'people', 'end-sessions', aino.email)).toEqual({ id: aino.id, ended: 2 });
    expect(await reason).toBe(0x87);
    expect(await aino.call('GET', '/profile')).toMatchObject({ body: { code: 'session-expired' } });
    expect((await logIn(relay, aino)).id).toBe(aino.id);
    expect((await eero.call('GET', '/profile')).status).toBe(200);
  });
});

describe('sinetti-relay people delete', () => {
  it('asks for --yes, and then deletes as the person could, which contacts are told', async () => {
    const refused = await run(relay.environment, 'people', 'delete', aino.username);
    expect(refused).toMatchObject({ status: 1, out: '' });
    expect(refused.err).toBe(`Deleting ${aino.username} can't be undone. Add --yes to do it.\n`);
    expect((await aino.call('GET', '/profile')).status).toBe(200);

    await send(aino, eero, messageBody(1));
    const client = await clients.connect(relay.mqttUrl, aino);
    const reason = disconnectReason(client);
    const events = await recordEvents(relay, [eero], async () => {
      await done(relay, 'people', 'delete', aino.username, '--yes');
      await reason;
    });
    expect(events).toContainEqual([eero.id, { type: 'contacts', lists: ['contacts'] }]);
    expect((await eero.call('GET', '/contacts')).body).toEqual([]);
    expect((await log(eero, aino)).map(({ content }) => content === '')).toEqual([false, true]);
    expect((await signUp(relay, { username: aino.username, email: aino.email })).id).not.toBe(aino.id);
  });
});

describe('the database', () => {
  it('takes what the command does while the relay stores messages, and loses none of either', async () => {
    const others = new AbortController();
    let sent = 0;
    const writing = (async () => {
      while (!others.signal.aborted) {
        expect((await send(eero, aino, messageBody(1))).status).toBe(201);
        sent += 1;
      }
    })();
    for (let round = 0; round < 10; round += 1) {
      await suspend(aino);
      await restore(aino);
    }
    others.abort();
    await writing;
    expect(sent).toBeGreaterThan(0);
    const { last_seq: last } = await relay.relay.database.db
      .selectFrom('conversations')
      .select('last_seq')
      .where('id', '=', directConversationId(aino.id, eero.id))
      .executeTakeFirstOrThrow();
    expect(last).toBe(sent + 1);
    expect(
      await relay.relay.database.db.selectFrom('suspensions').select('user_id').execute(),
    ).not.toContainEqual({
      user_id: aino.id,
    });
  });
});
