import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReleaseVerdict } from '#src/serviceWorker/releaseMessages.ts';
import { verifyChain } from '../../verify/src/chain/chain.ts';
import { stateKeys } from '../../verify/src/making.ts';
import { newHolder } from '../../verify/test/support/keys.ts';
import {
  clientFiles,
  firstRelease,
  holders,
  keyLines,
  type SignedChain,
  signed,
  stated,
  writeBuilt,
} from '../../verify/test/support/releases.ts';
import {
  Browser,
  browser,
  first,
  folder,
  grown,
  inUse,
  lay,
  nextApp,
  nextRoom,
  people,
  servePinned,
  way,
} from './support/pinnedRelay.ts';

servePinned();

const refused = (code: string, isKnownScript: boolean) =>
  expect.objectContaining({ state: 'refused', code, isKnownScript }) as ReleaseVerdict;

describe('a relay without a chain', () => {
  it('is served as ever, and nothing is held on to', async () => {
    await lay(null);
    const visitor = new Browser();
    const version = await visitor.version();
    expect(await version.install()).toBe('installed');
    expect(await version.releases.verdict()).toEqual({ state: 'unsigned' });
    expect(await version.releases.isPinned()).toBe(false);
    await lay(null, nextApp);
    expect(await (await visitor.version(nextApp)).install()).toBe('installed');
  });

  it('that gets one is held on to from then on', async () => {
    await lay(null);
    const visitor = new Browser();
    const version = await visitor.version();
    await version.install();
    await lay(first);
    expect(await version.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    expect(await version.releases.isPinned()).toBe(true);
    await lay(null);
    expect(await version.releases.verdict()).toEqual(refused('unsigned', true));
  });
});

describe('another release', () => {
  it('is downloaded whole, and used once the person has agreed; until then the former one is served, offline too', async () => {
    await lay(await grown(nextApp), nextApp);
    const next = await browser.version(nextApp);
    expect(await next.install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(verdict).toEqual({
      state: 'newer',
      release: expect.stringMatching(/^[\w-]{43}$/) as string,
      version: '1.4.0',
      app: true,
      room: false,
      policies: false,
    });
    way.isOffline = true;
    expect(await inUse.script()).toBe('page();');
    expect(await inUse.releases.verdict()).toEqual({ state: 'unreachable' });
    expect(await inUse.releases.inUse()).toEqual(first.chain.release);
    // The version that nobody has agreed to is of no release that is held on to.
    expect(await next.releases.inUse()).toBeNull();
    // It is here already.
    expect(await next.script()).toBe('page(2);');
    way.isOffline = false;
    expect(await inUse.releases.agree('A'.repeat(43))).toBe(false);
    expect(await next.install()).toBe('agreement');
    expect(await inUse.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(true);
    // Until the next version takes over, a page in use is of what it was of, which nobody holds on to any more.
    expect(await inUse.releases.inUse()).toBeNull();
    expect(await next.install()).toBe('installed');
    expect(await next.releases.verdict()).toEqual({ state: 'current', version: '1.4.0' });
    expect(await next.releases.inUse()).toMatchObject({ version: '1.4.0' });
  });

  it('that the person agrees to while it is being installed once more is installed as agreed to', async () => {
    await lay(await grown(nextApp), nextApp);
    const next = await browser.version(nextApp);
    expect(await next.install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    // The browser begins it as a page is loaded, before the person's word, and no other one until it is over.
    let isAgreed = false;
    const begun = next.releases.install(async () => {
      await next.precache.install();
      isAgreed = await inUse.releases.agree(verdict.state === 'newer' ? verdict.release : '');
    });
    await expect(begun).resolves.toBeUndefined();
    expect(isAgreed).toBe(true);
    expect(await next.releases.inUse()).toMatchObject({ version: '1.4.0' });
  });

  it('has no other policy where the import map of its page is another, by whose hash the policy admits it', async () => {
    const [before, after] = ['{"integrity":{}}', '{"integrity":{"/assets/index-B2x_4f.js":"sha256-"}}'];
    const page = (clientFiles['app/index.html'] ?? '').replace(before, after);
    const files = { ...nextApp, 'app/index.html': page };
    const next = await grown(files);
    await lay(next, files);
    // As a relay says that has been started since.
    const [then, now] = [before, after].map((map) => createHash('sha256').update(map).digest('base64'));
    const renewed = (text: string) => text.replaceAll(then ?? '', now ?? '');
    expect(next.chain.release?.policies.page).toContain(now);
    way.change = async (answer, at) => {
      const headers = new Headers([...answer.headers].map(([name, value]) => [name, renewed(value)]));
      return new Response(at === 'app/operator.js' ? renewed(await answer.text()) : answer.body, {
        status: answer.status,
        headers,
      });
    };
    expect(await (await browser.version(files)).install()).toBe('agreement');
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'newer', app: true, policies: false });
  });

  it('whose download breaks off changes nothing', async () => {
    await lay(await grown(nextApp), nextApp);
    way.change = (answer, at) => {
      if (at === 'app/assets/index-Cc_33d.css' || at === 'app/assets/index-B2x_4f.js')
        throw new TypeError('broken off');
      return answer;
    };
    expect(await (await browser.version(nextApp)).install()).not.toBe('installed');
    expect(await inUse.script()).toBe('page();');
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    way.change = (answer) => answer;
    expect(await (await browser.version(nextApp)).install()).toBe('agreement');
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'newer' });
  });

  it('says that the room changes, at both origins', async () => {
    const room = await browser.version({}, 'keys');
    expect(await room.install()).toBe('installed');
    await lay(await grown({ ...nextApp, ...nextRoom }), { ...nextApp, ...nextRoom });
    expect(await (await browser.version(nextApp)).install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(verdict).toMatchObject({ state: 'newer', app: true, room: true });
    expect(await room.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(false);
    expect(await (await browser.version(nextRoom, 'keys')).install()).toBe('agreement');
    expect(await room.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(true);
    expect(await (await browser.version(nextRoom, 'keys')).install()).toBe('installed');
  });

  it('may change the key room alone: the app is as it was, and uses it once both origins have agreed', async () => {
    const room = await browser.version({}, 'keys');
    expect(await room.install()).toBe('installed');
    await lay(await grown(nextRoom), nextRoom);
    expect(await (await browser.version(nextRoom, 'keys')).install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(verdict).toMatchObject({ state: 'newer', app: false, room: true, policies: false });
    const hash = verdict.state === 'newer' ? verdict.release : '';
    expect([await room.releases.agree(hash), await inUse.releases.agree(hash)]).toEqual([true, true]);
    expect(await (await browser.version(nextRoom, 'keys')).install()).toBe('installed');
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.4.0' });
  });

  it('whose key room breaks off as it is downloaded is agreed to there once all of it is here, and not before', async () => {
    const room = await browser.version({}, 'keys');
    await room.install();
    await lay(await grown(nextRoom), nextRoom);
    way.change = (answer, at) => {
      if (at === 'keys/assets/keys-B2x_4f.css') throw new TypeError('broken off');
      return answer;
    };
    expect(await (await browser.version(nextRoom, 'keys')).install()).not.toBe('agreement');
    const verdict = await inUse.releases.verdict();
    const hash = verdict.state === 'newer' ? verdict.release : '';
    expect(await room.releases.agree(hash)).toBe(false);
    expect(await room.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    way.change = (answer) => answer;
    expect(await (await browser.version(nextRoom, 'keys')).install()).toBe('agreement');
    expect(await room.releases.agree(hash)).toBe(true);
  });

  it('says that its policies change, at a relay that sends them', async () => {
    const next = (text: string) => text.replaceAll('geolocation=()', 'geolocation=(self)');
    const chain = await grown({}, people, first, (bytes) => Buffer.from(next(Buffer.from(bytes).toString())));
    await lay(chain);
    way.change = async (answer, at) => {
      const headers = new Headers([...answer.headers].map(([name, value]) => [name, next(value)]));
      const body = at.endsWith('operator.js') ? next(await answer.text()) : answer.body;
      return new Response(body, { status: answer.status, headers });
    };
    const version = await browser.version();
    expect(await version.install()).toBe('agreement');
    const verdict = await inUse.releases.verdict();
    expect(verdict).toMatchObject({ state: 'newer', app: false, room: false, policies: true });
    expect(await inUse.releases.agree(verdict.state === 'newer' ? verdict.release : '')).toBe(true);
    expect(await version.install()).toBe('installed');
    // The relay goes on with those of before.
    way.change = (answer) => answer;
    expect(await version.releases.verdict()).toEqual(refused('different', true));
  });

  it('follows keys that were replaced', async () => {
    const heirs = { anna: people.anna!, bertta: people.bertta!, dora: newHolder() };
    const keys = signed(stateKeys(keyLines(heirs), 2, first.chain), people);
    const replaced = signed(stateKeys(keyLines(heirs), 2, first.chain), { ...people, ...heirs });
    expect(keys.bytes).toEqual(replaced.bytes);
    const steps = [...first.steps, replaced];
    const chain = await verifyChain(steps, first.root);
    await lay({ root: first.root, steps, chain });
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    const longer = await grown(nextApp, people, { root: first.root, steps, chain });
    await lay(longer, nextApp);
    expect(await (await browser.version(nextApp)).install()).toBe('agreement');
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'newer' });
  });
});

/** Lays the next release with something about it changed. */
const withNext = async (change: (chain: SignedChain) => Promise<SignedChain> | SignedChain): Promise<void> =>
  lay(await change(await grown(nextApp)), nextApp);

describe('what is no release comes into no use:', () => {
  it.each<[string, () => Promise<void>, ReleaseVerdict, string]>([
    ['an older one than was seen', async () => lay(first), refused('rollback', true), 'rollback'],
    ['none any more', async () => lay(null), refused('unsigned', true), 'unsigned'],
    [
      'another one in its place',
      async () => {
        const files = { ...nextApp, 'app/service-worker.js': 'keep(3);' };
        await lay(await grown(files), files);
      },
      refused('rollback', false),
      'rollback',
    ],
    [
      'one from another root',
      async () => {
        await lay(null, nextApp);
        await lay(await firstRelease(folder, holders('anna', 'bertta', 'carl')), nextApp);
      },
      refused('rollback', true),
      'rollback',
    ],
  ])('%s', async (_, relayTurns, verdict, code) => {
    await lay(await grown(nextApp), nextApp);
    await inUse.releases.verdict();
    await relayTurns();
    expect(await inUse.releases.verdict()).toEqual(verdict);
    expect(await (await browser.version(nextApp)).install()).toBe(code);
    expect(await inUse.script()).toBe('page();');
  });

  it.each<[string, (chain: SignedChain) => Promise<SignedChain> | SignedChain, string]>([
    ['signed by others', async () => grown(nextApp, holders('anna', 'bertta', 'carl')), 'signature'],
    ['signed by one', async () => grown(nextApp, { anna: people.anna! }), 'signature'],
    [
      'that doesn’t follow the one before',
      async ({ chain, root, steps }) => {
        const step = signed(await stated(folder, { seq: 2, hash: 'A'.repeat(43) }, {}), people);
        return { chain, root, steps: [...steps.slice(0, 2), step] };
      },
      'chain',
    ],
    [
      'that leaves out a step',
      async ({ chain, root, steps }) => {
        const step = signed(await stated(folder, { seq: 3, hash: chain.hash }, {}), people);
        return { chain, root, steps: [...steps.slice(0, 2), step] };
      },
      'chain',
    ],
    [
      'that is no canonical JSON',
      ({ chain, root, steps }) => {
        const bytes = Buffer.concat([steps[2]!.bytes, Buffer.from('\n')]);
        return { chain, root, steps: [...steps.slice(0, 2), { ...steps[2]!, bytes }] };
      },
      'malformed',
    ],
  ])('one %s; its script locks', async (_, change, code) => {
    await withNext(change);
    expect(await inUse.releases.verdict()).toEqual(refused(code, false));
    expect(await (await browser.version(nextApp)).install()).toBe(code);
    expect(await inUse.script()).toBe('page();');
  });
});

describe('a service worker of one’s own', () => {
  it('is of no release: whoever has it in use is told so, and to lock', async () => {
    await writeBuilt(folder, 'app/service-worker.js', 'steal();');
    expect(await inUse.releases.verdict()).toEqual(refused('different', false));
    expect(await inUse.script()).toBe('page();');
  });

  it('is told of at the origin of the keys by the one there', async () => {
    const room = await browser.version({}, 'keys');
    await room.install();
    await writeBuilt(folder, 'keys/service-worker.js', 'steal();');
    expect(await room.releases.verdict()).toEqual(refused('different', false));
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
  });
});

/** The files that a service worker keeps, and those that a browser has from the network each time. */
const kept = Object.keys(clientFiles).filter(
  (name) => !/service-worker|webmanifest|robots|storage/.test(name),
);

describe('a byte that is changed in', () => {
  it.each(kept)('%s: the installation is refused, and what is in use stays', async (name) => {
    const origin = name.startsWith('app') ? 'app' : 'keys';
    const room = await browser.version({}, 'keys');
    await room.install();
    const files = { ...nextApp, ...nextRoom };
    await lay(await grown(files), files);
    const content = { ...clientFiles, ...files }[name] ?? '';
    await writeBuilt(folder, name, `${content.slice(0, -1)}~`);
    const next = await browser.version(files, origin);
    expect(await next.install()).toBe('mismatch');
    // Nobody is asked about it.
    const { releases } = origin === 'app' ? inUse : room;
    expect(await releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
    const former = await readFile(path.join(folder, name), 'utf8');
    expect(former).not.toBe(content);
    expect(await inUse.script()).toBe('page();');
  });

  it('a build that states it, too: it isn’t the release’s', async () => {
    const files = { ...nextApp, 'app/favicon.svg': '<svg onload="steal()"/>' };
    await lay(await grown(nextApp), files);
    expect(await (await browser.version(files)).install()).toBe('different');
  });

  it('a file that is removed, or two that are swapped: as one that is changed', async () => {
    await lay(await grown(nextApp), nextApp);
    await rm(path.join(folder, 'app/favicon.svg'));
    await rm(path.join(folder, 'app/favicon.svg.br'));
    expect(await (await browser.version(nextApp)).install()).toBe('unavailable');
    await lay(await grown(nextApp), { ...nextApp, 'app/favicon.svg': 'PNG', 'app/icon-180.png': '<svg/>' });
    expect(await (await browser.version(nextApp)).install()).toBe('mismatch');
  });

  it('a file that is added: nothing of a release asks for it', async () => {
    await writeBuilt(folder, 'app/assets/extra-Aa1.js', 'steal();');
    expect(await inUse.releases.verdict()).toEqual({ state: 'current', version: '1.0.0' });
  });
});

describe('a first visit', () => {
  it('to a relay whose files are not the release’s is told so, and keeps nothing', async () => {
    await lay(first, nextApp);
    const visitor = new Browser();
    const version = await visitor.version(nextApp);
    expect(await version.install()).toBe('different');
    expect(await version.releases.isPinned()).toBe(false);
  });

  it('is what a browser has again once its storage is evicted: it takes an older release, too', async () => {
    await lay(await grown(nextApp), nextApp);
    const visitor = new Browser();
    expect(await (await visitor.version(nextApp)).install()).toBe('installed');
    await lay(first);
    expect(await (await visitor.version()).install()).toBe('rollback');
    visitor.evict();
    expect(await (await visitor.version()).install()).toBe('installed');
  });
});
