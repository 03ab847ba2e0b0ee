import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { blobHeaders, uploadType } from '../../contract/blobs.ts';
import { mostReads, OpenReads, unreadAfter } from '../../src/blobs/openReads.ts';
import { eventually } from '../eventually.ts';
import { fakeTimeouts } from '../fakeTimeouts.ts';
import { type Person, signUp, startTestRelay, type TestRelay } from '../helpers.ts';
import { created, read, refusalOf, uploaded } from './uploads.ts';

const mebibyte = 1024 * 1024;
const length = 100 * mebibyte;

let relay: TestRelay;
let person: Person;
const sockets: Socket[] = [];
beforeAll(async () => {
  relay = await startTestRelay({ environment: { RATE_LIMITS: 'off' } });
  person = await signUp(relay);
  relay.relay.app.server.on('connection', (socket: Socket) => sockets.push(socket));
});
afterAll(() => relay.close());

/** Looks again and again, while something runs, at how many bytes are held. @returns the most there were */
async function mostHeld(held: () => number, task: Promise<unknown>): Promise<number> {
  let most = 0;
  let timer: NodeJS.Immediate;
  const look = () => {
    most = Math.max(most, held());
    timer = setImmediate(look);
  };
  look();
  await task.finally(() => clearImmediate(timer));
  return most;
}

const open = (method: string, id: string, headers: Record<string, string> = {}) =>
  request(`${relay.url}/api/blobs/${id}`, {
    method,
    agent: false,
    headers: { authorization: `Bearer ${person.token}`, ...headers },
  });

const fileOf = (id: string) => path.join(relay.dataDir, 'blobs', id.slice(0, 2), id.slice(2));

/** How often this process has a file open. */
function timesOpen(file: string): number {
  const targets = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // It has been closed meanwhile.
      return null;
    }
  });
  return targets.filter((target) => target === file).length;
}

/** Asks for a file, and reads nothing of the answer. */
function askAlone(id: string): Socket {
  const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined).pause();
  onTestFinished(() => void socket.destroy());
  socket.write(
    `GET /api/blobs/${id} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${person.token}\r\n\r\n`,
  );
  return socket;
}

it('files that somebody asks for and doesn’t read are open for a minute, and not too many of them', async () => {
  const id = await uploaded(relay, person, 40 * mebibyte);
  const other = await signUp(relay);
  fakeTimeouts();
  for (let count = 0; count < mostReads.ofOne; count++) askAlone(id);
  await eventually(() => expect(timesOpen(fileOf(id))).toBe(mostReads.ofOne));
  const refused = await read(relay, person, id);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refusalOf(refused)).toEqual([429, 'rate-limited']);
  expect((await read(relay, other, id, { range: 'bytes=0-9' })).status).toBe(206);
  await eventually(() => {
    vi.advanceTimersByTime(unreadAfter);
    expect(timesOpen(fileOf(id))).toBe(0);
  });
  expect((await read(relay, person, id, { range: 'bytes=0-9' })).status).toBe(206);
});

it('files are open for so many readers at most, whoever they are', async () => {
  const reads = new OpenReads({ ofOne: 2, ofAll: 3 });
  const open = (userId: string) => reads.open(userId, async () => new PassThrough());
  const first = await open('aino');
  await open('aino');
  await expect(open('aino')).rejects.toMatchObject({ code: 'rate-limited' });
  await open('eero');
  await expect(open('oona')).rejects.toMatchObject({ code: 'unavailable' });
  first.destroy();
  await once(first, 'close');
  await open('oona');
  await expect(reads.open('eero', async () => null)).rejects.toMatchObject({ code: 'unavailable' });
});

it('a file of 100 MiB is never in memory, neither while it comes nor while it goes', async () => {
  const id = await created(relay, person, length);
  const file = fileOf(id);
  const chunk = randomBytes(mebibyte);
  sockets.length = 0;
  const sent = open('PATCH', id, {
    [blobHeaders.resumable]: '1.0.0',
    [blobHeaders.offset]: '0',
    'content-type': uploadType,
    'content-length': String(length),
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  const sending = (async () => {
    for (let count = 0; count < length / mebibyte; count++) {
      if (!sent.write(chunk)) await once(sent, 'drain');
    }
    sent.end();
    const [response] = await answered;
    expect(response.statusCode).toBe(204);
  })();
  const written = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const came = () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  const heldComing = await mostHeld(() => came() - written(), sending);
  expect(written()).toBe(length);

  sockets.length = 0;
  const asked = open('GET', id);
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const hash = createHash('sha256');
  const handedOn = () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  // Nobody reads: the system's own buffers take some MiB, and the relay reads the disk no further.
  const waiting = (async () => {
    for (let turns = 0; turns < 2000; turns++) await new Promise((resolve) => setImmediate(resolve));
  })();
  const handedOnUnread = await mostHeld(handedOn, waiting);
  expect(handedOnUnread).toBeLessThan(16 * mebibyte);
  for await (const part of response as AsyncIterable<Buffer>) hash.update(part);
  expect(handedOn()).toBeGreaterThan(length);
  const whole = createHash('sha256');
  for (let count = 0; count < length / mebibyte; count++) whole.update(chunk);
  expect(hash.digest().equals(whole.digest())).toBe(true);
  expect(heldComing).toBeLessThan(2 * mebibyte);
}, 60_000);
