import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as zlib from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../src/chain/errors.ts';
import { chainOf } from '../src/chain/reading.ts';
import { compareRelay, type Row } from '../src/compare.ts';
import { createFetcher, type Fetcher } from '../src/fetching.ts';
import { servedReleases } from '../src/relay.ts';
import { firstRelease, holders, writeClient } from './support/releases.ts';

let server: Server | null = null;
let fetcher: Fetcher | null = null;
afterEach(() => {
  fetcher?.close();
  server?.closeAllConnections();
  server?.close();
});

async function serving(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const failure = (asked: Promise<unknown>) =>
  asked.then(
    () => 'answered',
    (error: unknown) => (error instanceof Failure ? `${error.code}: ${error.message}` : String(error)),
  );
const minutes = 60_000;

describe('a relay that never ends', () => {
  it('is left at the end of the time for one answer, however it drips', async () => {
    const url = await serving((_request, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    fetcher = createFetcher({ all: minutes, answer: 300, bytes: 1e6 });
    expect(await failure(fetcher.get(url, 'document'))).toContain('no whole answer in time');
  });

  it('is left at the end of the time for all of them', async () => {
    const url = await serving(() => undefined);
    fetcher = createFetcher({ all: 300, answer: minutes, bytes: 1e6 });
    expect(await failure(fetcher.get(url, 'document'))).toContain('no whole answer in time');
  });

  it('is left after the most bytes of all answers together', async () => {
    const url = await serving((_request, response) => response.end('x'.repeat(600)));
    fetcher = createFetcher({ all: minutes, answer: minutes, bytes: 1000 });
    expect((await fetcher.get(url, 'document')).content.byteLength).toBe(600);
    expect(await failure(fetcher.get(url, 'document'))).toContain('too long together');
  });
});

describe('early hints', () => {
  it('are part of an answer, and a difference in whatever they precede', async () => {
    const url = await serving((_request, response) => {
      response.writeEarlyHints({ link: '</evil.js>; rel=preload; as=script' });
      response.end('page');
    });
    fetcher = createFetcher();
    expect(await fetcher.get(url, 'document')).toMatchObject({ status: 200, early: ['103 with link'] });
    const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-early-'));
    await writeClient(folder);
    const { chain } = await firstRelease(folder, holders('anna', 'bertta', 'carl'));
    await rm(folder, { recursive: true });
    const { rows } = await compareRelay(chain.release!, { app: url, keys: url }, fetcher);
    const isTold = ({ differences }: Row) => differences.includes('it is preceded by 103 with link');
    expect(rows.filter((row) => !isTold(row))).toEqual([]);
  });
});

describe('an encoding', () => {
  const answering = async (encoding: string, content: Uint8Array) => {
    const url = await serving((_request, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(content);
    });
    fetcher = createFetcher();
    return fetcher.get(url, 'script');
  };
  /** A frame of zstd (RFC 8878, section 3.1.1) with its content as it is, in one block. */
  const zstdFrame = (text: string) => {
    const block = Buffer.alloc(3);
    block.writeUIntLE((text.length << 3) | 1, 0, 3);
    return Buffer.concat([
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, text.length]),
      block,
      Buffer.from(text),
    ]);
  };
  const named = Buffer.from(zlib.gzipSync('signed'));
  named[3] = 0x08;
  const withName = Buffer.concat([named.subarray(0, 10), Buffer.from('main.js\0'), named.subarray(10)]);

  it.each([
    ['br', zlib.brotliCompressSync('signed')],
    ['deflate', zlib.deflateSync('signed')],
    ['gzip', zlib.gzipSync('signed')],
    ['gzip', withName],
  ])('of %s is taken off', async (encoding, content) => {
    expect(Buffer.from((await answering(encoding, content)).content).toString()).toBe('signed');
  });

  it.each([
    ['br', zlib.brotliCompressSync('signed'), zlib.brotliCompressSync('evil')],
    ['deflate', zlib.deflateSync('signed'), zlib.deflateSync('evil')],
    ['gzip', zlib.gzipSync('signed'), zlib.gzipSync('evil')],
    // Browsers would read nothing, and a decoder of all members what was signed.
    ['gzip', zlib.gzipSync(''), zlib.gzipSync('signed')],
    // Browsers read on in the next frame. A Node.js that knows no zstd refuses all of it.
    ['zstd', zstdFrame('signed'), zstdFrame('evil')],
  ])('of %s has nothing behind it, which a browser may read otherwise', async (encoding, first, second) => {
    expect(await failure(answering(encoding, Buffer.concat([first, second])))).toMatch(/^unreachable: /);
  });
});

describe('a chain of somebody else', () => {
  const endless = async () => {
    const asked: string[] = [];
    const url = await serving(({ url: address = '' }, response) => {
      asked.push(address);
      response.end('{}');
    });
    fetcher = createFetcher();
    return { asked, read: servedReleases(url, fetcher) };
  };

  it('costs one file: its root is looked at first', async () => {
    const { asked, read } = await endless();
    expect(await failure(chainOf(read, 'A'.repeat(43), null))).toMatch(/^chain: The chain begins with /);
    expect(asked).toEqual(['/.well-known/sinetti/chain/1.json']);
  });

  it('is left at a step that doesn’t follow, before the next one is asked for', async () => {
    const { read, steps, root } = await chain();
    const asked: string[] = [];
    const reading = (name: string) => {
      asked.push(name);
      return name === 'chain/3.json' ? Promise.resolve(steps[1]!.bytes) : read(name);
    };
    expect(await failure(chainOf(reading, root, null))).toMatch(
      /^chain: Step 3 of the chain calls itself step 2/,
    );
    expect(asked.filter((name) => name.includes('4.json'))).toEqual([]);
  });

  it.each([
    ['steps', { steps: 1, time: minutes, bytes: 1e9 }, 'more steps'],
    ['time', { steps: 1000, time: -1, bytes: 1e9 }, 'takes longer'],
    ['bytes', { steps: 1000, time: minutes, bytes: 500 }, 'is larger'],
  ])('is followed for no more %s than a chain has', async (_, limits, sentence) => {
    const { read, root } = await chain();
    expect(await failure(chainOf(read, root, null))).toBe('answered');
    expect(await failure(chainOf(read, root, null, limits))).toContain(sentence);
  });
});

/** A chain of two steps, and who reads it. */
async function chain() {
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-chain-'));
  await writeClient(folder);
  const { root, steps } = await firstRelease(folder, holders('anna', 'bertta', 'carl'));
  await rm(folder, { recursive: true });
  const files = new Map<string, Uint8Array>([['release.json', steps[1]!.bytes]]);
  for (const [at, { bytes, signatures }] of steps.entries()) {
    files.set(`chain/${at + 1}.json`, bytes);
    for (const [name, text] of Object.entries(signatures))
      files.set(`chain/${at + 1}.json.${name}.sig`, Buffer.from(text, 'latin1'));
  }
  return { root, steps, read: (name: string) => Promise.resolve(files.get(name) ?? null) };
}
