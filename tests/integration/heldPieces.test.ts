import { randomBytes, randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expose } from 'comlink';
import { createStore } from 'jotai';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type CryptoApi, createCryptoClient } from '#src/crypto/client.ts';
import { systemClock } from '#src/lib/clock.ts';
import type { FileSink } from '#src/lib/fileSink.ts';
import type { Blobs } from '#src/net/blobs.ts';
import { writeArchive } from '#src/services/export/archive.ts';
import { createCarrier } from '#src/services/files/carrying.ts';
import { createDownloads } from '#src/services/files/downloads.ts';
import type { PendingFile, PendingMessages } from '#src/services/files/pendingMessages.ts';
import type { PieceStore } from '#src/services/files/pieceStore.ts';
import { openInOrder, type ReadingOptions, wholeFile } from '#src/services/files/reading.ts';
import { createSealing } from '#src/services/files/sealing.ts';
import { chosenFile, filesOfMessage } from '#src/services/files/sources.ts';
import { createStreams } from '#src/services/files/streams.ts';
import { answerMedia, mediaHandleIn } from '#src/serviceWorker/media.ts';
import type { AttachedFile, FilePlace } from '#src/store/files.ts';
import { ALICE_AND_BOB, createPair } from '#tests/unit/workers/support/device.ts';
import { createDispatch } from '#workers/entry/dispatch.ts';
import { strictEndpoint } from '#workers/entry/strictEndpoint.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that a step may hold of a file, in all of its forms: in the page, the room of the keys and the service worker together. */
const most = 2_000_000;
/** Longer than {@link most} by far, with a piece that is not whole at its end. */
const length = 3_500_000;
const type = 'video/webm';
const facts = { name: 'boat.webm', type, kind: 'film', description: '' } as const;
const file: AttachedFile = { ...facts, size: length };

/** Looks at what is held in memory, whenever it is told to, beside what was held at its start. */
class Scales {
  #before = 0;
  #seen = 0;

  /** Starts anew. */
  async set(): Promise<void> {
    await this.#collect();
    await this.#collect();
    this.#before = process.memoryUsage().arrayBuffers;
    this.#seen = 0;
  }

  /** Collects the garbage first where there is too much: a buffer that nobody has any more is not held. */
  async look(): Promise<void> {
    // The second time waits for what the first has begun.
    for (let times = 0; times < 2 && this.#held() >= most; times += 1) await this.#collect();
    this.#seen = Math.max(this.#seen, this.#held());
  }

  /** The most bytes that were there. */
  get seen(): number {
    return this.#seen;
  }

  #held(): number {
    return process.memoryUsage().arrayBuffers - this.#before;
  }

  async #collect(): Promise<void> {
    // A promise's value is held until its task is over.
    await setImmediate();
    collectGarbage();
  }
}

/** Files on the disk, which take no memory: what the browser keeps, and what the relay has. */
class Disk {
  readonly #folder: string;
  readonly #files = new Map<string, FileHandle>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async #open(name: string): Promise<FileHandle> {
    const opened = this.#files.get(name) ?? (await open(path.join(this.#folder, name), 'w+'));
    this.#files.set(name, opened);
    return opened;
  }

  async write(name: string, at: number, bytes: Uint8Array): Promise<void> {
    await (await this.#open(name)).write(bytes, 0, bytes.byteLength, at);
  }

  async read(name: string, from: number, to: number): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(to - from);
    await (await this.#open(name)).read(bytes, 0, bytes.byteLength, from);
    return bytes.buffer;
  }

  async close(): Promise<void> {
    for (const opened of this.#files.values()) await opened.close();
  }
}

const scales = new Scales();
let folder: string;
let disk: Disk;
let film: Blob;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sinetti-held-'));
  disk = new Disk(folder);
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 9)) % 251);
  bytes.set([0x1a, 0x45, 0xdf, 0xa3, ...Buffer.from('webm')]);
  await writeFile(path.join(folder, 'film'), bytes);
  film = await openAsBlob(path.join(folder, 'film'));
});
afterAll(async () => {
  await disk.close();
  await rm(folder, { recursive: true });
});

/** The worker behind a channel, as the page has it: what crosses is copied, or given away. */
function acrossChannel(api: CryptoApi): CryptoApi {
  const dispatch = createDispatch(api);
  const never = () => {
    throw new Error('not asked for');
  };
  return createCryptoClient({
    start(port) {
      onTestFinished(() => port.close());
      const weighed: typeof dispatch = {
        async call(method, args) {
          await scales.look();
          const answer = await dispatch.call(method, args);
          await scales.look();
          return answer;
        },
      };
      expose(weighed, strictEndpoint(port));
    },
    lock: never,
    keep: never,
    room: never,
    control: new MessageChannel().port1,
    onLocked: () => undefined,
    broken: new Promise(() => undefined),
  });
}

/** Bytes that the relay has of each file. */
const uploaded = new Map<string, number>();
const blobs: Blobs = {
  async create() {
    const id = randomBytes(16).toString('base64url');
    uploaded.set(id, 0);
    return id;
  },
  offset: async (id) => uploaded.get(id) ?? 0,
  async append(id, offset, bytes) {
    await scales.look();
    await disk.write(id, offset, bytes);
    uploaded.set(id, offset + bytes.byteLength);
    return offset + bytes.byteLength;
  },
  async read(id, from, to) {
    const bytes = await disk.read(id, from, to);
    await scales.look();
    return bytes;
  },
  remove: async () => undefined,
  storage: () => Promise.reject(new Error('not asked for')),
};

/** The browser's storage of sealed pieces. */
const lengths = new Map<string, number>();
const pieces: PieceStore = {
  async put(fileId, index, piece) {
    await scales.look();
    lengths.set(`${fileId}-${index}`, piece.byteLength);
    await disk.write(`${fileId}-${index}`, 0, new Uint8Array(piece));
  },
  async get(fileId, index) {
    const piece = await disk.read(`${fileId}-${index}`, 0, lengths.get(`${fileId}-${index}`) ?? 0);
    await scales.look();
    return piece;
  },
  remove: async () => undefined,
  fileIds: async () => [],
};

const once = (task: () => Promise<void>) => task();

/** A file that is written to the disk of the person. */
function sinkOf(name: string): FileSink & { readonly written: () => number } {
  let at = 0;
  return {
    written: () => at,
    async write(piece) {
      await scales.look();
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : new Uint8Array(piece);
      await disk.write(name, at, bytes);
      at += bytes.byteLength;
    },
    close: async () => undefined,
    abort: () => Promise.reject(new Error('given up')),
  };
}

/** The bytes of two files are the same, compared piece by piece. */
async function expectFilm(name: string, from = 0): Promise<void> {
  const step = 1_000_000;
  for (let at = 0; at < length; at += step) {
    const to = Math.min(length, at + step);
    const [got, sent] = [await disk.read(name, from + at, from + to), await film.slice(at, to).arrayBuffer()];
    expect(Buffer.compare(Buffer.from(got), Buffer.from(sent))).toBe(0);
  }
}

it('of a film no step holds 2 MB in memory, in all of its forms: the page, the worker and the service worker together', async () => {
  const { alice, bob } = await createPair();
  const [alicesKeys, bobsKeys] = [acrossChannel(alice.api), acrossChannel(bob.api)];
  const held: Record<string, number> = {};
  async function step<T>(name: string, task: () => Promise<T>): Promise<T> {
    await scales.set();
    const result = await task();
    await scales.look();
    held[name] = scales.seen;
    return result;
  }

  const { sealAll } = createSealing({ crypto: alicesKeys, pieces });
  const carrier = createCarrier({ blobs, pieces, pending: {} as PendingMessages });
  const carry = async (sealed: PendingFile | undefined): Promise<PendingFile> => {
    if (sealed === undefined) throw new Error('nothing is sealed');
    let kept = sealed;
    await carrier.carry(sealed, {
      signal: new AbortController().signal,
      mayGoOn: async () => undefined,
      keep: async (changed) => void (kept = { ...kept, ...changed }),
      onProgress: () => undefined,
    });
    return kept;
  };

  const [sealed] = await step('sealing', () =>
    sealAll([chosenFile({ facts, source: film })], once, () => undefined),
  );
  const { blobId, fileId } = await step('upload', () => carry(sealed));
  const messageId = alice.relay.uuid();
  await alice.api.queueFiles({
    conversationId: ALICE_AND_BOB,
    messageId,
    text: '',
    sentAt: '2026-03-01T10:00:00.000Z',
    files: [{ ...facts, fileId, blobId: blobId ?? '' }],
  });
  await alice.flush(messageId);
  await bob.sync();
  const place: FilePlace = { conversationId: ALICE_AND_BOB, messageId, index: 0 };
  const reading = { blobs, crypto: bobsKeys };

  await step('playing', () => play(reading, place));

  await step('download', () =>
    createDownloads({
      blobs,
      deps: { clock: systemClock, crypto: bobsKeys, random: Math.random, store: createStore() },
    }).save(place, sinkOf('downloaded')),
  );
  await expectFilm('downloaded');

  await step('export', async () => {
    await writeArchive(sinkOf('archive'), {
      wanted: [
        { ...file, place, writtenAt: 0 },
        { ...file, place, writtenAt: 0 },
      ],
      read: async function* read() {
        yield* wholeFile(await openInOrder(reading, place));
      },
      document: { name: 'user-data.json', text: () => nothing() },
      now: 0,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  });
  await expectFilm('archive', 30 + 'files/boat.webm'.length);

  const forwarding = createSealing({ crypto: bobsKeys, pieces });
  const [resealed] = await step('forward', () =>
    forwarding.sealAll(filesOfMessage(reading, place, [file]), once, () => undefined),
  );
  expect(resealed?.sealedSize).toBe(sealed?.sealedSize);
  await step('forwarded upload', () => carry(resealed));

  expect(Object.entries(held).filter(([, bytes]) => bytes >= most)).toEqual([]);
  // A step that weighs nothing was not looked at.
  expect(Object.entries(held).filter(([, bytes]) => bytes < 500_000)).toEqual([]);
});

async function* nothing(): AsyncGenerator<string> {}

/** Plays a film as an element does, range by range to its end. */
async function play(reading: ReadingOptions, place: FilePlace): Promise<void> {
  const listeners = new Set<(event: MessageEvent) => void>();
  const stream = createStreams({
    reading,
    container: {
      controller: {} as ServiceWorker,
      addEventListener: (_type: string, listener: never) => void listeners.add(listener),
      removeEventListener: (_type: string, listener: never) => void listeners.delete(listener),
    },
    newId: randomUUID,
    isActive: () => true,
  });
  const opened = await stream(place, file);
  if (opened === null) throw new Error('it does not play');
  const page = {
    postMessage(data: unknown, ports: Transferable[]) {
      for (const listener of listeners) listener({ data, ports } as unknown as MessageEvent);
    },
  };
  expect(mediaHandleIn({ type: 'media', handle: opened.url.slice('/media/'.length) })).not.toBeNull();
  for (let at = 0; at < length; ) {
    const request = {
      destination: 'video' as const,
      headers: new Headers({ range: `bytes=${at}-` }),
      method: 'GET',
      url: `https://sinetti.example${opened.url}`,
    };
    const answer = await answerMedia(request, 'page', {
      origin: 'https://sinetti.example',
      clients: { get: async () => page },
    });
    await scales.look();
    const part = (await answer?.arrayBuffer()) ?? new ArrayBuffer(0);
    await scales.look();
    await disk.write('played', at, new Uint8Array(part));
    at += part.byteLength;
  }
  opened.end();
  await expectFilm('played');
}
