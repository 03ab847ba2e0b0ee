import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestRelay, type TestRelay, temporaryFolder, writeWebClient } from '../helpers.ts';

let webDir: string;
let dataDir: string;
let relay: TestRelay;
beforeEach(async () => {
  [webDir, dataDir] = [await temporaryFolder(), await temporaryFolder()];
  await build('1');
});
afterEach(async () => {
  await relay.close();
  await Promise.all([webDir, dataDir].map((folder) => rm(folder, { recursive: true })));
});

/** Builds another version of the client in the place of the former one, as `npm run build` does. */
async function build(version: string): Promise<void> {
  await rm(webDir, { recursive: true });
  await writeWebClient(webDir);
  const files = {
    'app/index.html': `<title>Version ${version}</title>`,
    [`app/assets/page-${version}.js`]: `page(${version});`,
    [`app/of-version-${version}.txt`]: 'no hash in its name',
    [`keys/assets/keys-${version}.css`]: `.v${version} {}`,
  };
  for (const [file, content] of Object.entries(files)) await writeFile(path.join(webDir, file), content);
}

async function start(): Promise<void> {
  relay = await startTestRelay({ dataDir, environment: { WEB_DIR: webDir } });
}
async function restart(): Promise<void> {
  await relay.close();
  await start();
}

const text = async (address: string, base: string | null = relay.url) => {
  const answer = await fetch(`${base}${address}`);
  return answer.ok ? answer.text() : answer.status;
};

describe('an upgrade of the web client', () => {
  it('leaves alone what the running relay serves, also while its files are being replaced', async () => {
    await start();
    await build('2');
    expect(await text('/')).toContain('Version 1');
    expect(await text('/assets/page-1.js')).toBe('page(1);');
    await rm(path.join(webDir, 'app'), { recursive: true });
    expect(await text('/')).toContain('Version 1');
  });

  it('serves the new version, and to pages that are still open the hashed files of the one before', async () => {
    await start();
    await build('2');
    await restart();
    expect(await text('/')).toContain('Version 2');
    expect(await text('/assets/page-1.js')).toBe('page(1);');
    expect(await text('/assets/page-2.js')).toBe('page(2);');
    const former = await fetch(`${relay.url}/assets/page-1.js`);
    expect(former.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(await text('/assets/keys-1.css', relay.keysUrl)).toBe('.v1 {}');
    expect(await text('/of-version-1.txt')).toBe(404);
    expect(await text('/of-version-2.txt')).toBe('no hash in its name');
  });

  it('keeps the version before over restarts, and none that is older', async () => {
    await start();
    await build('2');
    await restart();
    await restart();
    expect(await text('/assets/page-1.js')).toBe('page(1);');
    await build('3');
    await restart();
    expect(await text('/assets/page-1.js')).toBe(404);
    expect(await text('/assets/page-2.js')).toBe('page(2);');
    expect(await readdir(path.join(dataDir, 'web'))).toHaveLength(2);
  });

  it('taken back serves the older version with the files of the newer one', async () => {
    await start();
    await build('2');
    await restart();
    await build('1');
    await restart();
    expect(await text('/')).toContain('Version 1');
    expect(await text('/assets/page-2.js')).toBe('page(2);');
    await build('3');
    await restart();
    expect(await text('/assets/page-1.js')).toBe('page(1);');
    expect(await text('/assets/page-2.js')).toBe(404);
  });
});

describe("the relay's copy of the web client", () => {
  it('that was changed is made anew', async () => {
    await start();
    const [name = ''] = await readdir(path.join(dataDir, 'web'));
    await writeFile(path.join(dataDir, 'web', name, 'app', 'assets', 'page-1.js'), 'somethingElse();');
    await restart();
    expect(await text('/assets/page-1.js')).toBe('page(1);');
  });

  it('is not mixed up with what else lies there, nor lost by one that was broken off', async () => {
    await start();
    await build('2');
    const copies = path.join(dataDir, 'web');
    await writeFile(path.join(copies, '.DS_Store'), 'of the system');
    const [lately, before] = ['1', '2'].map((digit) =>
      path.join(copies, `${digit.repeat(32)}.${randomUUID()}`),
    );
    for (const folder of [lately, before]) await mkdir(`${folder}/app`, { recursive: true });
    const hoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    await utimes(before ?? '', hoursAgo, hoursAgo);
    await restart();
    expect(await text('/')).toContain('Version 2');
    expect(await text('/assets/page-1.js')).toBe('page(1);');
    expect([lately, before].map((folder) => existsSync(folder ?? ''))).toEqual([true, false]);
  });

  it('that can not be made leaves the built files to be served, and the log says so', async () => {
    await writeFile(path.join(dataDir, 'web'), 'a file where the folder should be');
    await start();
    expect(await text('/assets/page-1.js')).toBe('page(1);');
    expect(relay.logLines.join('')).toContain('an upgrade will break open pages');
  });
});
