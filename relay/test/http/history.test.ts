import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HistoryItem, limits, type StoredHistoryItem } from '../../contract/index.ts';
import { copiesSignature } from '../devices.ts';
import {
  base64Url,
  logIn,
  type Person,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';

let relay: TestRelay;
let person: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());
beforeEach(async () => {
  person = await signUpOnDevice(relay);
});

const item = (changes: Partial<HistoryItem> = {}): HistoryItem => ({
  id: randomUUID(),
  conversationId: `group:${randomUUID()}`,
  seq: 7,
  sealed: base64Url(300),
  ...changes,
});
const put = (owner: Person, items: HistoryItem[]) =>
  owner.call<{ stored: number; lastPosition: number }>('PUT', '/history', { items });
const read = async (owner: Person, query = '') =>
  (await owner.call<StoredHistoryItem[]>('GET', `/history${query}`)).body;

describe('sealed copies of messages', () => {
  it('come back in the order of storing, in pages, to any of the person’s sessions', async () => {
    const items = Array.from({ length: 5 }, () => item());
    expect(await put(person, items.slice(0, 3))).toMatchObject({ status: 200, body: { stored: 3 } });
    await put(person, items.slice(3));
    const session = await logIn(relay, person);
    expect(await read(session)).toEqual(items.map((one, index) => ({ ...one, position: index + 1 })));
    expect((await read(session, '?after=1&limit=2')).map(({ position }) => position)).toEqual([2, 3]);
    expect(await read(session, '?after=5')).toEqual([]);
  });

  it('are kept with a position in the log or without', async () => {
    const { seq: _seq, ...without } = item();
    await put(person, [without]);
    expect(await read(person)).toEqual([{ ...without, position: 1 }]);
  });

  it('are stored once for a message, as they were first', async () => {
    const [first, second] = [item(), item()];
    await put(person, [first]);
    const again = { ...first, sealed: base64Url(300) };
    expect((await put(person, [again, second, second])).body).toMatchObject({ stored: 1 });
    expect((await put(person, [again])).body).toMatchObject({ stored: 0 });
    expect(await read(person)).toEqual([
      { ...first, position: 1 },
      { ...second, position: 2 },
    ]);
  });

  it('take the place of others where the device has signed for it, and no token does', async () => {
    const [first, second] = [item(), item()];
    await put(person, [first, second]);
    const erased = { ...first, sealed: base64Url(60) };
    const replace = (owner: PersonOnDevice, items: HistoryItem[], signature: string) =>
      owner.call<{ stored: number; lastPosition: number }>('PUT', '/history', { items, replaces: signature });
    const signature = copiesSignature(person.token, person.deviceId, [erased]);
    expect(await replace(person, [second], signature)).toMatchObject({ status: 403 });
    expect(await replace(person, [erased], base64Url(64))).toMatchObject({ status: 403 });
    expect((await replace(person, [erased], signature)).body).toEqual({ stored: 1, lastPosition: 3 });
    expect(await read(person)).toEqual([
      { ...second, position: 2 },
      { ...erased, position: 3 },
    ]);
  });

  it('are answered with the position of the newest one, whoever stored it', async () => {
    const [first, second] = [item(), item()];
    expect((await put(person, [first, second])).body).toEqual({ stored: 2, lastPosition: 2 });
    expect((await put(person, [second])).body).toEqual({ stored: 0, lastPosition: 2 });
    const phone = await logIn(relay, person);
    await phone.call('DELETE', '/history');
    expect((await put(person, [item()])).body).toEqual({ stored: 1, lastPosition: 3 });
  });

  it('of one conversation can be deleted alone, and then make room', async () => {
    const conversationId = `group:${randomUUID()}`;
    const [left, kept] = [item({ conversationId }), item()];
    await put(person, [left, kept]);
    const other = await signUpOnDevice(relay);
    await put(other, [left]);
    expect((await person.call('DELETE', `/history?conversationId=${conversationId}`)).status).toBe(204);
    expect(await read(person)).toEqual([{ ...kept, position: 2 }]);
    expect(await read(other)).toHaveLength(1);
    expect((await person.call('DELETE', '/history?conversationId=everything')).status).toBe(422);
    expect(await read(person)).toHaveLength(1);
    const { bytes } = await relay.relay.database.db
      .selectFrom('history_totals')
      .select('bytes')
      .where('user_id', '=', person.id)
      .executeTakeFirstOrThrow();
    expect(bytes).toBe(300);
  });

  it('that arrive at once get one position each', async () => {
    const batches = Array.from({ length: 6 }, () => [item(), item()]);
    const answers = await Promise.all(batches.map((batch) => put(person, batch)));
    expect(answers.map(({ status }) => status)).toEqual(batches.map(() => 200));
    const positions = (await read(person)).map(({ position }) => position);
    expect(positions).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });

  it("are their person's alone, also under the same ids", async () => {
    const other = await signUpOnDevice(relay);
    const shared = item();
    await put(person, [shared]);
    expect(await read(other)).toEqual([]);
    const own = { ...shared, sealed: base64Url(200) };
    expect((await put(other, [own])).body).toMatchObject({ stored: 1 });
    await other.call('DELETE', '/history');
    expect(await read(person)).toEqual([{ ...shared, position: 1 }]);
  });

  it('are all deleted at once, and later ones come after them', async () => {
    await put(person, [item(), item()]);
    expect((await person.call('DELETE', '/history')).status).toBe(204);
    expect(await read(person)).toEqual([]);
    const later = item();
    await put(person, [later]);
    expect(await read(person, '?after=2')).toEqual([{ ...later, position: 3 }]);
  });

  it('of great size come in shorter pages, and all of them', async () => {
    const large = () => item({ sealed: base64Url(limits.historyItemMax) });
    for (let count = 0; count < 4; count++) {
      const batch = Array.from({ length: 20 }, large);
      expect((await put(person, batch)).status).toBe(200);
    }
    const positions: number[] = [];
    let pages = 0;
    for (;;) {
      const page = await read(person, `?after=${positions.at(-1) ?? 0}`);
      if (page.length === 0) break;
      pages++;
      positions.push(...page.map(({ position }) => position));
    }
    expect(positions).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    expect(pages).toBe(2);
  });

  it('stop at the limit, and then none of the batch is stored', async () => {
    await put(person, [item()]);
    const { db } = relay.relay.database;
    await db
      .updateTable('history_totals')
      .set({ bytes: limits.historyBytesPerUser - 300 })
      .where('user_id', '=', person.id)
      .execute();
    expect(await put(person, [item(), item()])).toMatchObject({
      status: 413,
      body: { code: 'quota', quota: 'history' },
    });
    expect(await read(person)).toHaveLength(1);
    expect((await put(person, [item()])).body).toMatchObject({ stored: 1 });
    await person.call('DELETE', '/history');
    expect((await put(person, [item(), item()])).body).toMatchObject({ stored: 2 });
  });

  it.each([
    ['no item', []],
    ['too many items', Array.from({ length: limits.historyItemsPerRequest + 1 }, () => item())],
    ['an item that is too large', [item({ sealed: base64Url(limits.historyItemMax + 1) })]],
    ['an item of no conversation', [item({ conversationId: 'nowhere' })]],
  ])('are refused: %s', async (_what, items) => {
    expect(await put(person, items)).toMatchObject({ status: 422, body: { code: 'invalid-request' } });
    expect(await read(person)).toEqual([]);
  });

  it.each(['?after=-1', '?after=x', '?limit=0', '?limit=201'])('are not listed by %s', async (query) => {
    expect(await person.call('GET', `/history${query}`)).toMatchObject({
      status: 422,
      body: { code: 'invalid-request' },
    });
  });
});
