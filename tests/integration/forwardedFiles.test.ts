import { describe, expect, it } from 'vitest';
import type { NewFile } from '#src/store/files.ts';
import { uploadsAtom } from '#src/store/files.ts';
import { befriend, type Tab, until, untilConnected } from './support/browser.ts';
import { annaAnd } from './support/people.ts';
import { bytesOfIndexedDb, findSecrets } from './support/scan.ts';
import { newBrowser, relay, withRelay } from './support/world.ts';

const bytesOf = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) % 251);
const bytes = bytesOf(1_100_000);
const waveform = Array.from({ length: 64 }, (_value, at) => at % 32);

const voice: NewFile = {
  source: new Blob([bytes]),
  facts: {
    name: 'hello.webm',
    type: 'audio/webm',
    kind: 'voice',
    description: 'Hello',
    duration: 4000,
    waveform,
  },
};

/** The messages with files of a chat. */
function withFiles(tab: Tab, key: string) {
  return tab.chat(key).messages.flatMap((message) => {
    const { content } = message;
    return content.kind === 'files' ? [{ message, content }] : [];
  });
}

async function read(tab: Tab, key: string): Promise<Buffer> {
  const found = withFiles(tab, key).at(-1);
  if (found === undefined) throw new Error('no file');
  const { conversationId, messageId } = found.message;
  const parts: Uint8Array[] = [];
  await (await tab.actions.files()).save(
    { conversationId, messageId, index: 0 },
    {
      write: async (piece) => void parts.push(new Uint8Array(piece as ArrayBuffer)),
      close: async () => undefined,
      abort: async () => undefined,
    },
  );
  return Buffer.concat(parts);
}

const blobsOf = (userId: string) =>
  relay.relay.database.db.selectFrom('blobs').select('id').where('user_id', '=', userId).execute();

/** Anna, whose file Ben has. */
async function createPlay(fetchOfBen: typeof fetch = fetch) {
  const [anna] = await annaAnd(newBrowser, [] as const);
  const browser = newBrowser({ fetch: fetchOfBen });
  const ben = await browser.openTab().signUp('ben');
  await untilConnected(anna, ben);
  await befriend(anna, ben);
  await anna.actions.openChat(ben.userId);
  await ben.actions.openChat(anna.userId);
  await (await anna.actions.files()).send(ben.userId, 'Listen to *this*', [voice]);
  await until(() => withFiles(ben, anna.userId).length, 1);
  const [got] = withFiles(ben, anna.userId);
  if (got === undefined) throw new Error('nothing came');
  return { anna, ben, browser, got };
}

describe('files that are passed on, between browsers and a real relay', () => {
  withRelay();

  it('arrive whole, each time under another key, with all that was said of them, and without their author', async () => {
    const { anna, ben, got } = await createPlay();
    const files = await ben.actions.files();
    await files.forward(anna.userId, got.message, got.content);
    const plain = { text: '*plain*' };
    await files.forward(ben.userId, got.message, plain);
    await until(() => ben.store.get(uploadsAtom), {});
    await until(() => withFiles(anna, ben.userId).length, 2);
    await ben.actions.openChat(ben.userId);
    await until(() => withFiles(ben, ben.userId).length, 1);
    for (const [tab, key, words] of [
      [anna, ben.userId, { text: 'Listen to *this*', isMarkdown: true }],
      [ben, ben.userId, plain],
    ] as const) {
      const passedOn = withFiles(tab, key).at(-1);
      expect(passedOn?.message).toMatchObject({ senderId: ben.userId, isForwarded: true });
      expect(passedOn?.content).toEqual({ kind: 'files', files: got.content.files, ...words });
      expect(Buffer.compare(await read(tab, key), bytes)).toBe(0);
    }
    expect([(await blobsOf(anna.userId)).length, (await blobsOf(ben.userId)).length]).toEqual([1, 2]);
    // They stay where the original goes.
    await anna.actions.changeMessage(ben.userId, { kind: 'deletion', of: got.message.messageId });
    await until(async () => (await blobsOf(anna.userId)).length, 0);
    expect(Buffer.compare(await read(anna, ben.userId), bytes)).toBe(0);
  });

  it('are not passed on once the relay no longer has them, and nothing is left of it', async () => {
    const { anna, ben, got } = await createPlay();
    await relay.relay.database.db.deleteFrom('blobs').where('user_id', '=', anna.userId).execute();
    const files = await ben.actions.files();
    await expect(files.forward(ben.userId, got.message, { text: '' })).rejects.toMatchObject({
      code: 'not-found',
      message: 'The server no longer has this file.',
    });
    expect(ben.store.get(uploadsAtom)).toEqual({});
    expect([await blobsOf(ben.userId), await ben.crypto.localEntries('upload:')]).toEqual([[], []]);
  });

  it('are not passed on once their message was deleted', async () => {
    const { anna, ben, got } = await createPlay();
    await anna.actions.changeMessage(ben.userId, { kind: 'deletion', of: got.message.messageId });
    await until(() => withFiles(ben, anna.userId).length, 0);
    const files = await ben.actions.files();
    await expect(files.forward(ben.userId, got.message, { text: '' })).rejects.toMatchObject({
      name: 'AppError',
    });
    expect(ben.store.get(uploadsAtom)).toEqual({});
  });

  it('are not passed on where the relay gives others in their place', async () => {
    let isExchanged = false;
    const { ben, got } = await createPlay(async (input, init) => {
      const answer = await fetch(input, init);
      if (!isExchanged || answer.status !== 206) return answer;
      const { headers, status } = answer;
      return new Response(new Uint8Array(await answer.arrayBuffer()).fill(7), { headers, status });
    });
    isExchanged = true;
    const files = await ben.actions.files();
    await files.forward(ben.userId, got.message, { text: '' });
    const failures = () => Object.values(ben.store.get(uploadsAtom)).map(({ failure }) => failure?.code);
    await until(failures, ['damaged-file']);
    expect(await blobsOf(ben.userId)).toEqual([]);
  });

  it('go on after a reload from wherever they were, and nothing of them is kept in the clear', async () => {
    let cutAfter = Infinity;
    let fetched = 0;
    const fetchUntilCut: typeof fetch = async (input, init) => {
      const isPiece = init?.method === 'GET' && JSON.stringify(init.headers ?? {}).includes('bytes=');
      if (isPiece && ++fetched > cutAfter) throw new TypeError('cut');
      return fetch(input, init);
    };
    const { anna, ben, browser, got } = await createPlay(fetchUntilCut);
    // It is there, and its first piece comes.
    cutAfter = fetched + 2;
    const files = await ben.actions.files();
    await files.forward(anna.userId, got.message, { text: got.content.text });
    await until(() => Object.values(ben.store.get(uploadsAtom)).map(({ isWaiting }) => isWaiting), [true]);
    const kept = await bytesOfIndexedDb(browser.indexedDB);
    expect(findSecrets(kept, [{ name: 'its beginning', bytes: bytes.subarray(0, 32) }])).toEqual([]);
    ben.kill();
    browser.locks.releaseAll();
    cutAfter = Infinity;
    const again = browser.openTab();
    await again.resume();
    await until(() => withFiles(anna, again.userId).length, 2);
    expect(Buffer.compare(await read(anna, again.userId), bytes)).toBe(0);
    await until(() => again.store.get(uploadsAtom), {});
    await until(async () => (await again.crypto.localEntries('upload:')).length, 0);
  });

  it('can be given up while they are fetched, and leave nothing behind', async () => {
    let isCut = false;
    const fetchUnlessCut: typeof fetch = async (input, init) => {
      if (isCut && JSON.stringify(init?.headers ?? {}).includes('bytes=524416-')) throw new TypeError('cut');
      return fetch(input, init);
    };
    const { anna, ben, browser, got } = await createPlay(fetchUnlessCut);
    isCut = true;
    const files = await ben.actions.files();
    await files.forward(anna.userId, got.message, { text: '' });
    await until(() => Object.values(ben.store.get(uploadsAtom)).map(({ isWaiting }) => isWaiting), [true]);
    const [messageId = ''] = Object.keys(ben.store.get(uploadsAtom));
    await files.discardUpload(messageId);
    expect(withFiles(ben, anna.userId)).toHaveLength(1);
    expect(ben.store.get(uploadsAtom)).toEqual({});
    ben.kill();
    browser.locks.releaseAll();
    isCut = false;
    const again = browser.openTab();
    await again.resume();
    await until(async () => (await again.crypto.localEntries('upload:')).length, 0);
    expect(await blobsOf(again.userId)).toEqual([]);
  });

  it('arrive although the worker lets go of them while they wait for the relay', async () => {
    let isCut = false;
    const fetchUnlessCut: typeof fetch = async (input, init) => {
      if (isCut && JSON.stringify(init?.headers ?? {}).includes('bytes=524416-')) throw new TypeError('cut');
      return fetch(input, init);
    };
    const { anna, ben, got } = await createPlay(fetchUnlessCut);
    isCut = true;
    const files = await ben.actions.files();
    await files.forward(anna.userId, got.message, { text: '' });
    const uploads = () => Object.values(ben.store.get(uploadsAtom));
    await until(() => uploads().map(({ isWaiting }) => isWaiting), [true]);
    const { conversationId, messageId } = got.message;
    for (let others = 0; others < 64; others += 1) await ben.crypto.openFile(conversationId, messageId, 0);
    isCut = false;
    await until(() => withFiles(anna, ben.userId).length, 2);
    expect(uploads()).toEqual([]);
    expect(Buffer.compare(await read(anna, ben.userId), bytes)).toBe(0);
  });

  it('are given up where their message is deleted before all of them is here, with all that was kept of it', async () => {
    let isCut = true;
    const fetchUnlessCut: typeof fetch = async (input, init) => {
      if (isCut && JSON.stringify(init?.headers ?? {}).includes('bytes=524416-')) throw new TypeError('cut');
      return fetch(input, init);
    };
    const { anna, ben, browser, got } = await createPlay(fetchUnlessCut);
    const files = await ben.actions.files();
    await files.forward(ben.userId, got.message, got.content);
    await files.forward(anna.userId, got.message, got.content);
    const states = (tab: Tab) => Object.values(tab.store.get(uploadsAtom));
    await until(() => states(ben).filter(({ isWaiting }) => isWaiting).length, 1);
    const [, paused = ''] = Object.keys(ben.store.get(uploadsAtom));
    await files.pauseUpload(paused);
    await until(async () => (await ben.crypto.localEntries('upload:')).length, 1);
    await anna.actions.changeMessage(ben.userId, { kind: 'deletion', of: got.message.messageId });
    await until(() => withFiles(ben, anna.userId).length, 1);
    // The one that waits asks again by itself, and the next one has its turn then.
    await until(() => states(ben), []);
    expect(await ben.crypto.localEntries('upload:')).toEqual([]);
    expect(ben.toastTexts).toContain('The message that you were forwarding was deleted.');
    ben.kill();
    browser.locks.releaseAll();
    isCut = false;
    const again = browser.openTab();
    await again.resume();
    await again.actions.openChat(anna.userId);
    expect([states(again), withFiles(again, anna.userId), await blobsOf(again.userId)]).toEqual([[], [], []]);
  });
});
