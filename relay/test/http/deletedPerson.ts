import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { directConversationId } from '../../contract/index.ts';
import { createPurgeJob } from '../../src/jobs/purge.ts';
import { createRetentionJob } from '../../src/jobs/retention.ts';
import { unnamedFor } from '../../src/messaging/trees.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { revocationOf, signedSegments } from '../devices.ts';
import {
  base64Url,
  befriend,
  onAnotherDevice,
  type Person,
  type PersonOnDevice,
  signUp,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { putNodes, testTree } from '../trees.ts';
import {
  addMember,
  commitBody,
  createGroup,
  messageBody,
  putReceipt,
  receiptBody,
  send,
  sendToGroup,
  submitCommit,
} from './conversation.ts';
import { uploaded } from './uploads.ts';

/** For the file that calls {@link withDeletedPerson}: a relay with a clock of its own, and for each test a friend of whoever is deleted. */
export let relay: TestRelay;
export let friend: PersonOnDevice;
export let now = Date.parse('2026-03-01T12:00:00.000Z');

export function advance(milliseconds: number): void {
  now += milliseconds;
}

export function withDeletedPerson(): void {
  beforeAll(async () => {
    relay = await startTestRelay({
      clock: () => now,
      // No mail server is there: what is kept is what there is with one.
      environment: { SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'relay@example.org' },
    });
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    friend = await signUpOnDevice(relay);
  });
}

export const purgeJob = () =>
  createPurgeJob({ db: relay.relay.database.db, clock: () => now, log: relay.relay.app.log });
export const deleteAccount = (person: Person) => person.call('DELETE', '/user');

/** Has the friend take the devices of somebody who is gone out of their group, as clients do, and the relay forget them. */
export async function takeOut(groupId: string): Promise<void> {
  await submitCommit(friend, `group:${groupId}`, commitBody(1));
  advance(unnamedFor);
  await createRetentionJob({
    database: relay.relay.database,
    clock: () => now,
    log: relay.relay.app.log,
    retention: { days: 90, historyDays: null },
    metrics: new Metrics(),
  }).run();
  advance(-unnamedFor);
}

/** Every row of a table as text, bytes in base64url as the contract has them. */
export async function dump(table: string): Promise<string[]> {
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
export async function everywhere() {
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
  await person.call('PUT', `/blocks/${others.asked.id}`);
  const reported = { reason: 'other', text: `Words ${randomUUID()}`, messages: [] };
  await person.call('POST', '/reports', { user_id: others.asked.id, ...reported });
  await others.asking.call('POST', '/reports', { user_id: person.id, ...reported });

  const vault = { sealedVault: base64Url(200), passwordWrap: base64Url(73), recoveryWrap: base64Url(73) };
  await person.call('PUT', '/vault', { version: 0, ...vault, recoveryAuthKey: base64Url(32) });
  await person.call('PUT', '/vault', { version: 1, sealedVault: base64Url(200) });
  const segments = [base64Url(300)];
  const state = signedSegments(person, segments);
  await person.call('PUT', '/account-state', { version: 0, sealed: state, segments });
  const { nonce } = (await person.call<{ nonce: string }>('POST', '/proof-nonce')).body;
  const keyPackages = { keyPackages: [base64Url(300)], lastResort: base64Url(300) };
  await person.call('POST', '/key-packages', keyPackages);
  const statement = revocationOf(person, phone.deviceId);
  await person.call('DELETE', `/devices/${phone.deviceId}`, { statement });

  const direct = directConversationId(person.id, friend.id);
  const welcome = { deviceIds: [tablet.deviceId], welcome: base64Url(900) };
  await submitCommit(person, direct, commitBody(0, [welcome]));
  const message = messageBody(1);
  await send(person, friend, message);
  await send(friend, person, messageBody(1));
  const own = { id: await createGroup(person), commit: commitBody(0) };
  const tree = testTree(2);
  await putNodes(person, `group:${own.id}`, tree.nodes);
  await addMember(person, own.id, friend, { ...own.commit, treeHash: tree.treeHash });
  const [groupMessage, farewell] = [messageBody(1), messageBody(2)];
  await sendToGroup(person, own.id, groupMessage);
  const receipts = [direct, `group:${own.id}`].map((id) => [id, receiptBody(person, id, 1)] as const);
  for (const [id, receipt] of receipts) await putReceipt(person, id, receipt);
  // As the retention job leaves it, to which nothing here is old enough.
  await relay.relay.database.db
    .insertInto('emptied_logs')
    .values({ conversation_id: direct, seq: 0 })
    .execute();
  // As somebody is suspended whose sessions have not ended, which there is not: they could delete nothing.
  await relay.relay.database.db
    .insertInto('suspensions')
    .values({ user_id: person.id, suspended_at: now })
    .execute();
  const declined = await signUp(relay);
  await person.call('POST', `/contacts/request/${declined.id}`);
  const asked = (await declined.call<{ id: string }[]>('GET', '/contacts/requests')).body;
  await declined.call('POST', `/contacts/reject/${asked[0]?.id}`);
  const left = await createGroup(friend);
  await addMember(friend, left, person, commitBody(0));
  await addMember(friend, left, others.member, commitBody(1));
  await sendToGroup(person, left, farewell);
  const leaveStatement = base64Url(120);
  await person.call('DELETE', `/group/${left}/leave`, { statement: leaveStatement });
  const sealed = base64Url(300);
  await person.call('PUT', '/history', {
    items: [{ id: message.messageId, conversationId: direct, sealed }],
  });

  await person.call('PUT', '/users/me/asked-first', { asked_first: true });
  await friend.call('POST', `/group/${await createGroup(friend)}/invitations`, { user_ids: [person.id] });

  const newEmail = `${randomUUID()}@example.org`;
  await person.call('PUT', '/users/me', { username: person.username, email: newEmail });

  const blob = await uploaded(relay, person, 100);
  const ids = [person.id, person.deviceId, tablet.deviceId, phone.deviceId];
  return {
    person,
    tablet,
    others,
    direct,
    own,
    left,
    commits: [own.commit.commit],
    /** Everything in the database that is this person's; none of it could be there by chance. */
    markers: [
      ...ids,
      person.username,
      person.email,
      newEmail,
      person.salt,
      person.certificate,
      tablet.certificate,
      vault.sealedVault,
      vault.passwordWrap,
      vault.recoveryWrap,
      state,
      ...segments,
      nonce,
      ...keyPackages.keyPackages,
      keyPackages.lastResort,
      reported.text,
      statement,
      leaveStatement,
      message.content,
      groupMessage.content,
      farewell.content,
      own.commit.commit,
      ...tree.nodes.map((node) => node.toString('base64url')),
      Buffer.from(tree.treeHash, 'base64url').toString('hex'),
      sealed,
      ...receipts.flatMap(([, receipt]) => [receipt.sealed, receipt.signature]),
      welcome.welcome,
      blob,
    ],
    messages: [message.content, groupMessage.content, farewell.content],
    ids,
  };
}

export const holding = (rows: readonly string[], markers: readonly string[]) =>
  rows.filter((row) => markers.some((marker) => row.includes(marker)));
