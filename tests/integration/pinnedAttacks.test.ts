/** Attacks on a browser that holds on to signed releases, by a relay that serves something else beside them or by a storage that fails. */
import { describe, expect, it, vi } from 'vitest';
import { answerReleases } from '#src/serviceWorker/answerReleases.ts';
import { verdictMessage } from '#src/serviceWorker/releaseMessages.ts';
import { clientFiles } from '../../verify/test/support/releases.ts';
import {
  bases,
  browser,
  first,
  grown,
  inUse,
  lay,
  nextApp,
  servePinned,
  way,
} from './support/pinnedRelay.ts';

servePinned();

/** Changes one file of the app on its way. */
function change(file: string, text: (before: string) => string, headers: Record<string, string> = {}): void {
  way.change = async (answer, at) =>
    at === `app/${file}`
      ? new Response(text(await answer.text()), {
          headers: { ...Object.fromEntries(answer.headers), ...headers },
        })
      : answer;
}

const same = (text: string): string => text;

describe('the settings that each version imports', () => {
  it('are a stranger’s script once they have code', async () => {
    change('operator.js', (text) => `${text}self.addEventListener('fetch', () => {});`);
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'refused', isKnownScript: false });
    change('operator.js', (text) => text.replace('{', '{"__proto__":{},'));
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'refused', isKnownScript: false });
  });

  it('can’t move the keys to an origin of which nothing is held on to', async () => {
    const { port } = new URL(bases.app);
    const other = `http://keys.localhost:${port}`;
    way.change = async (answer, at) => {
      if (!at.startsWith('app/')) return answer;
      const headers = [...answer.headers].map(([name, value]): [string, string] => [
        name,
        value.replaceAll(bases.keys, other),
      ]);
      const body =
        at === 'app/operator.js' ? (await answer.text()).replaceAll(bases.keys, other) : answer.body;
      return new Response(body, { status: answer.status, headers });
    };
    const refused = { state: 'refused', code: 'different', reason: expect.stringContaining(other) };
    expect(await inUse.releases.verdict()).toMatchObject({ ...refused, isKnownScript: true });
    const next = await browser.version();
    expect(await next.install()).toBe('different');
  });

  it('have no header that commands the browser', async () => {
    change('operator.js', same, { 'clear-site-data': '"storage"' });
    expect(await inUse.releases.verdict()).toMatchObject({
      state: 'refused',
      reason: '/operator.js has the header clear-site-data.',
    });
  });
});

describe('a storage that is full', () => {
  function fill(): void {
    vi.spyOn(browser.caches.app, 'open').mockRejectedValue(new DOMException('full', 'QuotaExceededError'));
  }

  it('hides no stranger’s script', async () => {
    fill();
    change('service-worker.js', () => 'evil();');
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'refused', isKnownScript: false });
  });

  it('has an answer to whoever agrees', async () => {
    const chain = await grown(nextApp);
    await lay(chain, nextApp);
    await (await browser.version(nextApp)).install();
    const offered = await inUse.releases.verdict();
    expect(offered).toMatchObject({ state: 'newer' });
    fill();
    const answers: unknown[] = [];
    const port = { postMessage: (answer: unknown) => void answers.push(answer) } as unknown as MessagePort;
    const done: Promise<unknown>[] = [];
    const ask = (data: unknown) =>
      answerReleases({ data, ports: [port], waitUntil: (work) => void done.push(work) }, inUse.releases);
    ask({ type: 'release-agreed', release: chain.chain.release?.hash });
    await Promise.all(done);
    vi.spyOn(browser.caches.app, 'match').mockRejectedValue(new DOMException('gone', 'InvalidStateError'));
    ask(verdictMessage);
    await Promise.all(done);
    expect(answers).toEqual([null, { state: 'unreachable' }]);
  });
});

describe('an answer', () => {
  it('without an end is not read to it', async () => {
    let given = 0;
    const piece = new Uint8Array(1024 * 1024);
    way.change = (answer, at) =>
      at.includes('/chain/')
        ? new Response(
            new ReadableStream({
              pull(controller) {
                given += 1;
                controller.enqueue(piece);
              },
            }),
          )
        : answer;
    expect(await inUse.releases.verdict()).toMatchObject({ state: 'refused', code: 'chain' });
    expect(given).toBeLessThan(32);
  });
});

describe('the script of an older release beside the newest chain', () => {
  it('is told of, and locks nobody out', async () => {
    const chain = await grown(nextApp);
    await lay(chain, nextApp);
    await (await browser.version(nextApp)).install();
    expect(await inUse.releases.agree(chain.chain.release?.hash ?? '')).toBe(true);
    const next = await browser.version(nextApp);
    expect(await next.install()).toBe('installed');
    change('service-worker.js', () => clientFiles['app/service-worker.js'] ?? '');
    expect(await next.releases.verdict()).toMatchObject({ state: 'refused', isKnownScript: true });
    change('service-worker.js', () => 'evil();');
    expect(await next.releases.verdict()).toMatchObject({ state: 'refused', isKnownScript: false });
    expect(first.steps.length).toBeLessThan(chain.steps.length);
  });
});
