/** Honest relays raise no alarm where a browser holds on to a release, and none gains by when and how it answers. */
import { describe, expect, it } from 'vitest';
import type { Precache } from '#src/serviceWorker/precache.ts';
import type { ReleaseRefusal } from '#src/serviceWorker/releaseMessages.ts';
import { installReleased } from '#src/serviceWorker/releases.ts';
import { clientFiles, writeBuilt } from '../../verify/test/support/releases.ts';
import {
  Browser,
  bases,
  browser,
  first,
  folder,
  grown,
  inUse,
  lay,
  nextApp,
  people,
  servePinned,
  way,
} from './support/pinnedRelay.ts';

servePinned();

const refused = (code: string, isKnownScript: boolean) =>
  expect.objectContaining({ state: 'refused', code, isKnownScript }) as ReleaseRefusal;

describe('a relay that is honest', () => {
  it('may have its pages connect elsewhere: that is its operator’s word, as before, and the new settings are installed', async () => {
    const elsewhere = 'https://calls.example.org';
    way.change = async (answer, at) => {
      const headers = new Headers(answer.headers);
      const policy = headers.get('content-security-policy');
      const connecting = (text: string) => text.replaceAll("connect-src 'self'", `$& ${elsewhere}`);
      if (policy !== null) headers.set('content-security-policy', connecting(policy));
      if (!/operator\.js/.test(at))
        return new Response(await answer.arrayBuffer(), { status: answer.status, headers });
      const told = (await answer.text()).replace('"apiHost":null', `"apiHost":"${elsewhere}"`);
      return new Response(connecting(told), { headers });
    };
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    expect(await (await browser.version()).install()).toBe('installed');
  });

  it('may be several that take up a release one after the other: keys are not locked for it', async () => {
    await lay(first, nextApp);
    const next = await (await fetch(`${bases.app}/service-worker.js`)).arrayBuffer();
    await lay(first);
    let asked = 0;
    way.change = (answer, at) => {
      if (at !== 'app/service-worker.js') return answer;
      asked += 1;
      return asked % 2 === 1 ? new Response(next.slice(0), { headers: answer.headers }) : answer;
    };
    expect(await inUse.releases.verdict()).toEqual(refused('different', true));
  });

  it('may be several, some of which have the page of the release in use still, with the policy for its import map', async () => {
    const [before, after] = ['{"integrity":{}}', '{"integrity":{"/assets/index-B2x_4f.js":"sha256-"}}'];
    const page = (clientFiles['app/index.html'] ?? '').replace(before, after);
    const files = { ...nextApp, 'app/index.html': page };
    const next = await grown(files);
    await lay(next, files);
    // The relay says of its pages what it has read as it was started.
    expect(next.chain.release?.policies.page).not.toBe(first.chain.release?.policies.page);
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    expect(await (await browser.version(files)).install()).toBe('different');
  });

  it('has the script of a new release known as such, though somebody on the way changes the policy of its page', async () => {
    await lay(await grown(nextApp), nextApp);
    way.change = (answer, at) => {
      if (at !== 'app/index.html') return answer;
      return new Response(answer.body, { headers: { 'content-security-policy': "default-src 'self'" } });
    };
    expect(await inUse.releases.verdict()).toEqual(refused('different', true));
  });

  it('is not accused on a first visit whose connection breaks off', async () => {
    const version = await new Browser().version();
    const refusals: ReleaseRefusal[] = [];
    way.change = (answer, at) => {
      if (at === 'app/index.html') throw new TypeError('Failed to fetch');
      return answer;
    };
    const precache = { install: async () => undefined } as unknown as Precache;
    const installation = installReleased(version.releases, precache, async (refusal) => {
      refusals.push(refusal);
    });
    await expect(installation).rejects.toMatchObject({ code: 'unreachable' });
    expect(refusals).toEqual([]);
  });

  it.each(['chain/2.json', 'service-worker.js'])('is unreachable while %s breaks off', async (file) => {
    way.change = (answer, at) => {
      if (!at.endsWith(file)) return answer;
      const broken = new ReadableStream({ pull: () => Promise.reject(new TypeError('network error')) });
      return new Response(broken, { headers: answer.headers });
    };
    expect(await inUse.releases.verdict()).toEqual({ state: 'unreachable' });
    expect(await inUse.releases.agree('A'.repeat(43))).toBe(false);
  });
});

describe('an operator who fell behind', () => {
  /** Grows the chain by as many releases, each with another app. */
  async function further(count: number) {
    let chain = first;
    let files: Readonly<Record<string, string>> = {};
    for (let at = 1; at <= count; at += 1) {
      files = { 'app/assets/index-B2x_4f.js': `page(${at});`, 'app/service-worker.js': `keep(${at});` };
      chain = await grown(files, people, chain);
    }
    await lay(chain, files);
    return { chain, files };
  }

  it.each([2, 3, 5])('may skip releases: the newest of %i is asked about, and no other', async (count) => {
    const { chain, files } = await further(count);
    const next = await browser.version(files);
    expect(await next.install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(verdict).toMatchObject({ state: 'newer', release: chain.chain.release?.hash });
    expect(await inUse.releases.agree(chain.chain.release?.hash ?? '')).toBe(true);
    expect(await next.install()).toBe('installed');
    expect(await next.script()).toBe(`page(${count});`);
    expect(await next.releases.verdict()).toEqual({ state: 'current', version: '1.4.0' });
  });

  it('may not leave one of those out that were skipped', async () => {
    const { chain, files } = await further(3);
    await lay({ ...chain, steps: chain.steps.map((step, at) => (at === 3 ? chain.steps[2]! : step)) }, files);
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'refused', isKnownScript: false });
    expect(await inUse.script()).toBe('page();');
  });

  it('stays behind what this browser has agreed to: nothing changes here, and nobody has to agree again once it has caught up', async () => {
    const { chain, files } = await further(2);
    const next = await browser.version(files);
    await next.install();
    await inUse.releases.agree(chain.chain.release?.hash ?? '');
    expect(await next.install()).toBe('installed');
    await lay(first);
    expect(await next.releases.verdict()).toEqual(refused('rollback', true));
    expect(await next.releases.agree(first.chain.release?.hash ?? '')).toBe(false);
    expect(await (await browser.version()).install()).toBe('rollback');
    expect(await next.script()).toBe('page(2);');
    await lay(chain, files);
    expect(await next.releases.verdict()).toEqual({ state: 'current', version: '1.4.0' });
  });
});

describe('a relay that times its answers', () => {
  it('has no browser forget a step that it has seen meanwhile', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isFirst = true;
    way.change = async (answer, at) => {
      if (!at.endsWith('chain/3.json') || !isFirst) return answer;
      isFirst = false;
      await held;
      return answer;
    };
    // One tab has asked before there was another release, and has no answer yet.
    const early = inUse.releases.verdict();
    await expect.poll(() => isFirst).toBe(false);
    await lay(await grown(nextApp), nextApp);
    const next = await browser.version(nextApp);
    expect(await next.install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(await inUse.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(true);
    release();
    await early;
    await lay(first);
    expect(await next.releases.verdict()).toEqual(refused('rollback', true));
    expect(await (await browser.version()).install()).toBe('rollback');
  });
});

it('a statement that is too deep to be read is none: its script locks, too', async () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  await writeBuilt(folder, 'app/service-worker.js', 'steal();');
  way.change = (answer, at) => (at.endsWith('chain/3.json') ? new Response(deep) : answer);
  expect(await inUse.releases.verdict()).toEqual(refused('malformed', false));
});
