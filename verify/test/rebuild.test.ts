import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../src/chain/canonical.ts';
import type { ReleaseStatement } from '../src/chain/statement.ts';
import { rebuild } from '../src/rebuild.ts';
import { firstRelease, holders, told, writeBuilt, writeClient } from './support/releases.ts';

/** A repository whose build copies what is committed, as a stand-in for one that takes minutes. */
let repository: string;
let folder: string;
let release: ReleaseStatement;
const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sinetti-source-'));
  repository = path.join(folder, 'repository');
  await mkdir(repository);
  await writeClient(path.join(repository, 'built'));
  // Leaves the names of what it was given where a test looks.
  const copy = `const fs = require('node:fs'); fs.cpSync('built', 'dist', { recursive: true }); fs.writeFileSync('${folder}/environment', JSON.stringify([process.env, fs.existsSync(require('node:os').homedir() + '/.npmrc')]))`;
  const about = { name: 'sinetti', version: '1.0.0', private: true };
  const lock = { ...about, lockfileVersion: 3, requires: true, packages: { '': about } };
  const manifest = { ...about, scripts: { 'build:web': `node -e "${copy}"`, prepare: 'exit 1' } };
  await writeFile(path.join(repository, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(repository, 'package-lock.json'), JSON.stringify(lock));
  git('init', '--quiet');
  git('add', '--all');
  git(
    '-c',
    'user.name=Anna',
    '-c',
    'user.email=anna@example.org',
    'commit',
    '--quiet',
    '--message',
    'A client',
  );
  const lockfile = await sha256(await readFile(path.join(repository, 'package-lock.json')));
  const source = { commit: git('rev-parse', 'HEAD'), lockfile, node: process.version };
  const chain = await firstRelease(path.join(repository, 'built'), holders('a', 'b', 'c'), { source });
  release = chain.chain.release!;
});
afterAll(() => rm(folder, { recursive: true }));

describe('what is built of a release’s commit', () => {
  it('is compared with it, file by file', async () => {
    const said: string[] = [];
    expect(told(await rebuild(release, repository, (line) => said.push(line)))).toEqual([]);
    expect(said).toContain('npm run --ignore-scripts build:web');
    const hash = await sha256('another');
    const files = { ...release.files, app: { ...release.files.app, '/robots.txt': hash } };
    expect(told(await rebuild({ ...release, files }, repository, () => undefined))).toEqual([
      'app/robots.txt: its content is another one',
    ]);
  });

  it('is built without anything of this environment that is a secret, and in an empty home', async () => {
    const secrets = [
      'NPM_TOKEN',
      'SSH_AUTH_SOCK',
      'AWS_SECRET_ACCESS_KEY',
      'HTTPS_PROXY',
      'npm_config__auth',
    ];
    for (const name of secrets) vi.stubEnv(name, 'secret');
    vi.stubEnv('HTTPS_PROXY', '');
    vi.stubEnv('NODE_OPTIONS', '--no-deprecation');
    await rebuild(release, repository, () => undefined);
    vi.unstubAllEnvs();
    const [environment, hasSettings] = JSON.parse(
      await readFile(path.join(folder, 'environment'), 'utf8'),
    ) as [Record<string, string>, boolean];
    expect(Object.values(environment).filter((value) => value.includes('secret'))).toEqual([]);
    for (const name of [...secrets, 'NODE_OPTIONS']) expect(environment).not.toHaveProperty(name);
    expect([path.basename(environment.HOME ?? ''), environment.HOME === homedir(), hasSettings]).toEqual([
      'home',
      false,
      false,
    ]);
  });

  it('is the commit’s, whatever was committed since', async () => {
    await writeBuilt(repository, 'built/app/robots.txt', 'later\n');
    git(
      '-c',
      'user.name=Anna',
      '-c',
      'user.email=anna@example.org',
      'commit',
      '--quiet',
      '--all',
      '--message',
      'Later',
    );
    expect(told(await rebuild(release, repository, () => undefined))).toEqual([]);
  });

  it('is none where an object of the source is not what its name says', async () => {
    const copy = path.join(folder, 'replaced');
    execFileSync('git', ['clone', '--quiet', '--no-local', repository, copy]);
    const inCopy = (args: readonly string[], input?: Uint8Array) =>
      execFileSync('git', args, { cwd: copy, ...(input === undefined ? {} : { input }) });
    const name = inCopy(['rev-parse', `${release.source.commit}:built/app/robots.txt`])
      .toString()
      .trim();
    const other = inCopy(['hash-object', '-w', '--stdin'], Buffer.from('evil\n')).toString().trim();
    const fileOf = (hash: string) => path.join(copy, '.git/objects', hash.slice(0, 2), hash.slice(2));
    const bytes = await readFile(fileOf(other));
    const packs = path.join(copy, '.git/objects/pack');
    await rename(packs, `${packs}-before`);
    await mkdir(packs);
    for (const pack of (await readdir(`${packs}-before`)).filter((each) => each.endsWith('.pack')))
      inCopy(['unpack-objects', '-q'], await readFile(path.join(`${packs}-before`, pack)));
    await rm(fileOf(name), { force: true });
    await writeFile(fileOf(name), bytes);
    await expect(rebuild(release, copy, () => undefined)).rejects.toThrow('git clone failed');
  });

  it.each([
    ['the commit', { commit: 'f'.repeat(40) }, 'git checkout failed'],
    ['the lock file', { lockfile: 'A'.repeat(43) }, 'another package-lock.json'],
  ])('is none where the source has not %s', async (_, source, sentence) => {
    const other = { ...release, source: { ...release.source, ...source } };
    await expect(rebuild(other, repository, () => undefined)).rejects.toThrow(sentence);
  });

  it('says so where another Node.js has built the release', async () => {
    const said: string[] = [];
    const other = { ...release, source: { ...release.source, node: 'v20.0.0' } };
    await rebuild(other, repository, (line) => said.push(line));
    expect(said[0]).toContain('built by Node.js v20.0.0');
  });
});
