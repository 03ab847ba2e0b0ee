/** The package that `npm pack` makes of crypto-core, as somebody has it who has nothing else of this repository. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from '@playwright/test';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumArgs, chromiumPath } from '../e2e/browser.mjs';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
const core = path.join(root, 'crypto-core');
const greeting = 'Hello, Bob.';

let folder: string;
let app: string;
let packed: string[];

/** Packs a folder with npm. @returns the tarball's name and the paths in it */
async function pack(source: string): Promise<{ name: string; files: string[] }> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, source], {
    cwd: root,
  });
  // The build, which npm runs first, prints its own lines before the list.
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [
    { filename: string; files: { path: string }[] },
  ];
  return { name: filename, files: files.map((file) => file.path) };
}

/** The example of the README, as it stands there. */
async function example(): Promise<string> {
  const readme = await readFile(path.join(app, 'node_modules/@sinetti/crypto-core/README.md'), 'utf8');
  const [, code] = /## Example\n\n```js\n([\s\S]*?)```/.exec(readme) ?? [];
  if (code === undefined) throw new Error('the README has no example');
  return code;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sinetti-package-'));
  app = path.join(folder, 'app');
  await mkdir(app);
  const ours = await pack(core);
  packed = ours.files;
  // The registry is asked for nothing: libsodium is packed from what is installed here.
  const wrappers = await pack(path.join(root, 'node_modules/libsodium-wrappers'));
  const sodium = await pack(path.join(root, 'node_modules/libsodium-sumo'));
  const manifest = {
    private: true,
    type: 'module',
    dependencies: {
      '@sinetti/crypto-core': `file:../${ours.name}`,
      'libsodium-wrappers': `file:../${wrappers.name}`,
      'libsodium-sumo': `file:../${sodium.name}`,
    },
    overrides: { 'libsodium-wrappers': '$libsodium-wrappers', 'libsodium-sumo': '$libsodium-sumo' },
  };
  await writeFile(path.join(app, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: app });
  await writeFile(path.join(app, 'example.mjs'), await example());
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed crypto-core', () => {
  it('holds what it needs to run, its documents and nothing of its tests and sources', () => {
    const others = packed.filter((file) => !/^dist\/[\w/]+\.(?:js|d\.ts)$/.test(file));
    expect(others.toSorted()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'SPEC.md', 'package.json']);
    expect(packed).toContain('dist/index.js');
    expect(packed).toContain('dist/account/index.d.ts');
  });

  it('has nothing of the product in its first door', async () => {
    const dist = path.join(app, 'node_modules/@sinetti/crypto-core/dist');
    const due = [path.join(dist, 'index.js')];
    const files = new Set<string>();
    for (let file = due.pop(); file !== undefined; file = due.pop()) {
      if (files.has(file)) continue;
      files.add(file);
      const text = await readFile(file, 'utf8');
      expect([file, text.match(/sinetti|0xf0a[12]|account|receipt/i)]).toEqual([file, null]);
      for (const [, target = ''] of text.matchAll(/from '(\.[^']*)'/g)) {
        due.push(path.join(path.dirname(file), target));
      }
    }
    expect(files.size).toBeGreaterThan(50);
    expect([...files].filter((file) => /\/(?:account|content)\//.test(file))).toEqual([]);
  });

  it('runs the example of its README in Node, which has at most 20 lines of code', async () => {
    const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: app });
    expect(stdout).toBe(`${greeting}\n`);
    const lines = (await example()).split('\n').filter((line) => line.trim() !== '');
    expect(lines.length).toBeLessThanOrEqual(20);
  });

  it('runs the example of its README in Deno', async () => {
    const deno = path.join(root, 'node_modules/deno/bin.cjs');
    const args = [deno, 'run', '--no-remote', '--cached-only', '--node-modules-dir=manual', 'example.mjs'];
    const { stdout } = await run(process.execPath, args, {
      cwd: app,
      env: { ...process.env, DENO_DIR: path.join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
    });
    expect(stdout).toBe(`${greeting}\n`);
  });

  it('is entered by four doors and by no other', async () => {
    const manifest = await readFile(path.join(app, 'node_modules/@sinetti/crypto-core/package.json'), 'utf8');
    const { exports } = JSON.parse(manifest) as { exports: Record<string, unknown> };
    expect(Object.keys(exports)).toEqual(['.', './account', './content', './vectors']);
    const doors = `
      const [mls, account, content, vectors] = await Promise.all(
        ['', '/account', '/content', '/vectors'].map((door) => import('@sinetti/crypto-core' + door)),
      );
      await mls.ready();
      const env = { random: (length) => new Uint8Array(length).fill(7), now: () => 0 };
      const vault = account.createVault(env);
      const hash = content.emptyRunningHash;
      const inside = await import('@sinetti/crypto-core/dist/index.js').catch(({ code }) => code);
      console.log(JSON.stringify([typeof vault, typeof hash, typeof vectors.runVector, inside]));
    `;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', doors], { cwd: app });
    const seen = ['object', 'function', 'function', 'ERR_PACKAGE_PATH_NOT_EXPORTED'];
    expect(JSON.parse(stdout)).toEqual(seen);
  });

  it.each(['nodenext', 'bundler'])('gives its types to a caller who resolves as %s', async (resolution) => {
    const code = `
      import { createGroup, type Env, type Group } from '@sinetti/crypto-core';
      import { sealVault, type Vault } from '@sinetti/crypto-core/account';
      import { nextRunningHash } from '@sinetti/crypto-core/content';
      export function start(env: Env, group: Group, vault: Vault): Group {
        const suite: 1 = group.suite.id;
        return createGroup({ suite: 0x004d }, env) ?? sealVault(vault) ?? nextRunningHash(env);
      }
    `;
    const file = path.join(app, `${resolution}.ts`);
    await writeFile(file, code);
    const options = ['--noEmit', '--strict', '--target', 'es2023', '--types', ''];
    const modules = [
      '--module',
      resolution === 'bundler' ? 'preserve' : resolution,
      '--moduleResolution',
      resolution,
    ];
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const refused = await run(process.execPath, [tsc, ...options, ...modules, file], { cwd: app }).then(
      () => 'nothing',
      ({ stdout }: { stdout: string }) => stdout,
    );
    // Each mistake is found, and by its types; a declaration that could not be resolved would be another.
    const codes = [...refused.matchAll(/error (TS\d+)/g)].map(([, each]) => each);
    expect(codes).toEqual(['TS2322', 'TS2739', 'TS2554', 'TS2554']);
  });
});

async function answer(file: string, response: ServerResponse): Promise<void> {
  const script = 'text/javascript';
  const types: Record<string, string> = { '.html': 'text/html', '.js': script, '.mjs': script };
  const body = await readFile(file).catch(() => null);
  if (body === null) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
  response.end(body);
}

describe('the packed crypto-core in Chromium', () => {
  let server: Server;
  let browser: Browser;

  beforeAll(async () => {
    const site = path.join(folder, 'site');
    for (const name of ['index.html', 'main.js', 'worker.js', 'console.js', 'unbundled.html']) {
      await cp(path.join(import.meta.dirname, 'page', name), path.join(app, name));
    }
    await build({
      configFile: false,
      root: app,
      logLevel: 'error',
      build: { outDir: site, target: 'es2022' },
      worker: { format: 'es' },
    });
    server = createServer((request, response) => {
      const name = path.normalize(request.url === '/' ? '/index.html' : (request.url ?? '/'));
      void answer(path.join(name.startsWith('/app/') ? folder : site, name), response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({
      args: chromiumArgs,
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    });
  });

  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    ['page', 'bundled by Vite', '/'],
    ['worker', 'bundled by Vite', '/'],
    ['page', 'that imports it by an import map', '/app/unbundled.html'],
  ])('runs the example of its README in a %s %s', async (place, _, address) => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}${address}`);
    const output = page.locator(`#${place}`).filter({ hasText: /./ });
    expect(await output.textContent()).toBe(greeting);
    await page.close();
  });
});
