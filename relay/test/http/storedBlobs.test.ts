import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BlobErrorBody, blobHeaders, uploadLimits } from '../../contract/blobs.ts';
import { deleteAccount } from '../../src/accounts/deletion.ts';
import { uploadLifetime } from '../../src/blobs/blobs.ts';
import { strayAfter } from '../../src/jobs/blobs.ts';
import { eventually } from '../eventually.ts';
import { onAnotherDevice, signUpOnDevice } from '../helpers.ts';
import {
  advance,
  anotherRelay,
  blobJob,
  comeBack,
  fileOf,
  files,
  folder,
  mebibyte,
  now,
  other,
  person,
  relay,
  storage,
  withFileRelay,
} from './fileRelay.ts';
import {
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
  uploaded,
} from './uploads.ts';

const day = 24 * 60 * 60 * 1000;

withFileRelay();

describe('a file', () => {
  it('is read by one range of it', async () => {
    const bytes = randomBytes(1000);
    const id = await uploaded(relay, person, bytes);
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=10-99', 10, 99],
      ['bytes=990-', 990, 999],
      ['bytes=990-5000', 990, 999],
      ['bytes=-10', 990, 999],
      ['bytes=-5000', 0, 999],
    ] as const) {
      const answer = await read(relay, other, id, { range });
      expect([range, answer.status, answer.headers.get('content-range')]).toEqual([
        range,
        206,
        `bytes ${start}-${end}/1000`,
      ]);
      expect((await bytesOf(answer)).equals(bytes.subarray(start, end + 1))).toBe(true);
    }
    for (const range of ['bytes=1000-', 'bytes=1000-2000', 'bytes=-0']) {
      const answer = await read(relay, other, id, { range });
      expect(answer.headers.get('content-range')).toBe('bytes */1000');
      expect(await refusalOf(answer)).toEqual([416, 'range-not-satisfiable']);
    }
    // RFC 9110, section 14.2: a range that is not understood is no range.
    for (const range of ['bytes=9-1', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-', 'bytes=01-2', 'bytes 1-2']) {
      expect([range, (await read(relay, other, id, { range })).status]).toEqual([range, 200]);
    }
  });

  it('has a tag by which it is not sent twice, and by which ranges of it go together', async () => {
    const id = await uploaded(relay, person, 1000);
    const etag = (await read(relay, person, id)).headers.get('etag') ?? '';
    expect((await read(relay, person, id, { 'if-none-match': etag })).status).toBe(304);
    expect((await read(relay, person, id, { 'if-range': etag, range: 'bytes=0-9' })).status).toBe(206);
    expect((await read(relay, person, id, { 'if-range': '"other"', range: 'bytes=0-9' })).status).toBe(200);
    const head = await callBlobs(relay, other, 'HEAD', `/blobs/${id}`);
    expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
      200,
      '1000',
      etag,
    ]);
    expect(head.headers.get(blobHeaders.offset)).toBeNull();
  });

  it('that is not whole, not there or no longer there, is the same to everybody', async () => {
    const unfinished = await created(relay, person, 1000);
    const deleted = await uploaded(relay, person, 100);
    await remove(relay, person, deleted);
    const answers: string[] = [];
    for (const id of [
      unfinished,
      deleted,
      randomBytes(16).toString('base64url'),
      'short',
      '..%2f..%2fsecrets',
    ]) {
      for (const answer of [
        await read(relay, other, id),
        await read(relay, other, id, { range: 'bytes=0-1' }),
      ]) {
        answers.push(`${answer.status} ${answer.headers.get('cache-control')} ${await answer.text()}`);
        expect(answer.headers.get('etag')).toBeNull();
      }
    }
    expect(new Set(answers)).toEqual(
      new Set(['404 no-store {"detail":"There is no such file.","code":"not-found"}']),
    );
  });

  it('is deleted by its person alone', async () => {
    const id = await uploaded(relay, person, 1000);
    for (const answer of [
      await remove(relay, other, id),
      await patch(relay, other, id, 1000, Buffer.alloc(0)),
    ]) {
      expect(await refusalOf(answer)).toEqual([404, 'not-found']);
    }
    expect((await look(relay, other, id)).status).toBe(404);
    expect((await remove(relay, null, id)).status).toBe(401);
    expect((await read(relay, null, id)).status).toBe(401);
    expect((await read(relay, other, id)).status).toBe(200);
    expect((await remove(relay, person, id)).status).toBe(204);
    expect((await read(relay, person, id)).status).toBe(404);
  });

  it('has an id that no log has, and a file that nobody else can open', async () => {
    const id = await uploaded(relay, person, 1000);
    await read(relay, other, id);
    expect(relay.logLines.join('')).not.toContain(id);
    for (const place of [fileOf(id), path.dirname(fileOf(id))]) {
      expect((await stat(place)).mode & 0o077).toBe(0);
    }
  });

  it('goes with the account', async () => {
    const ids = [await uploaded(relay, person, 1000), await created(relay, person, 1000)];
    await patch(relay, person, ids[1] ?? '', 0, randomBytes(10));
    expect((await person.call('DELETE', '/user')).status).toBe(204);
    for (const id of ids) expect((await read(relay, other, id)).status).toBe(404);
    const { db } = relay.relay.database;
    await eventually(async () => {
      for (const id of ids) expect(await files()).not.toContain(id);
      expect(await db.selectFrom('deleted_blobs').selectAll().execute()).toEqual([]);
    });
  });
});

describe('the files of an account that is deleted', () => {
  it('are deleted a few at a time, nobody waits for them, and the job goes on where the relay has stopped', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { database, services } = relay.relay;
    const { db } = database;
    const kept = await uploaded(relay, other, 1000);
    const ids = Array.from({ length: 250 }, () => randomBytes(16).toString('base64url'));
    const rows = ids.map((id) => ({ id, user_id: person.id, device_id: null, length: 10, created_at: now }));
    await db.insertInto('blobs').values(rows).execute();
    const left = async () =>
      (await db.selectFrom('blobs').select('id').where('user_id', '=', person.id).execute()).length;
    const { blobs } = await anotherRelay({ delete: () => gate });
    await deleteAccount({ db, hub: services.hub, clock: () => now, blobs }, person.id);
    await eventually(async () => expect(await left()).toBe(150));
    const closed = blobs.close();
    open();
    await closed;
    expect(await left()).toBe(150);
    await (await blobJob()).run();
    expect(await left()).toBe(0);
    expect(await db.selectFrom('deleted_blobs').selectAll().execute()).toEqual([]);
    expect((await read(relay, other, kept)).status).toBe(200);
  });

  it('can’t be read from the moment that it is', async () => {
    const { database, services } = relay.relay;
    const id = await uploaded(relay, person, 1000);
    await deleteAccount({ ...database, hub: services.hub, clock: () => now, blobs: null }, person.id);
    expect(await refusalOf(await read(relay, other, id))).toEqual([404, 'not-found']);
    expect(await files()).toContain(id);
    await (await blobJob()).run();
    expect(await files()).not.toContain(id);
  });
});

describe('an upload whose id was lost', () => {
  it('is listed to the device that began it alone, until it is whole, and can be ended', async () => {
    const [one, another] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
    const second = await onAnotherDevice(relay, one);
    const [lost, whole] = [await created(relay, one, 1000), await created(relay, one, 2000)];
    expect((await storage(one)).unfinished).toEqual([
      { id: lost, length: 1000 },
      { id: whole, length: 2000 },
    ]);
    await patch(relay, one, whole, 0, randomBytes(2000));
    expect((await storage(one)).unfinished).toEqual([{ id: lost, length: 1000 }]);
    for (const stranger of [second, another]) expect((await storage(stranger)).unfinished).toEqual([]);
    await remove(relay, one, lost);
    expect(await storage(one)).toMatchObject({ storedBlobs: 1, unfinished: [] });
  });
});

describe('one person', () => {
  it('is told what there is room for, and has no more than that', async () => {
    expect(await storage(person)).toEqual({
      maxBlobBytes: 2 * mebibyte,
      blobDays: 90,
      quotaBytes: 4 * mebibyte,
      storedBlobs: 0,
      storedBytes: 0,
      unfinished: [],
    });
    expect(await refusalOf(await create(relay, person, 2 * mebibyte + 1))).toEqual([
      413,
      'payload-too-large',
    ]);
    const first = await created(relay, person, 2 * mebibyte);
    // Each counts whole blocks of the disk.
    await created(relay, person, 1);
    expect(await storage(person)).toMatchObject({ storedBlobs: 2, storedBytes: 2 * mebibyte + 4096 });
    const answer = await create(relay, person, 2 * mebibyte);
    expect(answer.status).toBe(413);
    expect(BlobErrorBody.parse(await answer.json())).toMatchObject({ code: 'quota', quota: 'blobs' });
    expect((await create(relay, other, 2 * mebibyte)).status).toBe(201);
    await remove(relay, person, first);
    expect((await create(relay, person, 2 * mebibyte)).status).toBe(201);
  });

  it('has so many uploads at a time that are not whole', async () => {
    const ids: string[] = [];
    for (let count = 0; count < uploadLimits.unfinished; count++) ids.push(await created(relay, person, 10));
    const answer = await create(relay, person, 10);
    expect(BlobErrorBody.parse(await answer.json())).toMatchObject({ code: 'quota', quota: 'uploads' });
    await patch(relay, person, ids[0] ?? '', 0, randomBytes(10));
    const last = await created(relay, person, 10);
    expect((await create(relay, person, 10)).status).toBe(413);
    await remove(relay, person, last);
    expect((await create(relay, person, 10)).status).toBe(201);
    advance(uploadLifetime);
    await comeBack();
    expect((await create(relay, person, 10)).status).toBe(201);
  });

  it('who begins many at once has no more of them', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(relay, person, 10)));
    const taken = answers.filter(({ status }) => status === 201).length;
    expect(taken).toBe(uploadLimits.unfinished);
    expect((await storage(person)).storedBlobs).toBe(taken);
  });
});

describe('the job', () => {
  it('deletes files that are kept no longer and uploads that were not finished, and nothing else', async () => {
    const old = await uploaded(relay, person, 1000);
    advance(2 * day);
    await comeBack();
    const young = await uploaded(relay, person, 1000);
    const upload = await created(relay, person, 1000);
    await patch(relay, person, upload, 0, randomBytes(10));
    advance(88 * day);
    await comeBack();
    const begun = await created(relay, person, 1000);
    await patch(relay, person, begun, 0, randomBytes(10));
    await (await blobJob()).run();
    expect((await files()).toSorted()).toEqual(expect.arrayContaining([young, begun]));
    for (const id of [old, upload]) expect(await files()).not.toContain(id);
    expect((await read(relay, person, old)).status).toBe(404);
    expect((await read(relay, person, young)).status).toBe(200);
    expect(await offsetOf(relay, person, begun)).toBe(10);
    expect(await storage(person)).toMatchObject({ storedBlobs: 2, storedBytes: 2 * 4096 });
  });

  it('deletes files without rows, and rows without files', async () => {
    const [kept, without, half] = [
      await uploaded(relay, person, 1000),
      await uploaded(relay, person, 1000),
      await uploaded(relay, person, 1000),
    ];
    await rm(fileOf(without));
    await truncate(fileOf(half), 999);
    expect((await read(relay, person, without)).status).toBe(404);
    expect((await read(relay, person, half)).status).toBe(404);
    const [stray, recent] = [randomBytes(16).toString('base64url'), randomBytes(16).toString('base64url')];
    for (const id of [stray, recent]) {
      await mkdir(path.dirname(fileOf(id)), { recursive: true });
      await writeFile(fileOf(id), 'left by a backup');
    }
    const longAgo = new Date(now - strayAfter - 1000);
    await utimes(fileOf(stray), longAgo, longAgo);
    await writeFile(path.join(folder(), 'notes.txt'), 'the operator’s');
    await (await blobJob()).run();
    const left = await files();
    expect(left).toEqual(expect.arrayContaining([kept, recent]));
    for (const id of [stray, half]) expect(left).not.toContain(id);
    expect(await storage(person)).toMatchObject({ storedBlobs: 1 });
    expect(await readdir(folder())).toContain('notes.txt');
    await rm(fileOf(recent));
  });

  it('deletes no row because the folder of the files is another one', async () => {
    const id = await uploaded(relay, person, 1000);
    await rename(folder(), `${folder()}.away`);
    await mkdir(folder());
    await (await blobJob()).run();
    expect(relay.logLines.join('')).toContain('BLOB_DIR is not the folder');
    expect(await refusalOf(await create(relay, person, 10))).toEqual([503, 'unavailable']);
    await rm(folder(), { recursive: true });
    await rename(`${folder()}.away`, folder());
    expect((await read(relay, person, id)).status).toBe(200);
  });

  it('deletes at last what could not be deleted before', async () => {
    const id = await uploaded(relay, person, 1000);
    // A folder in its place can't be removed as a file is.
    await rm(fileOf(id));
    await mkdir(fileOf(id));
    expect((await remove(relay, person, id)).status).toBe(204);
    expect((await read(relay, person, id)).status).toBe(404);
    await rmdir(fileOf(id));
    await writeFile(fileOf(id), 'still here');
    await (await blobJob()).run();
    expect(await files()).not.toContain(id);
  });
});
