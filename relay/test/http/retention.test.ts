import { stat } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directConversationId, type StoredHistoryItem, type WelcomeItem } from '../../contract/index.ts';
import { createRetentionJob, keptAtLeast } from '../../src/jobs/retention.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { revocationOf } from '../devices.ts';
import {
  base64Url,
  befriend,
  onAnotherDevice,
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
  putReceipt,
  receiptBody,
  send,
  sendToGroup,
  submitCommit,
} from './conversation.ts';

const day = 24 * 60 * 60 * 1000;

let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
let conversationId: string;
let now: number;
let metrics: Metrics;

beforeEach(async () => {
  now = Date.now();
  relay = await startTestRelay({ clock: () => now });
  metrics = new Metrics();
  [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(aino, eero);
  conversationId = directConversationId(aino.id, eero.id);
});
afterEach(() => relay.close());

/** Fewer days than a session lasts. */
const job = (retention = { days: 20, historyDays: null as number | null }, elapsed = () => now) =>
  createRetentionJob({
    database: relay.relay.database,
    clock: () => now,
    log: relay.relay.app.log,
    retention,
    metrics,
    elapsed,
  });

const start = () =>
  submitCommit(
    aino,
    conversationId,
    commitBody(0, [{ deviceIds: [eero.deviceId], welcome: base64Url(900) }]),
  );
const acknowledge = (device: PersonOnDevice, position: number, id = conversationId) =>
  putReceipt(device, id, receiptBody(device, id, position));
/** The positions that have content. */
const kept = async (person = aino, other = eero) =>
  (await log(person, other)).filter(({ content }) => content !== '').map(({ seq }) => seq);
const keptInGroup = async (groupId: string) =>
  (await groupLog(aino, groupId)).filter(({ content }) => content !== '').map(({ seq }) => seq);

describe('the content of an entry', () => {
  it('is deleted once every device that was there has acknowledged it, and not before', async () => {
    const tablet = await onAnotherDevice(relay, eero);
    await start();
    for (const from of [aino, eero, aino]) await send(from, from === aino ? eero : aino, messageBody(1));
    now += keptAtLeast;
    for (const [device, position] of [
      [aino, 4],
      [eero, 3],
    ] as const)
      await acknowledge(device, position);
    await job().run();
    expect(await kept()).toEqual([1, 2, 3, 4]);
    await acknowledge(tablet, 2);
    await job().run();
    expect(await kept()).toEqual([3, 4]);
    await acknowledge(tablet, 4);
    await job().run();
    expect(await kept()).toEqual([4]);
    await acknowledge(eero, 4);
    await job().run();
    expect(await kept()).toEqual([]);
    expect(await metrics.registry.metrics()).toContain('sinetti_retention_deleted_total{kind="entry"} 4');
  });

  it('is not too old because the clock is set ahead while the relay runs, but because the time has passed', async () => {
    await start();
    await send(aino, eero, messageBody(1));
    let passed = 0;
    const running = job({ days: 20, historyDays: null }, () => passed);
    await running.run();
    now += 25 * day;
    await running.run();
    expect(await kept()).toEqual([1, 2]);
    passed += 19 * day;
    await running.run();
    expect(await kept()).toEqual([]);
  });

  it('leaves its place, and the digest that it had', async () => {
    await start();
    await send(aino, eero, messageBody(1));
    const before = await log(eero, aino);
    const digests = `/conversations/${conversationId}/digests?after=0&before=9`;
    const digestsBefore = (await eero.call<{ seq: number; digest: string }[]>('GET', digests)).body;
    now += keptAtLeast;
    for (const device of [aino, eero]) await acknowledge(device, 2);
    await job().run();
    expect(await log(eero, aino)).toEqual(
      before.map((entry, index) => ({
        ...entry,
        content: '',
        digest: digestsBefore[index]?.digest,
        expired: true,
      })),
    );
    expect((await eero.call('GET', digests)).body).toEqual(digestsBefore);
    // The next message has the next position, and the same message again is none.
    const again = { ...messageBody(1), messageId: before[1]?.id ?? '' };
    expect((await send(aino, eero, again)).body).toMatchObject({ seq: 2 });
    expect((await send(aino, eero, messageBody(1))).body).toMatchObject({ seq: 3 });
  });

  it('is not kept for a device that came later, nor for one that is revoked', async () => {
    const tablet = await onAnotherDevice(relay, eero);
    await start();
    await send(aino, eero, messageBody(1));
    now += keptAtLeast;
    const phone = await onAnotherDevice(relay, eero);
    await send(aino, eero, messageBody(1));
    now += keptAtLeast;
    for (const device of [aino, eero]) await acknowledge(device, 3);
    await job().run();
    expect(await kept()).toEqual([1, 2, 3]);
    await eero.call('DELETE', `/devices/${tablet.deviceId}`, {
      statement: revocationOf(eero, tablet.deviceId),
    });
    await job().run();
    expect(await kept()).toEqual([3]);
    await acknowledge(phone, 3);
    await job().run();
    expect(await kept()).toEqual([]);
  });

  it('is kept for a device that came before by a clock that was some minutes ahead', async () => {
    await start();
    now += keptAtLeast;
    const phone = await onAnotherDevice(relay, eero);
    now -= 4 * 60 * 1000;
    await send(aino, eero, messageBody(1));
    now += keptAtLeast;
    for (const device of [aino, eero]) await acknowledge(device, 2);
    await job().run();
    expect(await kept()).toEqual([2]);
    await acknowledge(phone, 2);
    await job().run();
    expect(await kept()).toEqual([]);
  });

  it('is kept in a group for those who were members then', async () => {
    const groupId = await createGroup(aino);
    await addMember(aino, groupId, eero, commitBody(0));
    await sendToGroup(aino, groupId, messageBody(1));
    const late = await signUpOnDevice(relay);
    await befriend(aino, late);
    now += keptAtLeast;
    await addMember(aino, groupId, late, commitBody(1));
    now += keptAtLeast;
    const id = `group:${groupId}`;
    await acknowledge(aino, 3, id);
    await job().run();
    expect(await keptInGroup(groupId)).toEqual([1, 2, 3]);
    await acknowledge(eero, 3, id);
    await job().run();
    expect(await keptInGroup(groupId)).toEqual([3]);
    await late.call('DELETE', `/group/${groupId}/leave`, { statement: base64Url(120) });
    await job().run();
    expect(await keptInGroup(groupId)).toEqual([]);
  });

  it('is kept for ten minutes in any case', async () => {
    await start();
    for (const device of [aino, eero]) await acknowledge(device, 1);
    now += keptAtLeast - 1;
    await job().run();
    expect(await kept()).toEqual([1]);
    now += 1;
    await job().run();
    expect(await kept()).toEqual([]);
  });

  it('is deleted after the days that the operator has set, whoever has not read it', async () => {
    await start();
    await send(aino, eero, messageBody(1));
    now += day;
    await send(aino, eero, messageBody(1));
    now += 19 * day - 1;
    await job().run();
    expect(await kept()).toEqual([1, 2, 3]);
    now += 1;
    await job().run();
    expect(await kept()).toEqual([3]);
  });

  it('is deleted of more entries than one bite takes, and of large ones', async () => {
    await start();
    for (let count = 0; count < 120; count += 1) await send(aino, eero, messageBody(1));
    for (let epoch = 1; epoch < 4; epoch += 1)
      await submitCommit(aino, conversationId, { ...commitBody(epoch), commit: base64Url(700_000) });
    now += 20 * day;
    await job().run();
    expect(await kept()).toEqual([]);
    await job().run();
    expect(await metrics.registry.metrics()).toContain('sinetti_retention_deleted_total{kind="entry"} 124');
  });
});

describe('what else is kept', () => {
  it('loses Welcomes that nobody has fetched in that time', async () => {
    await start();
    const waiting = async () => (await eero.call<WelcomeItem[]>('GET', '/welcomes')).body.length;
    now += 20 * day - 1;
    await job().run();
    expect(await waiting()).toBe(1);
    now += 1;
    await job().run();
    expect(await waiting()).toBe(0);
  });

  it('loses sealed copies only where the operator has set an age, the oldest first', async () => {
    const put = (count: number) =>
      aino.call('PUT', '/history', {
        items: Array.from({ length: count }, () => ({
          id: crypto.randomUUID(),
          conversationId,
          sealed: base64Url(300),
        })),
      });
    const positions = async () =>
      (await aino.call<StoredHistoryItem[]>('GET', '/history')).body.map(({ position }) => position);
    await put(150);
    now += day;
    await put(2);
    now += 24 * day;
    await job().run();
    expect(await positions()).toHaveLength(152);
    await job({ days: 20, historyDays: 25 }).run();
    expect(await positions()).toEqual([151, 152]);
    const { bytes } = await relay.relay.database.db
      .selectFrom('history_totals')
      .select('bytes')
      .executeTakeFirstOrThrow();
    expect(bytes).toBe(600);
    await put(1);
    expect(await positions()).toEqual([151, 152, 153]);
  });

  it('is told to everybody who is signed in', async () => {
    expect((await aino.call('GET', '/storage')).body).toEqual({
      entryDays: 90,
      fewestEntryDays: 90,
      historyDays: null,
    });
    await relay.close();
    relay = await startTestRelay({ environment: { RETENTION_DAYS: '30', HISTORY_DAYS: '365' } });
    const person = await signUpOnDevice(relay);
    expect((await person.call('GET', '/storage')).body).toEqual({
      entryDays: 30,
      fewestEntryDays: 30,
      historyDays: 365,
    });
  });

  it('is told with the fewest days that held while anything that is younger than today’s days was there', async () => {
    const fewest = async () =>
      (await aino.call<{ fewestEntryDays: number }>('GET', '/storage')).body.fewestEntryDays;
    await job({ days: 20, historyDays: null }).run();
    await job({ days: 30, historyDays: null }).run();
    expect(await fewest()).toBe(20);
    // A session lasts for less than that, so that the rows are set back.
    const { db } = relay.relay.database;
    await db
      .updateTable('retention_days')
      .set({ used_at: now - 90 * day - 1 })
      .where('days', '=', 20)
      .execute();
    expect(await fewest()).toBe(30);
  });
});

// PostgreSQL's own vacuum does it there.
describe.each(process.env.TEST_DATABASE_URL === undefined ? ['SQLite'] : [])('the file of %s', () => {
  const size = async () => (await stat(path.join(relay.dataDir, 'relay.db'))).size;

  it('is smaller once its entries are empty, small messages and large commits', async () => {
    await start();
    for (let epoch = 1; epoch < 4; epoch += 1) {
      await submitCommit(aino, conversationId, { ...commitBody(epoch), commit: base64Url(500_000) });
      for (let count = 0; count < 80; count += 1)
        await send(aino, eero, { ...messageBody(epoch + 1), content: base64Url(3000) });
    }
    // As a relay that has stopped leaves it: one whole file.
    const { dataDir } = relay;
    await relay.relay.close();
    const full = await size();
    now += 90 * day;
    relay = await startTestRelay({ dataDir, clock: () => now });
    await job().run();
    await relay.relay.close();
    expect(full).toBeGreaterThan(2_200_000);
    expect(await size()).toBeLessThan(720_000);
  });
});
