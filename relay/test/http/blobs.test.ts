import { randomBytes } from 'node:crypto';
import { appendFile, stat, truncate } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { blobHeaders, uploadType } from '../../contract/blobs.ts';
import { uploadLifetime } from '../../src/blobs/blobs.ts';
import { eventually } from '../eventually.ts';
import { call } from '../helpers.ts';
import {
  advance,
  comeBack,
  fileOf,
  files,
  mebibyte,
  now,
  other,
  person,
  relay,
  storage,
  withFileRelay,
} from './fileRelay.ts';
import {
  beginPatch,
  bytesOf,
  callBlobs,
  create,
  created,
  look,
  offsetOf,
  patch,
  read,
  refusalOf,
  remove,
} from './uploads.ts';

withFileRelay();

describe('an upload', () => {
  it('is created, sent in pieces, and read by whoever knows its id', async () => {
    const bytes = randomBytes(100_000);
    const creation = await create(relay, person, bytes.length);
    expect(creation.status).toBe(201);
    const location = creation.headers.get('location') ?? '';
    expect(location).toMatch(/^\/api\/blobs\/[\w-]{22}$/);
    expect(creation.headers.get(blobHeaders.resumable)).toBe('1.0.0');
    const expires = Date.parse(creation.headers.get(blobHeaders.expires) ?? '');
    expect(Math.abs(expires - (now + 24 * 60 * 60 * 1000))).toBeLessThan(1000);

    const id = location.replace('/api/blobs/', '');
    const first = await patch(relay, person, id, 0, bytes.subarray(0, 70_000));
    expect([first.status, first.headers.get(blobHeaders.offset)]).toEqual([204, '70000']);
    const seen = await look(relay, person, id);
    expect([seen.status, seen.headers.get(blobHeaders.offset), seen.headers.get(blobHeaders.length)]).toEqual(
      [200, '70000', '100000'],
    );
    expect(seen.headers.get('cache-control')).toBe('no-store');
    const last = await patch(relay, person, id, 70_000, bytes.subarray(70_000));
    expect([last.status, last.headers.get(blobHeaders.offset)]).toEqual([204, '100000']);
    expect(last.headers.get(blobHeaders.expires)).toBeNull();

    for (const reader of [person, other]) {
      const answer = await read(relay, reader, id);
      expect(answer.status).toBe(200);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'accept-ranges': 'bytes',
        'cache-control': 'private, max-age=86400, immutable',
        'content-length': '100000',
        'content-type': 'application/octet-stream',
        'x-content-type-options': 'nosniff',
      });
      expect((await bytesOf(answer)).equals(bytes)).toBe(true);
    }
  });

  it('can have its first bytes, or all of them, with its creation', async () => {
    const bytes = randomBytes(5000);
    const whole = await create(relay, person, 5000, { body: bytes });
    expect([whole.status, whole.headers.get(blobHeaders.offset)]).toEqual([201, '5000']);
    const id = whole.headers.get('location')?.replace('/api/blobs/', '') ?? '';
    expect((await bytesOf(await read(relay, other, id))).equals(bytes)).toBe(true);
    const begun = await create(relay, person, 5000, { body: bytes.subarray(0, 10) });
    expect([begun.status, begun.headers.get(blobHeaders.offset)]).toEqual([201, '10']);
    expect(await refusalOf(await create(relay, person, 9, { body: bytes }))).toEqual([
      413,
      'payload-too-large',
    ]);
  });

  it('goes on after a connection that broke off in the middle, from where it came to', async () => {
    const bytes = randomBytes(300_000);
    const id = await created(relay, person, bytes.length);
    const socket = beginPatch(relay, person, id, {
      offset: 0,
      announced: 300_000,
      body: bytes.subarray(0, 200_000),
    });
    await eventually(async () => expect((await stat(fileOf(id))).size).toBeGreaterThan(100_000));
    socket.destroy();
    const offset = await offsetOf(relay, person, id);
    expect(offset).toBeGreaterThan(100_000);
    expect(offset).toBeLessThanOrEqual(200_000);
    expect((await patch(relay, person, id, offset, bytes.subarray(offset))).status).toBe(204);
    expect((await bytesOf(await read(relay, person, id))).equals(bytes)).toBe(true);
  });

  it('that two calls write goes on by the later one, from where the former came to', async () => {
    const bytes = randomBytes(300_000);
    const id = await created(relay, person, bytes.length);
    const dead = beginPatch(relay, person, id, {
      offset: 0,
      announced: 300_000,
      body: bytes.subarray(0, 100_000),
    });
    let answer = '';
    dead.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    await eventually(async () => expect((await stat(fileOf(id))).size).toBeGreaterThan(0));
    const offset = await offsetOf(relay, person, id);
    await eventually(() => expect(answer).toMatch(/^HTTP\/1\.1 409 /));
    expect(answer).toContain('offset-conflict');
    const rest = bytes.subarray(offset);
    const both = await Promise.all([
      patch(relay, person, id, offset, rest),
      patch(relay, person, id, offset, rest),
    ]);
    expect(both.map(({ status }) => status)).toContain(204);
    expect((await bytesOf(await read(relay, person, id))).equals(bytes)).toBe(true);
  });

  it('takes no bytes at another offset than it is at, and none beyond its length', async () => {
    const id = await created(relay, person, 1000);
    await patch(relay, person, id, 0, randomBytes(400));
    for (const offset of [0, 399, 401, 1000]) {
      const answer = await patch(relay, person, id, offset, randomBytes(10));
      expect(await refusalOf(answer)).toEqual([409, 'offset-conflict']);
    }
    for (const offset of ['-1', '0400', '4e2', '400.0', ' ', 'x']) {
      expect(await refusalOf(await patch(relay, person, id, offset, randomBytes(10)))).toEqual([
        422,
        'invalid-request',
      ]);
    }
    expect(await refusalOf(await patch(relay, person, id, 400, randomBytes(601)))).toEqual([
      413,
      'payload-too-large',
    ]);
    expect(await offsetOf(relay, person, id)).toBe(400);
    expect((await patch(relay, person, id, 400, randomBytes(600))).status).toBe(204);
    expect(await refusalOf(await patch(relay, person, id, 1000, randomBytes(1)))).toEqual([
      413,
      'payload-too-large',
    ]);
    expect(await refusalOf(await patch(relay, person, id, 0, randomBytes(1)))).toEqual([
      409,
      'offset-conflict',
    ]);
  });

  it('that is longer than it announces, in chunks of no length, is cut at its length', async () => {
    const id = await created(relay, person, 1000);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(randomBytes(700));
        controller.enqueue(randomBytes(700));
        controller.close();
      },
    });
    const answer = await fetch(`${relay.url}/api/blobs/${id}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${person.token}`,
        [blobHeaders.resumable]: '1.0.0',
        [blobHeaders.offset]: '0',
        'content-type': uploadType,
      },
      body,
      duplex: 'half',
    });
    expect(await refusalOf(answer)).toEqual([413, 'payload-too-large']);
    expect(await offsetOf(relay, person, id)).toBeLessThan(1000);
  });

  it('says nothing of a file but its length', async () => {
    for (const name of ['upload-metadata', 'upload-defer-length', 'upload-concat', 'upload-checksum']) {
      const answer = await create(relay, person, 10, { headers: { [name]: 'filename ZG9n' } });
      expect(await refusalOf(answer)).toEqual([422, 'invalid-request']);
    }
    for (const length of ['0', '-5', '1e3', '', '07', '99999999999999999']) {
      expect(await refusalOf(await create(relay, person, length))).toEqual([422, 'invalid-request']);
    }
    expect((await storage(person)).storedBlobs).toBe(0);
  });

  it('is of tus 1.0.0 and of no other version or media type', async () => {
    const id = await created(relay, person, 10);
    for (const [method, path] of [
      ['POST', '/blobs'],
      ['PATCH', `/blobs/${id}`],
      ['DELETE', `/blobs/${id}`],
    ] as const) {
      for (const headers of [{}, { [blobHeaders.resumable]: '0.2.2' }]) {
        const answer = await callBlobs(relay, person, method, path, { headers });
        expect(answer.headers.get(blobHeaders.version)).toBe('1.0.0');
        expect(await refusalOf(answer)).toEqual([412, 'unsupported-version']);
      }
    }
    const json = {
      [blobHeaders.resumable]: '1.0.0',
      [blobHeaders.offset]: '0',
      'content-type': 'application/json',
    };
    const body = Buffer.from('{"a":1}');
    expect(
      await refusalOf(await callBlobs(relay, person, 'PATCH', `/blobs/${id}`, { headers: json, body })),
    ).toEqual([415, 'unsupported-media-type']);
    const asUpload = await call(relay, 'POST', '/reports', {
      token: person.token,
      body: '{}',
      headers: { 'content-type': uploadType },
    });
    expect(asUpload).toMatchObject({ status: 415, body: { code: 'unsupported-media-type' } });
  });

  it('can be asked what it takes by anybody', async () => {
    const answer = await callBlobs(relay, null, 'OPTIONS', '/blobs');
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': 'creation,creation-with-upload,expiration,termination',
      'tus-max-size': String(2 * mebibyte),
    });
  });

  it('ends when its person says so, and leaves nothing', async () => {
    const id = await created(relay, person, 1000);
    await patch(relay, person, id, 0, randomBytes(400));
    expect(await files()).toContain(id);
    expect((await remove(relay, person, id)).status).toBe(204);
    expect(await files()).not.toContain(id);
    expect((await look(relay, person, id)).status).toBe(404);
    expect(await storage(person)).toMatchObject({ storedBlobs: 0, storedBytes: 0 });
  });

  it('that is not whole in a day is gone', async () => {
    const id = await created(relay, person, 1000);
    advance(uploadLifetime - 1);
    await comeBack();
    expect((await look(relay, person, id)).status).toBe(200);
    advance(1);
    expect((await look(relay, person, id)).status).toBe(410);
    expect(await refusalOf(await patch(relay, person, id, 0, randomBytes(10)))).toEqual([410, 'gone']);
    expect((await look(relay, other, id)).status).toBe(404);
  });
});

describe('after a crash', () => {
  it('what the disk is known to have is what counts', async () => {
    const bytes = randomBytes(1000);
    const id = await created(relay, person, 1000);
    await patch(relay, person, id, 0, bytes.subarray(0, 500));
    // As if the power had gone while more was on its way to the disk: it may be anything.
    await appendFile(fileOf(id), Buffer.alloc(300, 'x'));
    expect(await offsetOf(relay, person, id)).toBe(500);
    expect((await patch(relay, person, id, 500, bytes.subarray(500))).status).toBe(204);
    expect((await bytesOf(await read(relay, person, id))).equals(bytes)).toBe(true);
  });

  it('what the disk has lost is asked for again', async () => {
    const bytes = randomBytes(1000);
    const id = await created(relay, person, 1000);
    await patch(relay, person, id, 0, bytes.subarray(0, 500));
    await truncate(fileOf(id), 123);
    expect(await offsetOf(relay, person, id)).toBe(123);
    expect(await refusalOf(await patch(relay, person, id, 500, bytes.subarray(500)))).toEqual([
      409,
      'offset-conflict',
    ]);
    expect((await patch(relay, person, id, 123, bytes.subarray(123))).status).toBe(204);
    expect((await bytesOf(await read(relay, person, id))).equals(bytes)).toBe(true);
  });
});
