/** The commands by which a release is stated, signed, packed and given other keys, on a build that stands in for one that takes minutes. */
import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { factsOf } from '../../relay/src/http/clientFacts.ts';
import { releaseHeaders } from '../../relay/src/http/headers.ts';
import { fingerprintOf } from '../src/making.ts';
import { newHolder } from './support/keys.ts';
import { keyLines, writeBuilt, writeClient } from './support/releases.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
const people = { anna: newHolder(), bertta: newHolder(), carl: newHolder(), dora: newHolder() };
const { anna, bertta, carl, dora } = people;

let around: string;
/** A repository with what a build has left in it, before there is a chain. */
let built: string;
let folder: string;

/** Writes what the commands take of this repository: their own files, and those of what they import as they were built. */
async function writeSource(): Promise<void> {
  for (const name of await readdir(path.join(root, 'build/release')))
    await cp(path.join(root, 'build/release', name), path.join(built, 'build/release', name));
  const compiler = path.join(root, 'node_modules/.bin/tsc');
  const out = path.join(built, 'verify/dist');
  await run(compiler, ['-p', path.join(root, 'verify/tsconfig.build.json'), '--outDir', out]);
  await writeClient(path.join(built, 'dist'));
  const headers = JSON.stringify(releaseHeaders(factsOf({ current: path.join(built, 'dist') })));
  const about = { name: 'sinetti', version: '1.0.0', private: true, type: 'module' };
  const files: Readonly<Record<string, string>> = {
    'package.json': JSON.stringify(about),
    'package-lock.json': JSON.stringify({ ...about, lockfileVersion: 3, packages: { '': about, relay: {} } }),
    '.gitignore': 'dist/\n',
    'docs/RELEASES.md': '# Releases\n',
    'relay/package.json': JSON.stringify({ ...about, name: 'relay' }),
    'relay/bin/relay.mjs': '',
    'relay/deploy/install.sh': '#!/bin/sh\n',
    'relay/dist/src/server.js': 'serve();',
    'relay/dist/src/http/clientFacts.js': 'export const factsOf = () => null;',
    'relay/dist/src/http/headers.js': `export const releaseHeaders = () => (${headers});`,
  };
  const pages = ['README', 'DATA', 'LIMITS', 'METRICS', 'HEADERS', 'SCALE'].map((page) => `relay/${page}.md`);
  const texts = ['LICENSE', 'CHANGELOG.md', 'SECURITY.md', ...pages].map((name) => [name, ''] as const);
  for (const [name, content] of [...Object.entries(files), ...texts]) await write(name, content);
}

async function write(name: string, content: string): Promise<void> {
  await mkdir(path.dirname(path.join(built, name)), { recursive: true });
  await writeFile(path.join(built, name), content);
}

beforeAll(async () => {
  around = await mkdtemp(path.join(tmpdir(), 'sinetti-making-'));
  built = path.join(around, 'built');
  await writeSource();
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: built });
  git('init', '--quiet');
  git('add', '--all');
  const author = ['-c', 'user.name=Anna', '-c', 'user.email=anna@example.org'];
  git(...author, 'commit', '--quiet', '--message', 'A client');
  for (const [name, { file }] of Object.entries(people))
    await writeFile(path.join(around, name), file ?? '', { mode: 0o600 });
  await writeFile(path.join(around, 'keys.txt'), keyLines({ anna, bertta, carl }));
  await writeFile(path.join(around, 'heirs.txt'), keyLines({ anna, bertta, dora }));
});
beforeEach(async () => {
  folder = path.join(around, 'repository');
  await rm(folder, { recursive: true, force: true });
  await cp(built, folder, { recursive: true });
});
afterAll(() => rm(around, { recursive: true }));

/** Runs a command of build/release. @returns what it has said, with the first line of what it has failed by */
async function command(name: string, ...words: readonly string[]): Promise<string> {
  const ended = run(process.execPath, [`build/release/${name}.mjs`, ...words], { cwd: folder });
  return ended.then(
    ({ stderr, stdout }) => stdout + stderr,
    ({ stderr }: { stderr: string }) => /^Error: .*$/m.exec(stderr)?.[0] ?? stderr,
  );
}
const sign = (name: string) => command('sign', '--key', `../${name}`, '--name', name);
const pack = () => command('release', '--without-node');
const isThere = (name: string) =>
  readFile(path.join(folder, name)).then(
    () => true,
    () => false,
  );
const archive = `dist/release/sinetti-1.0.0-linux-${process.arch}-without-node.tar.gz`;
const enough = 'It has enough signatures.\n';

/** Makes a chain of keys, with those signatures that it takes. */
async function begin(): Promise<void> {
  expect(await command('state', '--keys', '../keys.txt')).toContain('releases/1.json\n');
  expect(await sign('anna')).not.toContain(enough);
  expect(await sign('carl')).toContain(enough);
}

describe('an archive', () => {
  it('is made without a chain, and says that nobody can check it', async () => {
    expect(await pack()).toContain('There is no chain of releases here: nobody can check this archive.\n');
    expect(await isThere(archive)).toBe(true);
  });

  it('has the chain of what is built in it, at both origins, once enough have signed', async () => {
    await begin();
    expect(await pack()).toBe('Error: The chain has keys and no release yet.');
    await command('state');
    expect(await pack()).toBe('Error: A step of the chain has too few signatures.');
    await sign('bertta');
    expect(await pack()).toBe('Error: A step of the chain has too few signatures.');
    expect(await isThere(archive)).toBe(false);
    expect(await sign('anna')).toContain(enough);
    expect(await pack()).toContain('Signed: step 2.\n');
    const { stdout } = await run('tar', ['-tzf', archive], { cwd: folder });
    const names = stdout.split('\n').map((name) => name.slice(name.indexOf('/') + 1));
    const steps = ['chain/1.json', 'chain/2.json', 'chain/2.json.anna.sig', 'release.json.bertta.sig'];
    const due = steps.flatMap((step) =>
      ['app', 'keys'].map((at) => `dist/${at}/.well-known/sinetti/${step}`),
    );
    expect(names).toEqual(expect.arrayContaining([...due, 'install.sh', 'relay/dist/src/server.js']));
  });

  it('is none of another build than was signed, and what lay beside that is gone', async () => {
    await begin();
    await command('state');
    for (const name of ['anna', 'bertta']) await sign(name);
    await pack();
    await rm(path.join(folder, archive));
    await writeBuilt(folder, 'dist/app/robots.txt', 'User-agent: other\n');
    expect(await pack()).toBe('Error: What is built is not release 1.0.0 (step 2) of the chain.');
    expect([await isThere(archive), await isThere('dist/app/.well-known/sinetti/chain/2.json')]).toEqual([
      false,
      false,
    ]);
    // Nor is it signed.
    await rm(path.join(folder, 'releases/2.json.anna.sig'));
    expect(await sign('anna')).toContain('This machine has built something else than the step says');
  });
});

describe('keys that are replaced', () => {
  it('are signed for by enough of those in force and of the new ones, and the old ones sign no more', async () => {
    await begin();
    await command('state');
    for (const name of ['anna', 'bertta']) await sign(name);
    expect(await command('state', '--keys', '../heirs.txt')).toContain('releases/3.json\n');
    const said = await sign('dora');
    for (const line of [
      `stays  ${fingerprintOf(anna.line)}  anna`,
      `goes   ${fingerprintOf(carl.line)}  carl`,
      `NEW    ${fingerprintOf(dora.line)}  dora`,
    ])
      expect(said).toContain(`${line}\n`);
    // Two of the new ones are one of those in force.
    expect(await sign('bertta')).not.toContain(enough);
    expect(await pack()).toBe('Error: A step of the chain has too few signatures.');
    expect(await sign('anna')).toContain(enough);
    const signers = await readFile(path.join(folder, 'releases/allowed_signers'), 'utf8');
    expect(signers.match(/^\w+/gm)).toEqual(['anna', 'bertta', 'dora']);
    // The release is the one before, of which another one is signed by the new keys.
    expect(await pack()).toContain('Signed: step 2.\n');
    await command('state');
    expect(await sign('carl')).toBe('Error: The chain has no key of carl.');
    for (const name of ['dora', 'bertta']) await sign(name);
    expect(await pack()).toContain('Signed: step 4.\n');
  });

  it('are no other ones than those that wait for signatures', async () => {
    await begin();
    await command('state', '--keys', '../heirs.txt');
    expect(await command('state')).toContain('says something else, and waits for signatures');
    expect(await command('sign', '--key', '../carl', '--name', 'anna')).toBe(
      'Error: ../carl is not the key that the chain has of anna.',
    );
  });
});
