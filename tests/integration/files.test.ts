import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { uploadLimits } from '#relay/contract/blobs.ts';
import type { MessageView } from '#src/store/chats.ts';
import { composingAtom } from '#src/store/composing.ts';
import { draftsAtom } from '#src/store/drafts.ts';
import type { AttachedFile, FilePlace, NewFile } from '#src/store/files.ts';
import { uploadsAtom } from '#src/store/files.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { MemoryFile } from '../support/memoryFile.ts';
import { readZip } from '../support/zip.ts';
import { befriend, type Tab, until, untilConnected } from './support/browser.ts';
import { annaAnd } from './support/people.ts';
import { bytesOfFolder, bytesOfIndexedDb, findSecrets } from './support/scan.ts';
import { newBrowser, relay, withRelay } from './support/world.ts';

const bytesOf = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) % 251);

function fileOf(bytes: Uint8Array<ArrayBuffer>): NewFile {
  return {
    source: new Blob([bytes]),
    facts: {
      name: 'summer-at-the-lake.pdf',
      type: 'application/pdf',
      kind: 'file',
      description: 'A secret lake',
    },
  };
}

function filesIn(tab: Tab, key: string): { message: MessageView; file: AttachedFile; place: FilePlace }[] {
  return tab.chat(key).messages.flatMap((message) => {
    if (message.content.kind !== 'files') return [];
    const { conversationId, messageId } = message;
    return message.content.files.map((file, index) => ({
      message,
      file,
      place: { conversationId, messageId, index },
    }));
  });
}

async function read(tab: Tab, key: string): Promise<Buffer> {
  const [found] = filesIn(tab, key);
  if (found === undefined) throw new Error('no file');
  const blob = await (await tab.actions.files()).read(found.place, found.file);
  return Buffer.from(await blob.arrayBuffer());
}

async function send(tab: Tab, to: Tab, bytes: Uint8Array<ArrayBuffer>, text = ''): Promise<void> {
  await (await tab.actions.files()).send(to.userId, text, [fileOf(bytes)]);
}

/** The files that the relay has. */
async function blobFiles(): Promise<{ name: string; size: number }[]> {
  const folder = path.join(relay.dataDir, 'blobs');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
  return Promise.all(names.map(async (name) => ({ name, size: (await stat(name)).size })));
}

/** An export with files: what its archive has, and why of each file that it doesn't. */
async function exported({ actions }: Tab) {
  const file = new MemoryFile();
  const outcome = await actions.exportData('json', file, true);
  const parts = readZip(file.bytes);
  const { messages } = JSON.parse(parts.get('user-data.json')?.toString() ?? '') as {
    messages: { files: { missing: string | null }[] }[];
  };
  const missing = messages.flatMap(({ files }) => files.map((one) => one.missing));
  return { outcome, parts: [...parts.keys()], missing };
}

describe('files between two browsers and a real relay', () => {
  withRelay();

  it('arrive as they were sent, and nobody between has seen a byte or a word of them', async () => {
    const [anna, ben] = await annaAnd(newBrowser, ['ben'] as const);
    await anna.actions.openChat(ben.userId);
    await ben.actions.openChat(anna.userId);
    const bytes = bytesOf(2_500_000);
    await send(anna, ben, bytes, 'our place');
    expect(filesIn(anna, ben.userId)).toHaveLength(1);
    await until(() => filesIn(ben, anna.userId).length, 1);
    const [got] = filesIn(ben, anna.userId);
    expect(got?.message.content).toMatchObject({ text: 'our place' });
    expect(got?.file).toMatchObject({ name: 'summer-at-the-lake.pdf', size: 2_500_000, kind: 'file' });
    expect(Buffer.compare(await read(ben, anna.userId), bytes)).toBe(0);
    expect(Buffer.compare(await read(anna, ben.userId), bytes)).toBe(0);
    expect(anna.store.get(uploadsAtom)).toEqual({});
    const { signal } = new AbortController();
    expect(await ben.actions.measureFiles(signal)).toEqual({ count: 1, bytes: 2_500_000 });
    const archive = new MemoryFile();
    expect(await ben.actions.exportData('html', archive, true)).toEqual({ written: 1, missing: 0 });
    const archived = readZip(archive.bytes);
    expect(archived.get('files/summer-at-the-lake.pdf')?.equals(bytes)).toBe(true);
    expect(archived.get('user-data.html')?.toString()).toContain('href="files/summer-at-the-lake.pdf"');

    const secrets = [
      { name: 'its beginning', bytes: bytes.subarray(0, 32) },
      { name: 'its middle', bytes: bytes.subarray(1_300_000, 1_300_032) },
      ...['summer-at-the-lake', 'A secret lake', 'application/pdf'].map((text) => ({
        name: text,
        bytes: new TextEncoder().encode(text),
      })),
    ];
    expect(findSecrets(await bytesOfFolder(relay.dataDir), secrets)).toEqual([]);
    expect(findSecrets(Buffer.from(relay.logLines.join('\n')), secrets)).toEqual([]);
  });

  it('wait where the relay can’t be reached, sealed, and go on from there after a reload', async () => {
    let isCut = false;
    let appended = 0;
    const browser = newBrowser({
      fetch: async (input, init) => {
        if (init?.method === 'PATCH') {
          if (isCut || appended > 0) {
            isCut = true;
            throw new TypeError('cut');
          }
          appended += 1;
        }
        return fetch(input, init);
      },
    });
    const anna = await browser.openTab().signUp('anna');
    const ben = await newBrowser().openTab().signUp('ben');
    await untilConnected(anna, ben);
    await befriend(anna, ben);
    await ben.actions.openChat(anna.userId);
    await anna.actions.openChat(ben.userId);
    const bytes = bytesOf(2_500_000);
    await send(anna, ben, bytes);
    await until(() => isCut, true);
    const key = ben.userId;
    await until(() => Object.values(anna.store.get(uploadsAtom)).map(({ isWaiting }) => isWaiting), [true]);
    const kept = await bytesOfIndexedDb(browser.indexedDB);
    expect(findSecrets(kept, [{ name: 'its beginning', bytes: bytes.subarray(0, 32) }])).toEqual([]);
    anna.kill();

    isCut = false;
    appended = -10;
    const again = browser.openTab();
    await again.resume();
    await again.actions.openChat(key);
    await until(() => filesIn(ben, anna.userId).length, 1);
    expect(Buffer.compare(await read(ben, again.userId), bytes)).toBe(0);
    await until(() => again.store.get(uploadsAtom), {});
    expect(filesIn(again, key)).toHaveLength(1);
  });

  it('that were not sealed as the page was left give caption and answer back, and one that can’t be read stops nobody', async () => {
    const browser = newBrowser();
    const anna = await browser.openTab().signUp('anna');
    const ben = await newBrowser().openTab().signUp('ben');
    await untilConnected(anna, ben);
    await befriend(anna, ben);
    for (const [tab, key] of [
      [anna, ben.userId],
      [ben, anna.userId],
    ] as const)
      await tab.actions.openChat(key);
    await ben.actions.sendMessage(anna.userId, 'Where is it?');
    await until(() => anna.lines(ben.userId).length, 1);
    const [asked] = anna.chat(ben.userId).messages;
    if (asked === undefined) throw new Error('no message');
    const sealing = new Promise<void>((resolve) => {
      const source = new Blob([bytesOf(10)]);
      // A reader of this file waits for ever.
      source.slice = () => {
        resolve();
        return { arrayBuffer: () => new Promise(() => {}) } as Blob;
      };
      const file = { ...fileOf(bytesOf(10)), source };
      void anna.actions
        .files()
        .then((files) => files.send(ben.userId, 'at the lake', [file], asked.messageId));
    });
    await sealing;
    await until(async () => (await anna.crypto.localEntries('upload:')).length, 1);
    await anna.crypto.writeLocal('upload:damaged', '{"messageId":1');
    anna.kill();
    browser.locks.releaseAll();

    const again = browser.openTab();
    await again.resume();
    await until(() => again.store.get(draftsAtom)[ben.userId], 'at the lake');
    expect(again.store.get(composingAtom)[ben.userId]?.replyTo?.messageId).toBe(asked.messageId);
    expect(again.store.get(toastsAtom).map(({ text }) => text)).toEqual([
      'A file was not ready yet when this page was left. Choose it again.',
    ]);
    await until(async () => (await again.crypto.localEntries('upload:')).length, 0);
    expect(again.store.get(uploadsAtom)).toEqual({});
    await again.actions.openChat(ben.userId);
    await send(again, ben, bytesOf(10));
    await until(() => filesIn(ben, again.userId).length, 1);
  });

  it.each(['before the message is kept', 'while they are sealed'])(
    'that find no room on the disk %s go when they are tried again, and their page has them still',
    async (when) => {
      let isFull = false;
      const [anna, ben] = await annaAnd(newBrowser, ['ben'] as const);
      await anna.actions.openChat(ben.userId);
      await ben.actions.openChat(anna.userId);
      const method = 'put';
      const original = IDBObjectStore.prototype[method];
      const full = vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function whereRoom(
        this: IDBObjectStore,
        ...given
      ) {
        if (isFull && this.name === (when.startsWith('before') ? 'notes' : 'pieces')) {
          this.transaction.abort();
          throw new DOMException('full', 'QuotaExceededError');
        }
        return Reflect.apply(original, this, given);
      });
      try {
        isFull = true;
        await send(anna, ben, bytesOf(10), 'at the lake');
        const failures = () => Object.values(anna.store.get(uploadsAtom)).map(({ failure }) => failure?.code);
        await until(failures, ['storage']);
        const [messageId = ''] = Object.keys(anna.store.get(uploadsAtom));
        (await anna.actions.files()).retryUpload(messageId);
        await until(failures, ['storage']);
        isFull = false;
        (await anna.actions.files()).retryUpload(messageId);
        await until(() => filesIn(ben, anna.userId).length, 1);
        expect(Buffer.compare(await read(ben, anna.userId), bytesOf(10))).toBe(0);
        expect(filesIn(ben, anna.userId)[0]?.message.content).toMatchObject({ text: 'at the lake' });
      } finally {
        full.mockRestore();
      }
    },
  );

  it('go from the relay with their message, also where that was deleted offline, and from a browser that is erased', async () => {
    let isCut = false;
    const fetchUnlessCut: typeof fetch = async (input, init) => {
      if (isCut && init?.method === 'DELETE') throw new TypeError('cut');
      return fetch(input, init);
    };
    const browser = newBrowser({ fetch: fetchUnlessCut });
    const anna = await browser.openTab().signUp('anna');
    const ben = await newBrowser().openTab().signUp('ben');
    await untilConnected(anna, ben);
    await befriend(anna, ben);
    await anna.actions.openChat(ben.userId);
    await ben.actions.openChat(anna.userId);
    const blobsLeft = async () =>
      (await relay.relay.database.db.selectFrom('blobs').select('id').execute()).length;
    const deleteNewest = async () => {
      const of = filesIn(anna, ben.userId).at(-1)?.message.messageId ?? '';
      await anna.actions.changeMessage(ben.userId, { kind: 'deletion', of });
    };
    const before = await blobsLeft();
    for (const count of [1, 2]) {
      await send(anna, ben, bytesOf(10));
      await until(() => filesIn(ben, anna.userId).length, count);
    }
    expect(await blobsLeft()).toBe(before + 2);
    await until(() => anna.store.get(uploadsAtom), {});
    await deleteNewest();
    await until(blobsLeft, before + 1);
    await until(() => filesIn(anna, ben.userId).length, 1);

    isCut = true;
    await deleteNewest();
    await until(() => filesIn(ben, anna.userId).length, 0);
    expect(await blobsLeft()).toBe(before + 1);
    anna.kill();
    isCut = false;
    const again = browser.openTab();
    await again.resume();
    await until(blobsLeft, before);
    await until(async () => (await again.crypto.localEntries('upload')).length, 0);

    const { userId } = again;
    const databases = async () => (await browser.indexedDB.databases()).map(({ name }) => name);
    expect(await databases()).toContain(`sinetti-uploads:${userId}`);
    await again.actions.logOut({ erase: true });
    expect(await databases()).not.toContain(`sinetti-uploads:${userId}`);
  });

  it('arrive although the relay holds as many uploads as it takes, whose ids were lost with its answers', async () => {
    let lost = 0;
    const browser = newBrowser({
      fetch: async (input, init) => {
        const isCreation = init?.method === 'POST' && new Request(input).url.endsWith('/api/blobs');
        if (!isCreation || lost > 0) return fetch(input, init);
        for (; lost < uploadLimits.unfinished; lost += 1) expect((await fetch(input, init)).status).toBe(201);
        throw new TypeError('lost');
      },
    });
    const anna = await browser.openTab().signUp('anna');
    const ben = await newBrowser().openTab().signUp('ben');
    await untilConnected(anna, ben);
    await befriend(anna, ben);
    await ben.actions.openChat(anna.userId);
    await anna.actions.openChat(ben.userId);
    const bytes = bytesOf(70_000);
    await send(anna, ben, bytes);
    await until(() => filesIn(ben, anna.userId).length, 1);
    expect(Buffer.compare(await read(ben, anna.userId), bytes)).toBe(0);
    const blobs = relay.relay.database.db.selectFrom('blobs').select('id').where('user_id', '=', anna.userId);
    expect(await blobs.execute()).toHaveLength(1);
  });

  it('that the relay has exchanged, for bytes or for another sealed file, or lost say so', async () => {
    const [anna, ben] = await annaAnd(newBrowser, ['ben'] as const);
    await anna.actions.openChat(ben.userId);
    await ben.actions.openChat(anna.userId);
    await send(anna, ben, bytesOf(70_000));
    await until(() => filesIn(ben, anna.userId).length, 1);
    const before = await blobFiles();
    await send(anna, ben, bytesOf(70_000).reverse());
    await until(() => filesIn(ben, anna.userId).length, 2);
    const [file = ''] = before.filter(({ size }) => size >= 70_000).map(({ name }) => name);
    const others = (await blobFiles()).filter(({ name }) => before.every((one) => one.name !== name));
    const [other] = others;
    if (other === undefined || others.length > 1) throw new Error('the relay has not one more file');
    const own = await readFile(file);
    expect(other.size).toBe(own.length);
    await copyFile(other.name, file);
    await expect(read(ben, anna.userId)).rejects.toMatchObject({ code: 'damaged-file' });
    await writeFile(file, own);
    expect(await read(ben, anna.userId)).toHaveLength(70_000);
    await writeFile(file, new Uint8Array(own.length).fill(7));
    await expect(read(ben, anna.userId)).rejects.toMatchObject({ code: 'damaged-file' });
    expect(await exported(ben)).toEqual({
      outcome: { written: 1, missing: 1 },
      parts: expect.arrayContaining(['user-data.json', 'files/summer-at-the-lake.pdf']),
      missing: ['damaged', null],
    });
    await rm(file);
    await expect(read(ben, anna.userId)).rejects.toMatchObject({ name: 'AppError', code: 'not-found' });
  });

  it('leave nothing behind where they are given up while the relay is asked for room', async () => {
    let letGo = () => {};
    let asked = 0;
    const browser = newBrowser({
      fetch: async (input, init) => {
        const isCreation = init?.method === 'POST' && new Request(input).url.endsWith('/api/blobs');
        if (isCreation) {
          asked += 1;
          await new Promise<void>((resolve) => {
            letGo = resolve;
          });
        }
        return fetch(input, init);
      },
    });
    const anna = await browser.openTab().signUp('anna');
    const ben = await newBrowser().openTab().signUp('ben');
    await untilConnected(anna, ben);
    await befriend(anna, ben);
    await anna.actions.openChat(ben.userId);
    await send(anna, ben, bytesOf(10), 'not that');
    await until(() => asked, 1);
    const files = await anna.actions.files();
    const [messageId = ''] = Object.keys(anna.store.get(uploadsAtom));
    await files.discardUpload(messageId);
    expect(await anna.crypto.localEntries('upload:')).toEqual([]);
    letGo();
    // The next one waits until the one before has ended.
    await send(anna, ben, bytesOf(20), 'but that');
    await until(() => asked, 2);
    expect((await anna.crypto.localEntries('upload:')).map(({ text }) => JSON.parse(text).text)).toEqual([
      'but that',
    ]);
    letGo();
  });
});
