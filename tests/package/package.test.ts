import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { chromium } from '@playwright/test';
import { build as buildByEsbuild } from 'esbuild';
import { build as buildByVite } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import webpack from 'webpack';
import { nodeOf } from '../../build/nodeOf.mjs';
import { chromiumArgs, chromiumPath } from '../e2e/browser.mjs';
import { launchFirefox } from '../firefox/launch.ts';
import { firefoxPath } from '../firefox/program.mjs';
import { inCI } from '../run/inCI.mjs';
import { greeting, installPacked, type Packed, root, run } from './packed.ts';

let packed: Packed;

beforeAll(async () => {
  packed = await installPacked();
});

afterAll(() => rm(packed.folder, { recursive: true, force: true }));

describe('the packed crypto-core', () => {
  it('holds what it needs to run, its documents and nothing of its tests and sources', () => {
    const others = packed.files.filter((file) => !/^dist\/[\w/]+\.(?:js|d\.ts)$/.test(file));
    expect(others.toSorted()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'SPEC.md', 'package.json']);
    expect(packed.files).toContain('dist/index.js');
    expect(packed.files).toContain('dist/account/index.d.ts');
  });

  it('has nothing of the product in its first door', async () => {
    const dist = path.join(packed.app, 'node_modules/@sinetti/crypto-core/dist');
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

  it('has an example of at most 20 lines of code', () => {
    const lines = packed.example.split('\n').filter((line) => line.trim() !== '');
    expect(lines.length).toBeLessThanOrEqual(20);
  });

  it('is entered by four doors and by no other', async () => {
    const manifest = await readFile(
      path.join(packed.app, 'node_modules/@sinetti/crypto-core/package.json'),
      'utf8',
    );
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
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', doors], {
      cwd: packed.app,
    });
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
    const file = path.join(packed.app, `${resolution}.ts`);
    await writeFile(file, code);
    const options = ['--noEmit', '--strict', '--target', 'es2023', '--types', ''];
    const modules = [
      '--module',
      resolution === 'bundler' ? 'preserve' : resolution,
      '--moduleResolution',
      resolution,
    ];
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const refused = await run(process.execPath, [tsc, ...options, ...modules, file], {
      cwd: packed.app,
    }).then(
      () => 'nothing',
      ({ stdout }: { stdout: string }) => stdout,
    );
    // Each mistake is found, and by its types; a declaration that could not be resolved would be another.
    const codes = [...refused.matchAll(/error (TS\d+)/g)].map(([, each]) => each);
    expect(codes).toEqual(['TS2322', 'TS2739', 'TS2554', 'TS2554']);
  });
});

describe('the example of the README of the packed crypto-core runs', () => {
  it('in this Node', async () => {
    const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: packed.app });
    expect(stdout).toBe(`${greeting}\n`);
  });

  it.each(['20.19.0', '22', '24', '26'])('in Node %s', async (version) => {
    const node = path.join(nodeOf(version), 'node');
    const { stdout } = await run(node, ['example.mjs'], { cwd: packed.app });
    expect(stdout).toBe(`${greeting}\n`);
  });

  it('in Deno', async () => {
    const deno = path.join(root, 'node_modules/deno/bin.cjs');
    const args = [deno, 'run', '--no-remote', '--cached-only', '--node-modules-dir=manual', 'example.mjs'];
    const { stdout } = await run(process.execPath, args, {
      cwd: packed.app,
      env: {
        ...process.env,
        DENO_DIR: path.join(packed.folder, 'deno'),
        DENO_NO_UPDATE_CHECK: '1',
        NO_COLOR: '1',
      },
    });
    expect(stdout).toBe(`${greeting}\n`);
  });
});

/** A browser of one kind. */
interface Visitor {
  /** Returns what an element of a page says once it says something. */
  read(address: string, id: string): Promise<string>;
  close(): Promise<void>;
}

async function openChromium(): Promise<Visitor> {
  const browser = await chromium.launch({
    args: chromiumArgs,
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
  });
  return {
    async read(address, id) {
      const page = await browser.newPage();
      await page.goto(address);
      const text = await page.locator(`#${id}`).filter({ hasText: /./ }).textContent();
      await page.close();
      return text ?? '';
    },
    close: () => browser.close(),
  };
}

async function openFirefox(): Promise<Visitor> {
  const browser = await launchFirefox();
  return {
    async read(address, id) {
      const page = await browser.newPage();
      await page.goto(address);
      const said = await page.waitForFunction((of) => document.getElementById(of)?.textContent, {}, id);
      const text = await said.jsonValue();
      await page.close();
      return text ?? '';
    },
    close: () => browser.close(),
  };
}

/** By the name of a bundler, what makes a site of the page in a folder. */
const bundlers: Readonly<Record<string, (app: string, site: string) => Promise<void>>> = {
  async Vite(app, site) {
    await buildByVite({
      configFile: false,
      root: app,
      base: './',
      logLevel: 'error',
      build: { outDir: site, target: 'es2022' },
      worker: { format: 'es' },
    });
  },
  async esbuild(app, site) {
    await buildByEsbuild({
      absWorkingDir: app,
      entryPoints: ['main.js', 'worker.js'],
      bundle: true,
      format: 'esm',
      outdir: site,
      logLevel: 'error',
    });
    await cp(path.join(app, 'index.html'), path.join(site, 'index.html'));
  },
  async webpack(app, site) {
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
      webpack(
        {
          context: app,
          mode: 'production',
          entry: './main.js',
          output: { path: site, filename: 'main.js' },
          performance: false,
        },
        (error, done) => (error === null ? resolve(done) : reject(error)),
      );
    });
    expect(stats?.compilation.errors).toEqual([]);
    await cp(path.join(app, 'index.html'), path.join(site, 'index.html'));
  },
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
};

async function serve(file: string, response: ServerResponse): Promise<void> {
  const body = await readFile(file).catch(() => null);
  if (body === null) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
  response.end(body);
}

describe('it runs', () => {
  let server: Server;

  beforeAll(async () => {
    const { app, folder } = packed;
    for (const name of ['index.html', 'main.js', 'worker.js', 'console.js', 'unbundled.html']) {
      await cp(path.join(import.meta.dirname, 'page', name), path.join(app, name));
    }
    for (const [name, bundle] of Object.entries(bundlers)) await bundle(app, path.join(folder, name));
    server = createServer(
      (request, response) => void serve(path.join(folder, path.normalize(request.url ?? '/')), response),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  // The run says what is left out on a machine without Firefox.
  const browsers = [
    { name: 'Chromium', open: openChromium },
    ...(firefoxPath === undefined && !inCI ? [] : [{ name: 'Firefox', open: openFirefox }]),
  ];
  describe.each(browsers)('in $name', ({ open }) => {
    let visitor: Visitor;
    beforeAll(async () => {
      visitor = await open();
    });
    afterAll(() => visitor.close());

    it.each([
      ...Object.keys(bundlers).flatMap((name) =>
        ['page', 'worker'].map((place) => [place, `bundled by ${name}`, `/${name}/index.html`] as const),
      ),
      ['page', 'that imports it by an import map', '/app/unbundled.html'] as const,
    ])('in a %s %s', async (place, _how, address) => {
      const { port } = server.address() as AddressInfo;
      expect(await visitor.read(`http://127.0.0.1:${port}${address}`, place)).toBe(greeting);
    });
  });
});
