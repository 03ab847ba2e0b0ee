import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blobHeaders, uploadType } from '../../contract/blobs.ts';
import { type Person, signUp, startTestRelay, type TestRelay } from '../helpers.ts';
import { created } from './uploads.ts';

const mebibyte = 1024 * 1024;
const length = 100 * mebibyte;

let relay: TestRelay;
let person: Person;
const sockets: Socket[] = [];
beforeAll(async () => {
  relay = await startTestRelay();
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

it('a file of 100 MiB is never in memory, neither while it comes nor while it goes', async () => {
  const id = await created(relay, person, length);
  const file = path.join(relay.dataDir, 'blobs', id.slice(0, 2), id.slice(2));
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
