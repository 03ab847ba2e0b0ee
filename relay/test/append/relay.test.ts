import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId, groupConversationId, type SentMessage } from '../../contract/index.ts';
import type { AppendOutcome, NewEntry } from '../../src/messaging/append/append.ts';
import { type Appender, createAppender } from '../../src/messaging/append/appender.ts';
import { entriesAtOnce } from '../../src/repositories/entriesAtOnce.ts';
import {
  base64Url,
  befriend,
  call,
  logIn,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import {
  addMember,
  commitBody,
  createGroup,
  groupLog,
  log,
  messageBody,
  send,
  seqs,
  submitCommit,
} from '../http/conversation.ts';

// Appends batches in one transaction of the real database, on SQLite or PostgreSQL.

let relay: TestRelay;
let appender: Appender;
let now: number;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay({ clock: () => now });
  appender = await createAppender(relay.relay.database);
});
afterAll(() => relay.close());
beforeEach(async () => {
  now = Date.now();
  [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(aino, eero);
  await submitCommit(aino, directConversationId(aino.id, eero.id), commitBody(0));
});

/** The session of a person's token. */
function sessionOf({ token }: Person): string {
  const [, claims = ''] = token.split('.');
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sid: string }).sid;
}

const message = (from: Person, to: { id: string }, changes: Partial<NewEntry> = {}): NewEntry => ({
  conversationId: directConversationId(from.id, to.id),
  recipientId: to.id,
  messageId: randomUUID(),
  epoch: 1,
  content: base64Url(300),
  senderId: from.id,
  sessionId: sessionOf(from),
  start: null,
  ...changes,
});

const toGroup = (from: Person, groupId: string): NewEntry =>
  message(from, from, { conversationId: groupConversationId(groupId), recipientId: null });

const append = (...batch: NewEntry[]) => appender.append(batch, now);

const summary = (outcomes: readonly AppendOutcome[]) =>
  outcomes.map((outcome) => (outcome.type === 'appended' ? outcome.seq : outcome.code));

const refused = (code: string) => ({ type: 'refused', code });

describe('a batch of messages', () => {
  it('is numbered in its order, without gaps, and names the people to deliver to', async () => {
    const batch = [message(aino, eero), message(eero, aino), message(aino, eero)];
    const outcomes = await append(...batch);
    expect(outcomes).toEqual(
      [aino, eero, aino].map((sender, index) => ({
        type: 'appended',
        seq: index + 2,
        epoch: 1,
        createdAt: now,
        delivery: {
          senderDeviceId: sender.deviceId,
          userIds: sender === aino ? [aino.id, eero.id] : [eero.id, aino.id],
        },
      })),
    );
    const [, ...entries] = await log(eero, aino);
    expect(entries.map(({ id, seq, content }) => [id, seq, content])).toEqual(
      batch.map(({ messageId, content }, index) => [messageId, index + 2, content]),
    );
  });

  it('loses nothing, and no position, by one that is refused', async () => {
    const stranger = await signUpOnDevice(relay);
    const batch = [
      message(aino, eero),
      message(aino, stranger),
      message(aino, eero, { epoch: 7 }),
      message(aino, { id: randomUUID() }),
      message(stranger, eero),
      message(aino, eero),
    ];
    expect(summary(await append(...batch))).toEqual([
      2,
      'not-a-contact',
      'stale-epoch',
      'no-such-person',
      'not-a-contact',
      3,
    ]);
    expect(seqs(await log(aino, eero))).toEqual([1, 2, 3]);
  });

  it('stores and delivers a message once that is in it twice', async () => {
    const twice = message(aino, eero);
    const outcomes = await append(twice, message(eero, aino), twice);
    expect(summary(outcomes)).toEqual([2, 3, 2]);
    expect(outcomes[2]).toMatchObject({ epoch: 1, createdAt: now, delivery: null });
    expect(seqs(await log(aino, eero))).toEqual([1, 2, 3]);
  });

  it('gives an id that two use to the first of them that may be stored', async () => {
    const { messageId } = message(aino, eero);
    const outcomes = await append(
      message(aino, eero, { messageId, epoch: 7 }),
      message(eero, aino, { messageId }),
      message(aino, eero, { messageId }),
    );
    expect(summary(outcomes)).toEqual(['stale-epoch', 2, 'message-id-taken']);
  });

  it('finds each repeat in it, however many messages it has', async () => {
    const before = Array.from({ length: 3 * entriesAtOnce }, () => message(aino, eero));
    await append(...before);
    const batch = before.flatMap((repeat) => [message(eero, aino), repeat, message(aino, eero)]);
    const outcomes = await append(...batch, message(aino, eero));
    const repeats = outcomes.filter((_, index) => index % 3 === 1);
    expect(summary(repeats)).toEqual(before.map((_, index) => index + 2));
    expect(repeats).toEqual(repeats.map((repeat) => ({ ...repeat, delivery: null })));
    expect((await log(aino, eero)).at(-1)?.seq).toBe(1 + 9 * entriesAtOnce + 1);
  });

  it('answers a repeat of what was stored before, whatever has changed since', async () => {
    const first = message(aino, eero);
    await append(first);
    await submitCommit(eero, directConversationId(aino.id, eero.id), commitBody(1));
    await eero.call('DELETE', `/contacts/${aino.id}`);
    expect(await append(first, message(aino, eero, { epoch: 2 }))).toEqual([
      { type: 'appended', seq: 2, epoch: 1, createdAt: now, delivery: null },
      refused('not-a-contact'),
    ]);
  });

  it('names the current epoch to what is late, and 0 where no conversation has been started', async () => {
    const stranger = await signUpOnDevice(relay);
    await befriend(aino, stranger);
    await submitCommit(eero, directConversationId(aino.id, eero.id), commitBody(1));
    expect(await append(message(aino, eero), message(aino, stranger))).toEqual([
      { ...refused('stale-epoch'), epoch: 2 },
      { ...refused('stale-epoch'), epoch: 0 },
    ]);
  });

  it('leaves one notification for each sender', async () => {
    await append(message(aino, eero), message(aino, eero), message(eero, aino));
    const { body } = await eero.call<{ type: string; senderId: string }[]>('GET', '/notifications');
    expect(body.filter(({ type }) => type === 'message')).toHaveLength(1);
  });
});

describe('the session of a message', () => {
  it('that has ended, has no device or is none of the sender stores nothing', async () => {
    const second = await logIn(relay, aino);
    const loggedOut = await logIn(relay, aino);
    await loggedOut.call('POST', '/logout');
    const outcomes = await append(
      message(loggedOut, eero),
      message(second, eero),
      message(aino, eero, { sessionId: sessionOf(eero) }),
      message(aino, eero),
    );
    expect(summary(outcomes)).toEqual(['session-expired', 'device-required', 'session-expired', 2]);
  });

  it('that has only proven the recovery key stores nothing', async () => {
    const recoveryAuthKey = base64Url(32);
    const wraps = { passwordWrap: base64Url(73), recoveryWrap: base64Url(73) };
    await aino.call('PUT', '/vault', { version: 0, sealedVault: base64Url(145), ...wraps, recoveryAuthKey });
    const body = { email: aino.email, recoveryAuthKey };
    const answer = await call<{ access_token: string }>(relay, 'POST', '/recovery', { body });
    const recovering = { ...aino, token: answer.body.access_token };
    expect(await append(message(recovering, eero))).toEqual([refused('recovery-session')]);
  });

  it("has its device's last_seen_at moved by what it sends", async () => {
    const lastSeen = async () => {
      const { body } = await eero.call<{ id: string }[]>('GET', '/conversations');
      expect(body).toHaveLength(1);
      const rows = await relay.relay.database.db
        .selectFrom('devices')
        .select('last_seen_at')
        .where('id', '=', aino.deviceId)
        .execute();
      return rows[0]?.last_seen_at;
    };
    const signedUp = await lastSeen();
    now += 4 * 60 * 1000;
    await append(message(aino, eero));
    expect(await lastSeen()).toBe(signedUp);
    now += 2 * 60 * 1000;
    await append(message(aino, eero));
    expect(await lastSeen()).toBe(now);
  });
});

describe('the log of a group', () => {
  it('takes messages of its members, and none of anybody else', async () => {
    const groupId = await createGroup(aino);
    const welcomes = [{ deviceIds: [eero.deviceId], welcome: base64Url(100) }];
    await addMember(aino, groupId, eero, commitBody(0, welcomes));
    const stranger = await signUpOnDevice(relay);
    const outcomes = await append(
      toGroup(aino, groupId),
      toGroup(stranger, groupId),
      toGroup(eero, groupId),
      toGroup(aino, randomUUID()),
    );
    expect(summary(outcomes)).toEqual([2, 'no-such-conversation', 3, 'no-such-conversation']);
    const recipients = outcomes.map((outcome) =>
      outcome.type === 'appended' ? outcome.delivery?.userIds : null,
    );
    expect(recipients[0]?.toSorted()).toEqual([aino.id, eero.id].toSorted());
    expect(seqs(await groupLog(aino, groupId))).toEqual([1, 2, 3]);
  });
});

it('messages of both sides and a commit at once get positions without gaps or duplicates', async () => {
  const conversationId = directConversationId(aino.id, eero.id);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_none, index) => {
      const [from, to] = index % 2 === 0 ? [aino, eero] : [eero, aino];
      if (index === 30) return submitCommit(from, conversationId, commitBody(1));
      return send(from, to, messageBody(1));
    }),
  );
  const stored = answers
    .filter(({ status }) => status === 201)
    .map(({ body }: { body: SentMessage }) => body.seq);
  const expected = Array.from({ length: stored.length }, (_none, index) => index + 2);
  expect(stored.toSorted((a, b) => a - b)).toEqual(expected);
  expect(seqs(await log(aino, eero, '?limit=200'))).toEqual([1, ...expected]);
});

it('content whose last character has bits without meaning is delivered as the log returns it', async () => {
  const delivered: unknown[] = [];
  const stop = relay.relay.services.hub.subscribe(`user/${eero.id}/messages`, (payload) =>
    delivered.push((JSON.parse(payload) as { content: string }).content),
  );
  // The bytes ff and ff ff, with all bits set that they leave over; and three bytes, which leave none.
  for (const content of ['__', '____', '___']) await send(aino, eero, { ...messageBody(1), content });
  stop();
  const [, ...entries] = await log(eero, aino);
  expect(delivered).toEqual(['_w', '____', '__8']);
  expect(entries.map(({ content }) => content)).toEqual(delivered);
});
