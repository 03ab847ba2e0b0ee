import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaveByNavigation, leaveDocument, leaveWorker } from '../attacks/support/leaving.ts';
import { keepPorts, sayEverywhere, strangeCalls, unconfirmedCalls } from '../attacks/support/ports.ts';
import { Stranger } from '../attacks/support/stranger.ts';
import { builtClient } from '../e2e/support/built.ts';
import { RunningRelay } from '../e2e/support/relay.ts';
import { launchFirefox } from './launch.ts';
import { expect, test } from './test.ts';
import { button, Visitor } from './visitor.ts';

// The attacks of tests/attacks as far as WebDriver BiDi reaches: it evaluates nothing in a worker.

test.describe('a script in the page', () => {
  test('gets nothing from the worker but the one call, and no wrap of the vault key', async ({
    newVisitor,
  }) => {
    const alice = await newVisitor('alice');
    await alice.page.evaluateOnNewDocument(keepPorts);
    await alice.signUp();
    const answers = await alice.page.evaluate(strangeCalls);
    expect(answers).toHaveLength(5);
    for (const answer of answers) expect(answer).toEqual({ ok: false, code: 'usage', detail: 'message' });
    for (const answer of await alice.page.evaluate(unconfirmedCalls)) {
      expect(answer).toEqual({ ok: false, code: 'usage', detail: expect.any(String) });
    }
    await alice.reload();
  });

  test('hears nothing of what is typed in the frame of the keys, and can’t type or send it', async ({
    newVisitor,
  }) => {
    const alice = await newVisitor('alice');
    const { page } = alice;
    await page.evaluateOnNewDocument(keepPorts);
    await alice.signUp();
    await alice.openTab('Profile');
    await alice.click(button('Delete Account'));
    await alice.click(button('Confirm Delete'));
    const typed = () =>
      alice.keys.evaluate(() => {
        const { activeElement } = document;
        return activeElement instanceof HTMLInputElement ? activeElement.value : null;
      });
    await expect.poll(typed).toBe('');
    await page.evaluate(() => Reflect.set(globalThis, 'overheard', []));
    await page.keyboard.type(alice.password);
    await expect.poll(typed).toBe(alice.password);
    const reached = await page.evaluate(() => {
      const [frame] = document.getElementsByTagName('iframe');
      const reach = (read: () => unknown): string => {
        try {
          return String(read());
        } catch (error) {
          return error instanceof Error ? error.name : 'refused';
        }
      };
      return [
        frame?.contentDocument ?? null,
        reach(() => frame?.contentWindow?.document),
        reach(() => frame?.contentWindow?.dispatchEvent(new Event('submit'))),
      ];
    });
    expect(reached).toEqual([null, 'SecurityError', 'SecurityError']);
    for (const number of [0, 1, 2]) {
      const answer = { password: alice.password, newPassword: null };
      await page.evaluate(sayEverywhere, { type: 'answer', number, typed: answer });
    }
    for (const type of ['submit', 'ask', 'wrong-password', 'answered', 'ready', 'visible'])
      await page.evaluate(sayEverywhere, { type });
    expect(await typed()).toBe(alice.password);
    await page.keyboard.press('Escape');
    const isHidden = () =>
      page.evaluate(() => document.querySelector<HTMLDialogElement>('#keys-layer')?.open === false);
    await expect.poll(isHidden).toBe(true);
    const overheard = () => page.evaluate(() => Reflect.get(globalThis, 'overheard') as string[]);
    const ofTyping = (await overheard()).filter((line) =>
      /^(?:keydown|beforeinput|input|change|submit)|correct/.test(line),
    );
    expect(ofTyping).toEqual([]);
    // It would have heard it in a field of the page.
    await alice.openTab('Contacts');
    await alice.click(button('Find Users'));
    await alice.type('input[placeholder="Search by email or username..."]', 'correct');
    expect((await overheard()).join()).toContain('correct');
  });

  test('finds no key in what its origin stores', async ({ newVisitor }) => {
    const alice = await newVisitor('alice');
    await alice.signUp();
    const found = await alice.page.evaluate(async () => {
      const [frame] = document.getElementsByTagName('iframe');
      const reach = (read: () => unknown): string => {
        try {
          return String(read());
        } catch (error) {
          return error instanceof Error ? error.name : 'refused';
        }
      };
      return {
        databases: await indexedDB.databases(),
        session: reach(() => frame?.contentWindow?.indexedDB),
        document: frame?.contentDocument ?? null,
        caches: reach(() => frame?.contentWindow?.caches),
        kept: Object.keys(localStorage).filter((name) => /key|seed|vault|secret/i.test(name)),
      };
    });
    const refused = expect.stringMatching(/^(?:SecurityError|refused)$/);
    expect(found).toEqual({ databases: [], session: refused, document: null, caches: refused, kept: [] });
  });

  test('has its changed page served from the cache to nobody', async ({ newVisitor }) => {
    const alice = await newVisitor('alice');
    await alice.signUp();
    await alice.page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      for (const name of await caches.keys()) {
        const changed = new Response('<title>changed</title>', { headers: { 'content-type': 'text/html' } });
        await (await caches.open(name)).put('/index.html', changed);
      }
    });
    await alice.reload();
    expect(await alice.page.title()).not.toBe('changed');
    expect(await alice.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  });
});

test.describe('whoever tries what is forbidden', () => {
  test.use({ mayBeForbidden: true });

  test('reaches no stranger from the page or the frame of the keys', async ({ newVisitor }) => {
    const alice = await newVisitor('alice');
    await alice.signUp();
    const stranger = new Stranger();
    const address = await stranger.listen();
    const { keys } = alice;
    await alice.page.evaluate(leaveDocument, address);
    expect(alice.complaints.length).toBeGreaterThan(5);
    // A frame that is kept from going elsewhere shows an error in the place of its document.
    await keys.evaluate(leaveDocument, address).catch(() => undefined);
    await keys.evaluate(leaveByNavigation.own, address).catch(() => undefined);
    // The stranger hears this, so it would have heard the rest.
    await fetch(`${address}/heard`);
    expect(stranger.heard).toEqual(['GET /heard']);
    stranger.close();
  });

  test('reaches nobody from the worker of the keys, under its policy', async ({ firefox }) => {
    const stranger = new Stranger();
    const address = await stranger.listen();
    // In the worker's place, because BiDi evaluates nothing in a worker. It leaves its outcomes as a database's name.
    const webDir = await mkdtemp(join(tmpdir(), 'sinetti-firefox-'));
    await cp(builtClient, webDir, { recursive: true });
    const assets = join(webDir, 'keys', 'assets');
    const names = (await readdir(assets)).filter((name) => name.startsWith('crypto.worker-'));
    for (const name of names) {
      const path = join(assets, name);
      const attempts = `(${String(leaveWorker)})(${JSON.stringify([address])})`;
      if (!name.endsWith('.js')) await rm(path);
      else await writeFile(path, `${attempts}.then((outcomes) => indexedDB.open(JSON.stringify(outcomes)));`);
    }
    const relay = await RunningRelay.start({ WEB_DIR: webDir });
    const context = await firefox.createBrowserContext();
    const alice = await Visitor.at(await context.newPage(), relay.url, 'alice');
    await alice.visit('/signup');
    const outcomes = async () => {
      const read = async () => (await indexedDB.databases()).map(({ name }) => name ?? '');
      const [left = '{}'] = await alice.keys.evaluate(read);
      return Object.entries(JSON.parse(left) as Record<string, string>);
    };
    await expect
      .poll(() =>
        outcomes().then(
          ({ length }) => length,
          () => 0,
        ),
      )
      .toBeGreaterThan(12);
    expect((await outcomes()).filter(([, outcome]) => outcome === 'done')).toEqual([]);
    expect(stranger.heard).toEqual([]);
    await context.close();
    await relay.stop();
    await rm(webDir, { recursive: true });
    stranger.close();
  });

  test('gets no frame of the keys as a stranger of their site', async ({ firefox, newVisitor }) => {
    const alice = await newVisitor('alice');
    await alice.signUp();
    const keysUrl = alice.keys.url();
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(`<iframe src="${keysUrl}"></iframe>`);
    });
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
    const page = await firefox.newPage();
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    const frame = page.frames().find((candidate) => candidate !== page.mainFrame());
    expect(frame?.url() ?? '').not.toBe(keysUrl);
    expect(page.workers()).toEqual([]);
    await page.close();
    server.close();
  });
});

test('the keys share a process with their page, which gets neither the clock nor the memory to read it by', async ({
  relay,
}) => {
  const firefox = await launchFirefox({ withSystemAccess: true });
  const inside = await firefox.newPage();
  // It does not say when a page of its own has loaded.
  inside.goto('about:processes').catch(() => undefined);
  await expect.poll(() => inside.evaluate(() => 'Services' in globalThis).catch(() => false)).toBe(true);
  // Firefox keeps sites together while it is driven; people have them apart.
  await inside.evaluate("Services.prefs.setIntPref('fission.webContentIsolationStrategy', 1)");
  const alice = await Visitor.at(await firefox.newPage(), relay.url, 'alice');
  await alice.signUp();
  const processes = (await inside.evaluate(`(() => {
    const found = [];
    const walk = (context) => {
      const { documentURI, osPid } = context.currentWindowGlobal;
      found.push({ url: documentURI.spec, process: osPid, kind: context.currentRemoteType });
      for (const child of context.children) walk(child);
    };
    for (const browser of Services.wm.getEnumerator('navigator:browser')) {
      for (const tab of browser.gBrowser.tabs) walk(tab.linkedBrowser.browsingContext);
    }
    return found.filter(({ url }) => url.startsWith('http'));
  })()`)) as { url: string; process: number; kind: string }[];
  expect(processes.map(({ url }) => new URL(url).pathname)).toEqual(['/dashboard', '/keys']);
  expect(new Set(processes.map(({ process }) => process)).size).toBe(1);
  for (const frame of [alice.page.mainFrame(), alice.keys]) {
    const has = await frame.evaluate(() => [crossOriginIsolated, 'SharedArrayBuffer' in globalThis]);
    expect(has).toEqual([false, false]);
  }
  await firefox.close();
});
