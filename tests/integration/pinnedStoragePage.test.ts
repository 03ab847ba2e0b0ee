/** The page that asks for persistent storage, at an origin of the keys that holds on to a release. */
import { beforeEach, describe, expect, it } from 'vitest';
import { answerStoragePage } from '#src/serviceWorker/storagePage.ts';
import { clientFiles } from '../../verify/test/support/releases.ts';
import { bases, browser, servePinned, way } from './support/pinnedRelay.ts';

servePinned();

let room: Awaited<ReturnType<typeof browser.version>>;

beforeEach(async () => {
  room = await browser.version({}, 'keys');
});

/** A navigation can't be constructed, only met. */
const answerTo = (path: string, method = 'GET') =>
  answerStoragePage({ method, mode: 'navigate', url: `${bases.keys}${path}` } as Request, {
    address: bases.keys,
    agreed: () => room.releases.agreed(),
    fetch: async (input, init) => {
      const address = typeof input === 'string' ? `${bases.keys}${input}` : (input as Request).url;
      return way.change(await fetch(address, { redirect: init?.redirect ?? 'follow' }), 'keys/storage');
    },
  });

const evil = '<script>steal()</script>';
function serveEvil(): void {
  way.change = () => new Response(evil, { headers: { 'content-type': 'text/html' } });
}

describe('the page that asks for storage', () => {
  it('is the release’s, with the headers of the release whatever the relay’s are', async () => {
    expect(await room.install()).toBe('installed');
    const served = await answerTo('/storage');
    const policy = served?.headers.get('content-security-policy');
    expect(policy).toContain("frame-ancestors 'none'");
    way.change = async (answer) => new Response(await answer.text(), { headers: { refresh: '0;url=/x' } });
    const answer = await answerTo('/storage');
    expect(await answer?.text()).toBe(clientFiles['keys/storage.html']);
    expect(answer?.headers.get('content-security-policy')).toBe(policy);
    expect(answer?.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer?.headers.has('refresh')).toBe(false);
  });

  it('is not shown where it is another one', async () => {
    expect(await room.install()).toBe('installed');
    serveEvil();
    const answer = await answerTo('/storage');
    expect([answer?.status, answer?.headers.get('content-type')]).toEqual([503, 'text/plain; charset=utf-8']);
    expect(await answer?.text()).toContain('is not that of the version that you agreed to');
  });

  it('is the relay’s where none is held on to', async () => {
    serveEvil();
    expect(await (await answerTo('/storage'))?.text()).toBe(evil);
  });

  it('is at one address alone', () => {
    expect(answerTo('/keys')).toBeNull();
    expect(answerTo('/storage', 'POST')).toBeNull();
  });
});
