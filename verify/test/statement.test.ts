import { cp, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalBytes, canonicalText, type Json, parseCanonical } from '../src/chain/canonical.ts';
import { parseStatement, type ReleaseStatement } from '../src/chain/statement.ts';
import { waictManifest, webcatManifest } from '../src/manifests.ts';
import {
  firstRelease,
  holders,
  type SignedChain,
  stated,
  writeBuilt,
  writeClient,
} from './support/releases.ts';

let folder: string;
let first: SignedChain;
let bytes: Uint8Array;
let release: ReleaseStatement;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sinetti-statement-'));
  await writeClient(folder);
  first = await firstRelease(folder, holders('anna', 'bertta', 'carl'));
  bytes = first.steps[1]!.bytes;
  release = first.chain.release!;
});
afterAll(() => rm(folder, { recursive: true }));

describe('canonical JSON', () => {
  it('is that of RFC 8785, section 3.2.3', () => {
    const example = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const names = [...canonicalText(example).matchAll(/"([^"]+)":/g)].map(([, name]) => name);
    expect(names).toEqual(['\\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
    expect(canonicalText({ b: [1, null, true], a: '\u20ac$\u000f\nA\'B"\\\\"/' })).toBe(
      '{"a":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/","b":[1,null,true]}',
    );
  });

  it.each([
    ['with a space', '{"a": 1}'],
    ['with names in another order', '{"b":1,"a":2}'],
    ['with a name twice', '{"a":1,"a":2}'],
    ['with a line after it', '{"a":1}\n'],
    ['with a mark before it', '\ufeff{"a":1}'],
    ['with a needless escape', '{"\\u0061":1}'],
    ['with a number in another form', '{"a":1.0}'],
    ['with a fraction', '{"a":1.5}'],
    ['with half a character', '{"a":"\\ud83d"}'],
    ['that is cut short', '{"a":1'],
  ])('is not what is written %s', (_, text) => {
    expect(() => parseCanonical(Buffer.from(text))).toThrow(/^(?:This is not|A statement holds)/);
  });
});

describe('the statement of a release', () => {
  it('is the same bytes for the same files, wherever and whenever they were built', async () => {
    const elsewhere = await mkdtemp(path.join(tmpdir(), 'sinetti-elsewhere-'));
    await cp(folder, elsewhere, { recursive: true });
    await utimes(path.join(elsewhere, 'app/index.html'), new Date(0), new Date(0));
    const former = { seq: 1, hash: release.prev };
    expect(Buffer.from(await stated(elsewhere, former)).equals(Buffer.from(bytes))).toBe(true);
    await writeBuilt(elsewhere, 'app/robots.txt', 'Disallow: /\n');
    expect(Buffer.from(await stated(elsewhere, former)).equals(Buffer.from(bytes))).toBe(false);
    await rm(elsewhere, { recursive: true });
  });

  it('has a hash of each file, and of the WebAssembly in the worker', () => {
    expect(Object.keys(release.files.app)).toHaveLength(10);
    expect(Object.keys(release.files.keys)).toHaveLength(5);
    expect(release.wasm).toHaveLength(1);
    expect(release.policies.room).toContain('frame-ancestors {app};');
  });

  it.each([
    ['another type', { type: 'release' }],
    ['a member that nobody knows', { time: 1 }],
    ['a number that is none', { seq: '2' }],
    ['a number of no step', { seq: 0 }],
    ['a hash that is too short', { prev: 'AAAA' }],
    ['a path that leads up', { files: { app: { '/../x': 'A'.repeat(43) }, keys: {} } }],
    ['no files', { files: { app: {}, keys: {} } }],
    ['a line in a header', { caching: { assets: 'a\r\nb', others: '' } }],
    ['a policy that there is not', { policyOf: { app: { '/x': 'none' }, keys: {} } }],
    ['an unsorted list', { wasm: ['B'.repeat(43), 'A'.repeat(43)] }],
  ])('is refused with %s', (_, change) => {
    const value = parseCanonical(bytes) as Record<string, Json>;
    expect(parseStatement(canonicalBytes(value))).toMatchObject({ type: 'sinetti-release' });
    expect(() => parseStatement(canonicalBytes({ ...value, ...change }))).toThrow(
      /^(?:A statement has|This is neither)/,
    );
    for (const name of Object.keys(value)) {
      const { [name]: _left, ...others } = value;
      expect(() => parseStatement(canonicalBytes(others))).toThrow(/^(?:A statement has no|This is neither)/);
    }
  });
});

describe('the manifests that are made of it', () => {
  it('of WAICT have the pages by each address, and name the file by its hash', () => {
    const { address, body } = waictManifest(release, 'app');
    const [text = '', proof, end] = Buffer.from(body).toString('utf8').split('\n');
    const { hashes, fallback_hashes: fallback } = JSON.parse(text) as {
      hashes: Record<string, string>;
      fallback_hashes: string[];
    };
    expect(hashes['/']).toBe(release.files.app['/index.html']);
    expect(fallback).toEqual([hashes['/']]);
    expect([proof, end]).toEqual(['', '']);
    expect(address).toMatch(/^\/\.well-known\/waict\/manifests\/[\w-]{22}$/);
    expect(Buffer.from(waictManifest(release, 'keys').body).toString()).toContain(
      `"wasm_hashes":["${release.wasm[0]}"]`,
    );
  });

  it('of WEBCAT have the addresses of one relay in their policies', () => {
    const origins = { app: 'https://chat.example.org', keys: 'https://keys.chat.example.org' };
    const manifest = webcatManifest(release, 'app', 'https://sinetti.example', origins);
    expect(manifest.default_csp).toContain("frame-src 'self' https://keys.chat.example.org;");
    // Each relay puts a name of its own into the manifest of the app.
    const { '/manifest.webmanifest': _, ...alike } = release.files.app;
    expect(manifest.files).toEqual(alike);
    for (const place of ['{keys}', '{connect}']) expect(canonicalText(manifest)).not.toContain(place);
  });
});
