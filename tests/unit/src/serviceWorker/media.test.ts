import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  answerMedia,
  isPlayable,
  type MediaFacts,
  mediaHandleIn,
  mediaUrl,
} from '#src/serviceWorker/media.ts';
import { firstPiece, parseRange } from '#src/serviceWorker/ranges.ts';

const origin = 'https://sinetti.example';
const handle = '4999d3e4-75ba-48a7-83c1-ea2dcca06234';
const pieceLength = 1024;
const bytes = Uint8Array.from({ length: 2500 }, (_, at) => at % 251);
const facts: MediaFacts = { type: 'video/webm', size: bytes.length, pieceLength };

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** A page that has a file open; `asked` are the pieces that it was asked for. */
function pageWith(said: unknown = facts, pieceOf = (index: number): unknown => pieceAt(index)) {
  const asked: unknown[] = [];
  const clients = {
    async get(id: string) {
      if (id !== 'its page') return undefined;
      return {
        postMessage(question: unknown, [sent]: Transferable[]) {
          const port = sent as MessagePort;
          ports.push(port);
          port.addEventListener('message', ({ data }) => {
            asked.push(data);
            port.postMessage(pieceOf(data));
          });
          port.start();
          port.postMessage(mediaHandleIn(question) === handle ? said : null);
        },
      };
    },
  };
  return { asked, clients };
}

function pieceAt(index: number): ArrayBuffer {
  return bytes.slice(index * pieceLength, (index + 1) * pieceLength).buffer;
}

interface Asked {
  readonly range?: string;
  readonly destination?: RequestDestination;
  readonly method?: string;
  readonly url?: string;
  readonly client?: string;
}

async function ask(page: ReturnType<typeof pageWith>, asked: Asked = {}): Promise<Response> {
  const { client = 'its page', destination = 'video', method = 'GET', range, url = mediaUrl(handle) } = asked;
  const headers = new Headers(range === undefined ? {} : { range });
  const request = { destination, headers, method, url: `${origin}${url}` };
  const answer = answerMedia(request, client, { origin, clients: page.clients });
  if (answer === null) throw new Error('not answered');
  return answer;
}

describe('a range', () => {
  it.each([
    ['bytes=0-', 0, 2500],
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    ['bytes=2499-', 2499, 2500],
    ['bytes=2000-99999', 2000, 2500],
    ['bytes=-1', 2499, 2500],
    ['bytes=-99999', 0, 2500],
    ['bytes=0-999999999999999', 0, 2500],
  ])('is read, and cut off at the end of the file: %s', (header, from, to) => {
    expect(parseRange(header, 2500)).toEqual({ from, to });
  });

  it.each([
    '',
    'bytes=',
    'bytes=-',
    'bytes=-0',
    'bytes=2500-',
    'bytes=5-4',
    'bytes=0-0,2-3',
    'bytes=0-0, -1',
    'bytes= 0-1',
    'bytes=0 -1',
    'bytes=+1-2',
    'bytes=1e3-',
    'bytes=0x0-1',
    'bytes=1.5-2',
    'bytes=--1',
    'bytes=9999999999999999-',
    'bytes=0-9999999999999999999999',
    'BYTES=0-1',
    'chunks=0-1',
    'bytes=0-1\n',
    'bytes=٠-١',
  ])('that is none of the file, or several, is none: %j', (header) => {
    expect(parseRange(header, 2500)).toBeNull();
  });

  it('of an empty file is none', () => {
    for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) expect(parseRange(header, 0)).toBeNull();
  });

  it.each([
    [
      { from: 0, to: 2500 },
      { index: 0, from: 0, to: 1024 },
    ],
    [
      { from: 1023, to: 2500 },
      { index: 0, from: 1023, to: 1024 },
    ],
    [
      { from: 1024, to: 2500 },
      { index: 1, from: 1024, to: 2048 },
    ],
    [
      { from: 2049, to: 2060 },
      { index: 2, from: 2049, to: 2060 },
    ],
  ])('is answered as far as its first piece goes: %j', (range, piece) => {
    expect(firstPiece(range, pieceLength)).toEqual(piece);
  });
});

describe('an element that plays', () => {
  it('is given a file range by range, with one piece opened for each', async () => {
    const page = pageWith();
    const got: number[] = [];
    while (got.length < bytes.length) {
      const answer = await ask(page, { range: `bytes=${got.length}-` });
      expect(answer.status).toBe(206);
      const part = new Uint8Array(await answer.arrayBuffer());
      expect(answer.headers.get('content-range')).toBe(
        `bytes ${got.length}-${got.length + part.length - 1}/2500`,
      );
      expect(answer.headers.get('content-length')).toBe(String(part.length));
      got.push(...part);
    }
    expect(got).toEqual([...bytes]);
    expect(page.asked).toEqual([0, 1, 2]);
  });

  it('is given the middle of a piece, and the end', async () => {
    const page = pageWith();
    const middle = await ask(page, { range: 'bytes=1500-1509' });
    expect([...new Uint8Array(await middle.arrayBuffer())]).toEqual([...bytes.subarray(1500, 1510)]);
    const end = await ask(page, { range: 'bytes=-3' });
    expect([...new Uint8Array(await end.arrayBuffer())]).toEqual([...bytes.subarray(-3)]);
    expect(page.asked).toEqual([1, 2]);
  });

  it('is given bytes that nothing runs or loads anything of', async () => {
    const { headers } = await ask(pageWith(), { range: 'bytes=0-', destination: 'audio' });
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'video/webm',
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each(['text/html', 'image/svg+xml', 'application/pdf', 'text/javascript', 'video/webm; x=y', ''])(
    'is refused a file of another type: %s',
    async (type) => {
      expect(isPlayable(type)).toBe(false);
      const page = pageWith({ ...facts, type });
      expect((await ask(page, { range: 'bytes=0-' })).status).toBe(404);
      expect(page.asked).toEqual([]);
    },
  );

  it.each([
    null,
    'yes',
    {},
    { ...facts, size: 0 },
    { ...facts, size: -1 },
    { ...facts, size: 1.5 },
    { ...facts, size: '2500' },
    { ...facts, pieceLength: 0 },
    { ...facts, pieceLength: 2 ** 30 },
    { type: 'audio/ogg' },
  ])('is refused what its page should not have said: %j', async (said) => {
    const page = pageWith(said);
    expect((await ask(page, { range: 'bytes=0-' })).status).toBe(404);
    expect(page.asked).toEqual([]);
  });

  it.each([null, 'a text', new ArrayBuffer(3)])('is refused a piece that can’t be had: %j', async (piece) => {
    const page = pageWith(facts, () => piece);
    expect((await ask(page, { range: 'bytes=0-' })).status).toBe(502);
  });

  it('is told the size where its range is none', async () => {
    const page = pageWith();
    for (const range of [undefined, 'bytes=2500-', 'bytes=0-1,3-4']) {
      const answer = await ask(page, range === undefined ? {} : { range });
      expect(answer.status).toBe(416);
      expect(answer.headers.get('content-range')).toBe('bytes */2500');
    }
    expect(page.asked).toEqual([]);
  });
});

describe('anybody else', () => {
  it.each<[string, Asked]>([
    ['a page of another tab', { client: 'another page' }],
    ['a navigation', { destination: 'document' }],
    ['a frame', { destination: 'iframe' }],
    ['a script', { destination: 'script' }],
    ['a request of a script', { destination: '' }],
    ['a picture', { destination: 'image' }],
    ['who guesses', { url: mediaUrl('00000000-0000-4000-8000-000000000000') }],
    ['who climbs', { url: mediaUrl('..%2f..%2fapi%2fusers%2fme') }],
    ['who writes', { method: 'POST' }],
  ])('is refused a file that a page has open: %s', async (_who, asked) => {
    const page = pageWith();
    expect((await ask(page, { range: 'bytes=0-', ...asked })).status).toBe(404);
    expect(page.asked).toEqual([]);
  });

  it('is refused by a page that plays nothing, and so answers nothing', async () => {
    vi.useFakeTimers();
    try {
      const clients = { get: async () => ({ postMessage: () => undefined }) };
      const answer = ask({ asked: [], clients }, { range: 'bytes=0-' });
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await answer).status).toBe(404);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not answered elsewhere', () => {
    const { clients } = pageWith();
    const request = { destination: 'video' as const, headers: new Headers(), method: 'GET' };
    for (const url of [
      `${origin}/assets/a.js`,
      `${origin}/api/media/x`,
      `https://evil.example/media/${handle}`,
    ])
      expect(answerMedia({ ...request, url }, 'its page', { origin, clients })).toBeNull();
  });
});
