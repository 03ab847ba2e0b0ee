import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printable } from '../src/arguments.ts';
import { portOf, rememberPlace, seenPlace } from '../src/seen.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sinetti-seen-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the port at which a relay is opened', () => {
  // Both would be opened at the same one, by their hashes.
  const [one, other] = ['https://chat.example.org', 'https://c3997.evil.example'] as const;

  it('is its own and stays it, though another relay would have the same', async () => {
    const port = await portOf(folder, one, null);
    const next = await portOf(folder, other, null);
    expect(next).not.toBe(port);
    expect([await portOf(folder, other, null), await portOf(folder, one, null)]).toEqual([next, port]);
  });

  it('can be named, but not where another relay or its keys were', async () => {
    expect(await portOf(folder, one, 4000)).toBe(4000);
    for (const asked of [3999, 4000, 4001])
      await expect(portOf(folder, other, asked)).rejects.toMatchObject({ code: 'usage' });
    expect(await portOf(folder, other, 4002)).toBe(4002);
  });
});

describe('how far a chain was seen', () => {
  const [app, root] = ['https://chat.example.org', 'r'] as const;
  const hash = 'h'.repeat(43);

  it('is never less than it was, however long a run took, and however many there are', async () => {
    await rememberPlace(folder, app, root, { seq: 6, hash });
    await Promise.all(Array.from({ length: 20 }, () => rememberPlace(folder, app, root, { seq: 5, hash })));
    expect(await seenPlace(folder, app, root)).toEqual({ seq: 6, hash });
    await Promise.all(Array.from({ length: 20 }, () => rememberPlace(folder, app, root, { seq: 7, hash })));
    expect(await seenPlace(folder, app, root)).toEqual({ seq: 7, hash });
  });
});

it('what a relay says moves no cursor of the terminal', () => {
  expect(printable('one\u001b[2J\u009b1A\u202eåä\ntwo')).toBe('one\\u{1b}[2J\\u{9b}1A\\u{202e}åä\ntwo');
});
