import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differencesOf } from '../../build/release/differences.mjs';

describe('two builds', () => {
  let around: string;
  const folder = (name: string) => path.join(around, name);

  beforeEach(async () => {
    around = await mkdtemp(path.join(tmpdir(), 'sinetti-differences-'));
    for (const name of ['one', 'other']) {
      await mkdir(path.join(folder(name), 'assets'), { recursive: true });
      await writeFile(path.join(folder(name), 'index.html'), '<!doctype html>');
      await writeFile(path.join(folder(name), 'assets/page.js'), 'const when = "27 November";');
    }
  });
  afterEach(() => rm(around, { recursive: true }));

  it('of the same bytes differ in nothing', () => {
    expect(differencesOf(folder('one'), folder('other'))).toEqual([]);
  });

  it('are told apart by file and offset', async () => {
    await writeFile(path.join(folder('other'), 'assets/page.js'), 'const when = "28 November";');
    expect(differencesOf(folder('one'), folder('other'))).toEqual([
      'assets/page.js: another from byte 15 on (27 and 27 bytes): "7 November\\";" and "8 November\\";"',
    ]);
  });

  it('are told apart where one goes on after the end of the other', async () => {
    await writeFile(path.join(folder('one'), 'index.html'), '<!doctype html>\n');
    expect(differencesOf(folder('one'), folder('other'))).toEqual([
      'index.html: another from byte 15 on (16 and 15 bytes): "\\n" and ""',
    ]);
  });

  it('are told apart by a file that one of them alone has', async () => {
    await writeFile(path.join(folder('one'), 'assets/more.js'), '');
    await rm(path.join(folder('one'), 'index.html'));
    expect(differencesOf(folder('one'), folder('other'))).toEqual([
      `assets/more.js: only in ${folder('one')}`,
      `index.html: only in ${folder('other')}`,
    ]);
  });
});
