import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Destination, headersOf } from '../../verify/src/asChromium.ts';
import { sha256 } from '../../verify/src/chain/canonical.ts';
import { fingerprintOf } from '../../verify/src/making.ts';
import { holders, keyLines } from '../../verify/test/support/releases.ts';
import { wholeBrowser } from './browser.mjs';
import { becomeContacts } from './support/person.ts';
import { RunningRelay } from './support/relay.ts';
import { expect, test as withoutRelease } from './support/test.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');

/** The settings of the operator of the relay, which no release states. */
const operator = {
  productName: 'Letterbox',
  supportEmail: 'help@letterbox.example.org',
  privacyEmail: null,
  controller: null,
  governingLaw: { en: 'Swedish law', fi: 'Ruotsin laki' },
  certificates: [],
};

interface Released {
  /** The SHA-256 of the first step of the chain. */
  readonly root: string;
  /** The file that `npm pack` has made. */
  readonly packed: string;
  /** Runs a command of the package that `npm pack` makes, as somebody has it who has nothing else of this repository. */
  readonly command: (name: string, ...words: readonly string[]) => ChildProcess;
}

/** Three people have made and signed the release that the relay serves, by the commands of build/release. */
const test = withoutRelease.extend<{ folder: string; released: Released }>({
  folder: async ({}, provide) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-released-'));
    await provide(folder);
    await rm(folder, { recursive: true, force: true });
  },
  released: async ({ folder }, provide) => {
    const { installed, packed } = await install(folder);
    const rootHash = await release(folder);
    const running: ChildProcess[] = [];
    await provide({
      root: rootHash,
      packed,
      command(name, ...words) {
        const program = path.join(installed, 'node_modules/.bin', name);
        const known = ['--root', rootHash, '--state', path.join(folder, 'state')];
        const child = spawn(process.execPath, [program, words[0] ?? '', ...known, ...words.slice(1)], {
          stdio: 'pipe',
        });
        running.push(child);
        return child;
      },
    });
    for (const child of running) child.kill('SIGTERM');
  },
  relay: async ({ folder, released }, provide) => {
    expect(released.root).toMatch(/^[\w-]{43}$/);
    const file = path.join(folder, 'operator.json');
    await writeFile(file, JSON.stringify(operator));
    const relay = await RunningRelay.start({
      WEB_DIR: path.join(folder, 'source/dist'),
      OPERATOR_FILE: file,
    });
    await provide(relay);
    await relay.stop();
  },
});

/** Packs the package of the commands and installs it. @returns where, and the file */
async function install(folder: string): Promise<{ installed: string; packed: string }> {
  const installed = path.join(folder, 'installed');
  await mkdir(installed);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, 'verify/'], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [{ filename: string }];
  const manifest = { private: true, dependencies: { 'sinetti-open': `file:../${filename}` } };
  await writeFile(path.join(installed, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: installed });
  return { installed, packed: path.join(folder, filename) };
}

/** The commands that docs/RELEASES.md gives its readers, without those that build the package from a checkout. */
async function documentedCommands(): Promise<string[]> {
  const text = await readFile(path.join(root, 'docs/RELEASES.md'), 'utf8');
  const ofReaders = text.slice(0, text.indexOf('\n## Which scripts a page runs'));
  const blocks = [...ofReaders.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.map((block) => block.replace(/^npm ci .*\n/m, ''));
}

/** Runs commands as somebody would who has nothing but what they name: an empty home, and npm without a registry. */
function typed(commands: string, folder: string): ChildProcess {
  return spawn('sh', ['-ec', commands], {
    cwd: path.join(folder, 'here'),
    // npx hands no signal on to all that it has started.
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: path.join(folder, 'home'),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    },
  });
}

/** Makes a chain of what is built, as maintainers do. @returns the SHA-256 of its first step */
async function release(around: string): Promise<string> {
  const folder = path.join(around, 'source');
  for (const part of ['app', 'keys']) {
    await cp(path.join(root, 'dist', part), path.join(folder, 'dist', part), { recursive: true });
  }
  for (const file of ['package.json', 'package-lock.json']) {
    await cp(path.join(root, file), path.join(folder, file));
  }
  const inFolder = (program: string, ...words: readonly string[]) => run(program, words, { cwd: folder });
  const command = (name: string, ...words: readonly string[]) =>
    inFolder(process.execPath, path.join(root, 'build/release', name), ...words);
  await cp(path.join(root, '.gitignore'), path.join(folder, '.gitignore'));
  await inFolder('git', 'init', '--quiet');
  await inFolder('git', 'add', '.gitignore', 'package.json', 'package-lock.json');
  const author = ['-c', 'user.name=Anna', '-c', 'user.email=anna@example.org'];
  await inFolder('git', ...author, 'commit', '--quiet', '--message', 'A client');

  const people = holders('anna', 'bertta', 'carl');
  await writeFile(path.join(around, 'keys.txt'), keyLines(people));
  for (const [name, { file }] of Object.entries(people)) {
    await writeFile(path.join(around, name), file ?? '', { mode: 0o600 });
  }
  const sign = (name: string) => command('sign.mjs', '--key', `../${name}`, '--name', name);
  await command('state.mjs', '--keys', '../keys.txt');
  for (const name of ['anna', 'carl']) {
    const { stdout } = await sign(name);
    for (const [holder, { line }] of Object.entries(people)) {
      expect(stdout).toContain(`NEW    ${fingerprintOf(line)}  ${holder}\n`);
    }
  }
  // A file that nobody has committed would be built and signed with the rest.
  await writeFile(path.join(folder, 'evil.js'), 'evil();');
  const refused = await command('state.mjs').catch(({ stderr }: { stderr: string }) => ({ stderr }));
  expect(refused.stderr).toMatch(/Not the files of [0-9a-f]{40}: evil\.js\./);
  await rm(path.join(folder, 'evil.js'));
  await command('state.mjs');
  for (const name of ['anna', 'bertta']) await sign(name);
  await command('publish.mjs');
  return sha256(await readFile(path.join(folder, 'releases/1.json')));
}

/** Waits for a command's end. @returns its exit code and what it has printed */
async function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => output.push(String(part)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output: output.join('') };
}

/** Waits until a command has printed something. @returns the first match */
async function printed(child: ChildProcess, text: RegExp): Promise<string> {
  let output = '';
  for await (const part of child.stdout ?? []) {
    output += String(part);
    const [found] = text.exec(output) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error(`it printed ${output} and ended`);
}

test('three people sign a release; the packed commands find it at a relay, open it without a page of the relay, and name a file that is changed', async ({
  folder,
  newBrowser,
  relay,
  released,
}) => {
  await test.step('sinetti verify compares each file and header', async () => {
    const { code, output } = await ended(released.command('sinetti', 'verify', relay.url));
    expect(output).toMatch(/^ok {4}app {3}\/index\.html$/m);
    expect(output).toMatch(/^ok {4}keys {2}\/assets\/crypto\.worker-[\w-]+\.js$/m);
    expect(output).not.toContain('DIFF');
    expect(output).toMatch(/^ {2}product {7}Letterbox$/m);
    expect([code, output.trimEnd().split('\n').at(-1)]).toEqual([0, 'All of it is the release.']);
  });

  await test.step('it compares a folder, writes the manifest for WEBCAT, and says how it is used', async () => {
    const inFolder = await ended(released.command('sinetti', 'verify', path.join(folder, 'source/dist')));
    expect([inFolder.code, inFolder.output]).toEqual([
      0,
      expect.stringContaining('All of it is the release.'),
    ]);
    const words = ['--origin', 'app', '--project', 'https://sinetti.example'];
    const manifest = await ended(released.command('sinetti', 'webcat', relay.url, ...words));
    expect(JSON.parse(manifest.output)).toMatchObject({ default_index: '/index.html', version: '0.1.0' });
    expect((await ended(released.command('sinetti', 'verify', 'no address'))).code).toBe(2);
    const elsewhere = await ended(released.command('sinetti', 'verify', relay.url, '--root', 'A'.repeat(43)));
    expect([elsewhere.code, elsewhere.output]).toEqual([
      1,
      expect.stringMatching(/^chain: The chain begins with /),
    ]);
  });

  await test.step('the commands of docs/RELEASES.md do what it says, in an empty folder and home', async () => {
    const [byName = '', byFile = '', bySsh = '', opening = '', ...others] = await documentedCommands();
    expect(others).toEqual([]);
    const file = `./${path.basename(released.packed)}`;
    const here = path.join(folder, 'here');
    for (const each of ['here/releases', 'home']) await mkdir(path.join(folder, each), { recursive: true });
    await cp(released.packed, path.join(here, file));
    const asReader = (commands: string) =>
      typed(
        commands.replaceAll('https://chat.example.org', relay.url).replaceAll('ROOT', released.root),
        folder,
      );

    // Once the package is at a registry its name takes the place of its file.
    expect(byFile).toBe(byName.replace('-p sinetti-open', `-p ${file}`));
    const verified = await ended(asReader(byFile));
    expect([verified.code, verified.output]).toEqual([
      0,
      expect.stringContaining('All of it is the release.'),
    ]);

    const signers = path.join(here, 'releases/allowed_signers');
    await cp(path.join(folder, 'source/releases/allowed_signers'), signers);
    const signature = await ended(asReader(bySsh));
    expect([signature.code, signature.output]).toEqual([
      0,
      expect.stringMatching(/^Good "sinetti-release" signature for anna with ED25519 key /),
    ]);
    // OpenSSH takes it for nothing else than what the relay serves.
    await writeFile(
      path.join(here, 'release.json'),
      `${await readFile(path.join(here, 'release.json'), 'utf8')} `,
    );
    const changed = await ended(asReader(bySsh.slice(bySsh.indexOf('ssh-keygen'))));
    expect([changed.code, changed.output]).toEqual([
      255,
      expect.stringContaining('Signature verification failed'),
    ]);

    const program = asReader(opening.replace('npx sinetti-open', `npx -p ${file} sinetti-open`));
    expect(await printed(program, /http:\/\/localhost:\d+/)).toMatch(/\d$/);
    const end = once(program, 'close');
    process.kill(-program.pid!, 'SIGTERM');
    await end;
  });

  const opened = released.command('sinetti-open', relay.url);
  const address = await printed(opened, /http:\/\/localhost:\d+/);
  const { context, person: alice } = await newBrowser('alice', { baseURL: address });
  const asked = new Set<string>();
  context.on('request', (request) => asked.add(new URL(request.url()).origin));
  alice.page.on('websocket', (socket) => asked.add(new URL(socket.url()).origin));

  await test.step('who opens it talks with somebody at the relay', async () => {
    const { person: bob } = await newBrowser('bob');
    await alice.signUp();
    await bob.signUp();
    for (const { page } of [alice, bob]) await expect(page).toHaveTitle(/Letterbox$/);
    await becomeContacts(alice, bob);
    await alice.openChat(bob);
    await bob.openChat(alice);
    await alice.send('Is this the code that was reviewed?');
    await bob.sees('Is this the code that was reviewed?');
    await bob.send('Every byte of it.');
    await alice.sees('Every byte of it.');
    // Presence comes by a socket of its own.
    await expect(alice.contact(bob)).toContainText('Online');
    await expect(bob.contact(alice)).toContainText('Online');
  });

  await test.step('the browser has asked nobody but this machine, and takes up its session again', async () => {
    await alice.page.reload();
    await alice.sees('Every byte of it.');
    const port = Number(new URL(address).port);
    const own = [`http://localhost:${port}`, `http://localhost:${port + 1}`, `ws://localhost:${port}`];
    expect([...asked].toSorted()).toEqual(own.toSorted());
  });

  await test.step('a changed file is named, and keeps the release from being opened', async () => {
    const copies = path.join(relay.dataDir, 'web');
    const [copy = ''] = await readdir(copies);
    await writeFile(path.join(copies, copy, 'app/robots.txt'), 'User-agent: *\nDisallow: /\n');
    const changed = await ended(released.command('sinetti', 'verify', relay.url));
    expect(changed.output).toContain('DIFF  app   /robots.txt\n        its content is another one\n');
    expect(changed.code).toBe(1);
    const refused = await ended(released.command('sinetti-open', relay.url, '--port', '18080'));
    expect([refused.code, refused.output]).toEqual([
      1,
      `different: Not the files of the release: ${relay.url}/robots.txt\n`,
    ]);
  });
});

// The engine alone calls itself by another name.
test.use(wholeBrowser);

/** A page that asks for something of each kind, with what the client's pages say of referrers. */
const asking = `<!doctype html><title>Asking</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml"><link rel="preload" as="fetch" href="/preload.json" crossorigin>
<link rel="preload" as="font" href="/font.woff2" crossorigin type="font/woff2"><link rel="stylesheet" crossorigin href="/style.css">
<iframe src="/leads"></iframe><img src="/image.png"><script type="module" crossorigin src="/script.js"></script>`;
const framed = `<!doctype html><script type="module">new Worker('/worker.js', { type: 'module' });
navigator.serviceWorker.register('/serviceworker.js', { updateViaCache: 'none' });</script>`;

test('sinetti verify asks as Chromium does: the same headers, in its order and spelling', async ({
  browser,
}) => {
  const asked = new Map<string, string[]>();
  const addresses = { app: '', keys: '' };
  const answering = () =>
    createServer((request, response) => {
      const { rawHeaders, url = '' } = request;
      if (!asked.has(url)) asked.set(url, rawHeaders);
      response.setHeader('referrer-policy', 'no-referrer');
      const { keys } = addresses;
      if (url === '/leads') return response.writeHead(302, { location: `${keys}/framed` }).end();
      const isPage = url === '/' || url === '/framed';
      const types: Readonly<Record<string, string>> = {
        js: 'text/javascript',
        css: 'text/css',
        png: 'image/png',
      };
      response.setHeader(
        'content-type',
        isPage ? 'text/html' : (types[path.extname(url).slice(1)] ?? 'text/plain'),
      );
      const scripts: Readonly<Record<string, string>> = {
        '/': asking,
        '/framed': framed,
        '/script.js': "void fetch('/empty');",
        '/serviceworker.js': "importScripts('/imported.js');",
      };
      return response.end(scripts[url] ?? '');
    });
  const servers = [answering(), answering()] as const;
  for (const [at, name] of (['app', 'keys'] as const).entries()) {
    const server = servers[at]!;
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    addresses[name] = `http://localhost:${(server.address() as AddressInfo).port}`;
  }
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${addresses.app}/`);
  const kinds: Readonly<Record<string, Destination>> = {
    '/': 'document',
    '/leads': 'iframe',
    '/framed': 'keysFrame',
    '/script.js': 'script',
    '/style.css': 'style',
    '/font.woff2': 'font',
    '/image.png': 'image',
    '/preload.json': 'preload',
    '/empty': 'empty',
    '/worker.js': 'worker',
    '/serviceworker.js': 'serviceworker',
    '/imported.js': 'imported',
  };
  await expect.poll(() => Object.keys(kinds).filter((url) => !asked.has(url))).toEqual([]);
  await context.close();
  for (const server of servers) server.close();

  // One without a screen names itself, in a version of its own; and Playwright has Chromium say its language in another place.
  const isLanguage = (name: string | undefined) => name === 'Accept-Language';
  const alike = (headers: readonly string[]) =>
    headers
      .filter((_, at) => !isLanguage(headers[at - (at % 2)]))
      .map((text) =>
        text
          .replaceAll(/HeadlessChrome/g, 'Chrome')
          .replaceAll(/Chrome\/\d+/g, 'Chrome/…')
          .replaceAll(/^"[^"]+";v="\d+".*$/g, 'brands'),
      );
  for (const [url, destination] of Object.entries(kinds)) {
    const sent = asked.get(url) ?? [];
    const host = sent[1] ?? '';
    expect([url, alike(headersOf(`http://${host}${url}`, destination))]).toEqual([url, alike(sent)]);
  }
});
