import { describe, expect, it } from 'vitest';
import { downloadsAtom, type FilePlace, type NewFile, uploadsAtom } from '#src/store/files.ts';
import { MemoryFile } from '../support/memoryFile.ts';
import { befriend, type Tab, until, untilConnected } from './support/browser.ts';
import { newBrowser, withRelay } from './support/world.ts';

const piece = 512 * 1024;
const large = Uint8Array.from({ length: 12 * piece }, (_, at) => (at * 31 + (at >> 9)) % 251);

function fileOf(name: string, bytes: Uint8Array<ArrayBuffer>): NewFile {
  const facts = { name, type: 'application/octet-stream', kind: 'file', description: '' } as const;
  return { source: new Blob([bytes]), facts };
}

function namesIn(tab: Tab, key: string): string[] {
  return tab
    .chat(key)
    .messages.flatMap(({ content }) =>
      content.kind === 'files' ? content.files.map(({ name }) => name) : [],
    );
}

function placeOf(tab: Tab, key: string, name: string): FilePlace {
  const found = tab
    .chat(key)
    .messages.find(({ content }) => content.kind === 'files' && content.files[0]?.name === name);
  if (found === undefined) throw new Error('no file');
  return { conversationId: found.conversationId, messageId: found.messageId, index: 0 };
}

/** Anna and Ben, with their chat open; `fetch` is Anna's. */
async function annaAndBen(gate: { fetch: typeof fetch }) {
  const browser = newBrowser({ fetch: (input, init) => gate.fetch(input, init) });
  const anna = await browser.openTab().signUp('anna');
  const ben = await newBrowser().openTab().signUp('ben');
  await untilConnected(anna, ben);
  await befriend(anna, ben);
  await ben.actions.openChat(anna.userId);
  await anna.actions.openChat(ben.userId);
  return { anna, ben, browser };
}

describe('a person stops what is on its way', () => {
  withRelay();

  it('an upload: the next one goes before it, and it stays paused after a reload until it is resumed', async () => {
    let appended = 0;
    const gate = {
      fetch: (async (input, init) => {
        if (init?.method === 'PATCH') {
          appended += 1;
          // The third piece of the large file waits until it is called off.
          if (appended === 3)
            await new Promise((_, reject) =>
              init.signal?.addEventListener('abort', () => reject(new TypeError('aborted'))),
            );
        }
        return fetch(input, init);
      }) satisfies typeof fetch,
    };
    const { anna, ben, browser } = await annaAndBen(gate);
    const key = ben.userId;
    const files = await anna.actions.files();
    await files.send(key, '', [fileOf('large', large)]);
    await until(() => appended, 3);
    await files.send(key, '', [fileOf('small', large.slice(0, 100))]);
    const { messageId } = placeOf(anna, key, 'large');
    const stateOf = (tab: Tab) => tab.store.get(uploadsAtom)[messageId];
    await files.pauseUpload(messageId);
    expect(stateOf(anna)).toMatchObject({ isPaused: true, failure: null });
    await until(() => namesIn(ben, anna.userId), ['small']);
    anna.kill();

    const before = appended;
    const again = browser.openTab();
    await again.resume();
    await again.actions.openChat(key);
    await until(() => stateOf(again)?.isPaused, true);
    expect(namesIn(again, key).toSorted()).toEqual(['large', 'small']);
    // Once another file has gone all the way, it has done all that it would do by itself.
    const filesAgain = await again.actions.files();
    await filesAgain.send(key, '', [fileOf('third', large.slice(0, 100))]);
    await until(() => namesIn(ben, anna.userId), ['small', 'third']);
    expect(appended).toBe(before + 1);
    await filesAgain.resumeUpload(messageId);
    await until(() => namesIn(ben, anna.userId), ['small', 'third', 'large']);
    // Nothing that the relay had was sent again.
    expect(appended - before - 1).toBeLessThanOrEqual(10);
    await until(() => again.store.get(uploadsAtom), {});
    await until(async () => (await again.crypto.localEntries('upload')).length, 0);
  });

  it('a download: nothing is fetched while it is paused, and it goes on, or leaves nothing', async () => {
    let reads = 0;
    const gate = {
      fetch: (async (input, init) => {
        if (new Headers(init?.headers).has('range')) reads += 1;
        return fetch(input, init);
      }) satisfies typeof fetch,
    };
    const { anna, ben } = await annaAndBen(gate);
    await (await ben.actions.files()).send(anna.userId, '', [fileOf('large', large)]);
    await until(() => namesIn(anna, ben.userId), ['large']);
    const place = placeOf(anna, ben.userId, 'large');
    const files = await anna.actions.files();
    const download = () => Object.values(anna.store.get(downloadsAtom))[0];

    const sink = new MemoryFile();
    sink.onWrite = () => {
      if (sink.chunks.length === 1) download()?.pause();
    };
    const saved = files.save(place, sink);
    await until(() => download()?.isPaused, true);
    await until(() => sink.chunks.length, 2);
    const before = reads;
    // The worker lets go of the file meanwhile, as others are opened.
    for (let others = 0; others < 64; others += 1)
      await anna.crypto.openFile(place.conversationId, place.messageId, 0);
    expect([reads, sink.chunks.length, sink.outcome]).toEqual([before, 2, 'open']);
    download()?.resume();
    await saved;
    expect(sink.outcome).toBe('closed');
    expect(sink.bytes.equals(large)).toBe(true);
    expect(download()).toBeUndefined();

    const unwanted = new MemoryFile();
    unwanted.onWrite = () => download()?.pause();
    const ended = files.save(place, unwanted);
    await until(() => download()?.isPaused, true);
    download()?.cancel();
    await ended;
    expect(unwanted.outcome).toBe('aborted');
  });
});
