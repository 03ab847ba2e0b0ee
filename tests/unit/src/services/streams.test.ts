import { describe, expect, it, vi } from 'vitest';
import { createStreams } from '#src/services/files/streams.ts';
import type { AttachedFile } from '#src/store/files.ts';

const place = { conversationId: 'a:b', messageId: 'm', index: 0 };
const film: AttachedFile = {
  name: 'a.webm',
  type: 'video/webm',
  size: 1_250_000,
  kind: 'film',
  description: '',
};

const webm = [0x1a, 0x45, 0xdf, 0xa3, ...new TextEncoder().encode('webm')];

function world({ controlled = true, beginning = webm } = {}) {
  const listeners = new Set<(event: MessageEvent) => void>();
  const container = {
    controller: controlled ? ({} as ServiceWorker) : null,
    addEventListener: (_type: string, listener: never) => void listeners.add(listener),
    removeEventListener: (_type: string, listener: never) => void listeners.delete(listener),
  };
  let opened = 0;
  let isActive = true;
  const openPiece = vi.fn<(handle: string, index: number, sealed: ArrayBuffer) => Promise<ArrayBuffer>>(
    async (_handle, _index, sealed) => sealed,
  );
  const crypto = {
    openFile: async () => {
      opened += 1;
      const sizes = { sealedSize: 1_300_000, sealedPiece: 524_416, pieces: 3, sealedPieces: 3 };
      return { handle: `opened ${opened}`, blobId: 'blob', ...sizes };
    },
    openPiece,
  };
  const blobs = {
    read: async (_id: string, from: number) =>
      from === 0 ? Uint8Array.from(beginning).buffer : Uint8Array.of(from / 524_416).buffer,
  };
  const stream = createStreams({
    reading: { crypto, blobs },
    container,
    newId: () => globalThis.crypto.randomUUID(),
    isActive: () => isActive,
  });

  /** Asks as the service worker does. @returns its answers, one to the handle and one to each index */
  async function ask(url: string, ...indices: unknown[]): Promise<unknown[]> {
    const { port1, port2 } = new MessageChannel();
    const next = () =>
      new Promise((resolve) => {
        port1.addEventListener('message', ({ data }) => resolve(data), { once: true });
        port1.start();
      });
    const described = next();
    const data = { type: 'media', handle: url.replace('/media/', '') };
    for (const listener of listeners) listener({ data, ports: [port2] } as unknown as MessageEvent);
    const answers = [await described];
    for (const index of indices) {
      const answer = next();
      port1.postMessage(index);
      const piece = await answer;
      answers.push(piece === null ? null : [...new Uint8Array(piece as ArrayBuffer)]);
    }
    port1.close();
    return answers;
  }
  return { stream, ask, openPiece, listeners, openings: () => opened, end: () => (isActive = false) };
}

const facts = { type: 'video/webm', size: 1_250_000, pieceLength: 512 * 1024 };

describe('a file that is played', () => {
  it('is given piece by piece, in any order, and nothing else of it', async () => {
    const { ask, stream } = world();
    const opened = await stream(place, film);
    expect(opened?.url).toMatch(/^\/media\/[\w-]{36}$/);
    expect(await ask(opened?.url ?? '', 2, 0)).toEqual([facts, [2], webm]);
    for (const wrong of [3, -1, 0.5, '0', null, { index: 0 }])
      expect(await ask(opened?.url ?? '', wrong)).toEqual([facts, null]);
  });

  it('is nobody’s once its player is gone, or the session', async () => {
    const { ask, end, listeners, stream } = world();
    const [one, other] = [await stream(place, film), await stream(place, film)];
    expect(one?.url).not.toBe(other?.url);
    one?.end();
    expect(await ask(one?.url ?? '')).toEqual([null]);
    expect(await ask(other?.url ?? '', 0)).toEqual([facts, webm]);
    end();
    expect(await ask(other?.url ?? '')).toEqual([null]);
    other?.end();
    expect(listeners.size).toBe(0);
  });

  it('is opened again where the worker has let go of it', async () => {
    const { ask, openings, openPiece, stream } = world();
    const opened = await stream(place, film);
    await ask(opened?.url ?? '', 0);
    openPiece.mockRejectedValueOnce(Object.assign(new Error(), { code: 'unknown-file' }));
    expect(await ask(opened?.url ?? '', 1)).toEqual([facts, [1]]);
    expect(openings()).toBe(2);
    expect(openPiece.mock.lastCall?.[0]).toBe('opened 2');
  });

  it.each([
    ['a playlist', '#EXTM3U\n#EXTINF:1,\nhttps://tracker.example/1.ts\n'],
    ['a page', '<html><script src="x.js"></script>'],
  ])('is none where it is %s, whatever its sender calls it', async (_what, text) => {
    const { ask, stream } = world({ beginning: [...new TextEncoder().encode(text)] });
    const opened = await stream(place, film);
    expect(await ask(opened?.url ?? '', 0)).toEqual([facts, null]);
    expect(opened?.problem()).toMatch(/can’t play/);
  });

  it('says why a piece can’t be had', async () => {
    const { ask, openPiece, stream } = world();
    const opened = await stream(place, film);
    expect(opened?.problem()).toBeNull();
    openPiece.mockRejectedValue(Object.assign(new Error(), { code: 'decrypt-failed' }));
    expect(await ask(opened?.url ?? '', 1)).toEqual([facts, null]);
    expect(opened?.problem()).toEqual(expect.any(String));
  });
});

it('without a service worker, and of a type that is not played, nothing is given out', async () => {
  expect(await world({ controlled: false }).stream(place, film)).toBeNull();
  for (const type of ['text/html', 'image/svg+xml', 'application/octet-stream'])
    expect(await world().stream(place, { ...film, type })).toBeNull();
});
