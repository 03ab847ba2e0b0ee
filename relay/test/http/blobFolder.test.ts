import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StartupError } from '../../src/errors.ts';
import { strayAfter } from '../../src/jobs/blobs.ts';
import { signUp, startTestRelay, type TestRelay, temporaryFolder } from '../helpers.ts';
import { blobJob, fileOf, files, folder, other, person, relay, withFileRelay } from './fileRelay.ts';
import { read, remove, uploaded } from './uploads.ts';

withFileRelay();

const mark = () => path.join(folder(), 'sinetti-blobs');
/** Puts another mark in the place of the folder's until the test has ended. @returns a function that puts it back */
async function remark(text: string | null): Promise<() => Promise<void>> {
  const before = await readFile(mark(), 'utf8');
  if (text === null) await rm(mark());
  else await writeFile(mark(), text);
  return () => writeFile(mark(), before);
}

describe('a folder of files', () => {
  let dataDir: string;
  let blobDir: string;
  const started: TestRelay[] = [];
  beforeEach(async () => {
    [dataDir, blobDir] = [await temporaryFolder(), await temporaryFolder()];
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.close();
    for (const made of [dataDir, blobDir]) await rm(made, { recursive: true });
  });
  const start = async (ownData = dataDir) => {
    const one = await startTestRelay({ dataDir: ownData, environment: { BLOB_DIR: blobDir } });
    started.push(one);
    return one;
  };
  const stop = async () => {
    for (const one of started.splice(0)) await one.close();
  };
  const refusal = (ownData = dataDir) =>
    start(ownData).then(
      () => null,
      (error: unknown) => (error instanceof StartupError ? error.message : error),
    );
  const withFile = async () => {
    const one = await start();
    const somebody = await signUp(one);
    const id = await uploaded(one, somebody, 1000);
    return { id, somebody };
  };
  const ownMark = () => path.join(blobDir, 'sinetti-blobs');

  it('is of one database: a relay with another one refuses to start on it', async () => {
    await withFile();
    const otherData = await temporaryFolder();
    expect(await refusal(otherData)).toContain('has the files of another database');
    await rm(otherData, { recursive: true });
    await stop();
    expect(await refusal()).toBeNull();
  });

  it('that is not there keeps a relay with files from starting, until it is, or the operator says that they are lost', async () => {
    await withFile();
    await stop();
    await rm(blobDir, { recursive: true });
    await mkdir(blobDir);
    expect(await refusal()).toContain('is not the folder of the files that people have sent');
    await writeFile(ownMark(), '');
    expect(await refusal()).toBeNull();
    expect((await readFile(ownMark(), 'utf8')).trim()).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('from before folders were named is taken once by the database that knows its files, and by no other', async () => {
    const { id, somebody } = await withFile();
    await stop();
    await writeFile(ownMark(), '');
    const otherData = await temporaryFolder();
    expect(await refusal(otherData)).toContain("has files that this database doesn't know");
    const again = await start();
    expect((await read(again, somebody, id)).status).toBe(200);
    expect(await refusal(otherData)).toContain('has the files of another database');
    await rm(otherData, { recursive: true });
  });
});

describe('while another folder is mounted in the place of the files', () => {
  for (const [what, text] of [
    ['without a mark', null],
    ['of another database', 'another\n'],
  ] as const) {
    it(`${what}, nothing in it is deleted, and no row`, async () => {
      const id = await uploaded(relay, person, 1000);
      const cancelled = await uploaded(relay, person, 1000);
      const foreign = randomBytes(16).toString('base64url');
      await mkdir(path.dirname(fileOf(foreign)), { recursive: true });
      await writeFile(fileOf(foreign), 'of another database');
      const longAgo = new Date(Date.now() - 2 * strayAfter);
      await utimes(fileOf(foreign), longAgo, longAgo);
      const putBack = await remark(text);
      expect((await remove(relay, person, cancelled)).status).toBe(204);
      await (await blobJob()).run();
      expect(await files()).toEqual(expect.arrayContaining([id, cancelled, foreign]));
      await putBack();
      expect((await read(relay, other, id)).status).toBe(200);
      await (await blobJob()).run();
      expect(await files()).not.toContain(cancelled);
      expect(await files()).not.toContain(foreign);
    });
  }

  it('that is mounted in the middle of the daily comparison, nothing more is deleted', async () => {
    const id = await uploaded(relay, person, 1000);
    let asked = 0;
    const job = await blobJob({ isTheirs: async () => asked++ === 0, size: async () => 0 });
    await expect(job.run()).rejects.toThrow('another one by now');
    expect((await read(relay, other, id)).status).toBe(200);
    expect(await files()).toContain(id);
  });
});
