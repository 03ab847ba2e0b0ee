import { randomBytes } from 'node:crypto';
import { mkdir, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { lease } from '../../src/blobs/blobs.ts';
import { eventually } from '../eventually.ts';
import {
  advance,
  anotherRelay,
  comeBack,
  fileOf,
  mebibyte,
  other,
  person,
  relay,
  withFileRelay,
} from './fileRelay.ts';
import { beginPatch, bytesOf, create, created, offsetOf, patch, read, refusalOf } from './uploads.ts';

withFileRelay();

describe('a full disk', () => {
  it('answers 507 to who appends, and keeps what there is', async () => {
    const bytes = randomBytes(600);
    const id = await created(relay, person, 600);
    await mkdir(path.dirname(fileOf(id)), { recursive: true });
    await symlink('/dev/full', fileOf(id));
    const before = relay.logLines.length;
    expect(await refusalOf(await patch(relay, person, id, 0, bytes))).toEqual([507, 'storage-full']);
    const lines = relay.logLines.slice(before).join('');
    expect(lines).toContain('the storage is full');
    expect(lines).not.toContain('stack');
    await rm(fileOf(id));
    expect(await offsetOf(relay, person, id)).toBe(0);
    expect((await patch(relay, person, id, 0, bytes)).status).toBe(204);
  });

  it('answers 507 to who creates what would leave no room for the database, with what others are to send', async () => {
    const few = await anotherRelay({ free: async () => 259 * mebibyte });
    // Tests before have left some unfinished.
    advance(61 * 60 * 1000);
    await comeBack();
    expect((await create(few, person, 2 * mebibyte)).status).toBe(201);
    expect(await refusalOf(await create(few, other, 2 * mebibyte))).toEqual([507, 'storage-full']);
    expect((await create(few, other, mebibyte)).status).toBe(201);
    expect((await create(few, other, 1)).status).toBe(507);
    // Nobody writes them any more: they may be written on while there is room.
    advance(61 * 60 * 1000);
    await comeBack();
    expect((await create(few, other, mebibyte)).status).toBe(201);
  });

  it('answers 507 to who writes what would leave no room for the database, until there is room again', async () => {
    let free = 300 * mebibyte;
    const few = await anotherRelay({ free: async () => free });
    const bytes = randomBytes(mebibyte);
    const id = await created(few, person, bytes.length);
    expect((await patch(few, person, id, 0, bytes.subarray(0, 1000))).status).toBe(204);
    free = 256 * mebibyte;
    expect(await refusalOf(await patch(few, person, id, 1000, bytes.subarray(1000)))).toEqual([
      507,
      'storage-full',
    ]);
    expect(await offsetOf(few, person, id)).toBe(1000);
    free = 300 * mebibyte;
    expect((await patch(few, person, id, 1000, bytes.subarray(1000))).status).toBe(204);
    expect((await bytesOf(await read(relay, other, id))).equals(bytes)).toBe(true);
  });
});

describe('two relays on one database', () => {
  const writerOf = async (id: string) => {
    const { db } = relay.relay.database;
    return (await db.selectFrom('blobs').select('writer').where('id', '=', id).executeTakeFirst())?.writer;
  };
  const begin = async (id: string, bytes: Buffer) => {
    const socket = beginPatch(relay, person, id, {
      offset: 0,
      announced: bytes.length,
      body: bytes.subarray(0, 100_000),
    });
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    await eventually(async () => expect((await stat(fileOf(id))).size).toBe(100_000));
    return { socket, answer: () => answer };
  };

  it('don’t write one upload at once: the second says that it is locked, until the first has let it go', async () => {
    const second = await anotherRelay();
    const bytes = randomBytes(300_000);
    const id = await created(relay, person, bytes.length);
    const { socket } = await begin(id, bytes);
    expect(await refusalOf(await patch(second, person, id, 0, bytes))).toEqual([423, 'upload-locked']);
    socket.destroy();
    await eventually(async () => {
      const offset = await offsetOf(second, person, id);
      expect(offset).toBe(100_000);
      expect((await patch(second, person, id, offset, bytes.subarray(offset))).status).toBe(204);
    });
    expect((await bytesOf(await read(relay, other, id))).equals(bytes)).toBe(true);
  });

  it('take over from one that has not been heard of for half a minute, whose writes count no longer', async () => {
    const second = await anotherRelay();
    const bytes = randomBytes(300_000);
    const id = await created(relay, person, bytes.length);
    const { answer, socket } = await begin(id, bytes);
    advance(lease.lasts);
    expect((await patch(second, person, id, 0, bytes.subarray(0, 50_000))).status).toBe(204);
    socket.write(bytes.subarray(100_000));
    await eventually(() => expect(answer()).toMatch(/^HTTP\/1\.1 409 /));
    expect(await offsetOf(second, person, id)).toBe(50_000);
    expect((await patch(second, person, id, 50_000, bytes.subarray(50_000))).status).toBe(204);
    expect((await bytesOf(await read(relay, other, id))).equals(bytes)).toBe(true);
  });

  it('don’t count what one writes after its turn was over, while the other one is as far as it was', async () => {
    const second = await anotherRelay();
    const bytes = randomBytes(300_000);
    const id = await created(relay, person, bytes.length);
    const { answer, socket } = await begin(id, bytes);
    const first = await writerOf(id);
    advance(lease.lasts);
    const taken = beginPatch(second, person, id, {
      offset: 0,
      announced: bytes.length,
      body: bytes.subarray(0, 10),
    });
    await eventually(async () => expect(await writerOf(id)).not.toBe(first));
    socket.write(bytes.subarray(100_000));
    await eventually(() => expect(answer()).toMatch(/^HTTP\/1\.1 409 /));
    taken.destroy();
    await eventually(async () => {
      const offset = await offsetOf(second, person, id);
      expect((await patch(second, person, id, offset, bytes.subarray(offset))).status).toBe(204);
    });
    expect((await bytesOf(await read(relay, other, id))).equals(bytes)).toBe(true);
  });
});
