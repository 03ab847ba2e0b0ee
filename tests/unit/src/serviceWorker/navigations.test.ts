import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { nudgePath } from '#src/serviceWorker/messages.ts';
import {
  answerForeignPage,
  answerWithoutPage,
  isPageOfApp,
  withKeysOrigin,
} from '#src/serviceWorker/navigations.ts';

const origin = 'https://sinetti.example';
const asset = (path: string) => new Request(`${origin}${path}`);

/** A navigation can't be constructed, only met. */
const navigation = (path: string, method = 'GET') =>
  ({ method, mode: 'navigate', url: `${origin}${path}` }) as Request;

describe('the page of the app', () => {
  it('is given the address of the frame, and nothing else', async () => {
    const page = await readFile('index.html', 'utf8');
    const parts = withKeysOrigin(page, 'https://keys.sinetti.example').split('https://keys.sinetti.example');
    expect(parts.join('')).toBe(page);
    expect(parts).toHaveLength(2);
    expect(parts[1]).toMatch(/^\/keys" title=/);
  });
});

describe('a navigation that ends in no page', () => {
  const answer = (request: Request) => answerWithoutPage(request, origin, 'https://keys.sinetti.example');

  it('is a nudge, answered with no content, so that the page stays', () => {
    expect(answer(navigation(nudgePath))?.status).toBe(204);
    expect(answer(asset(nudgePath))).toBeNull();
  });

  it.each(['/keys', '/storage'])('is %s, which is led to the origin of the keys', (path) => {
    const response = answer(navigation(path));
    expect(response?.status).toBe(302);
    expect(response?.headers.get('location')).toBe(`https://keys.sinetti.example${path}`);
    expect(answer(asset(path))).toBeNull();
  });

  it('is none of the app’s own, nor of another origin', () => {
    expect(answer(navigation('/dashboard'))).toBeNull();
    expect(answer({ mode: 'navigate', url: 'https://elsewhere.example/keys' } as Request)).toBeNull();
  });
});

describe('a navigation to what is the relay’s alone', () => {
  const relays = new Response('<script>steal()</script>', { headers: { 'content-type': 'text/html' } });
  const answer = (request: Request, isHeld: boolean) =>
    answerForeignPage(request, origin, isPageOfApp, {
      fetch: async () => relays.clone(),
      isPinned: async () => isHeld,
    });

  it.each(['/api/welcome', '/api', '/healthz', '/mqtt', '/ws/presence'])(
    'leads nowhere where a release is held on to: %s',
    async (path) => {
      const response = await answer(navigation(path), true);
      expect([response?.status, await response?.text()]).toEqual([404, '']);
    },
  );

  it.each(['/dashboard', '/index.html', '/'])('is a form that is posted to %s', async (path) => {
    const response = await answer(navigation(path, 'POST'), true);
    expect([response?.status, await response?.text()]).toEqual([404, '']);
  });

  it('is the relay’s where none is held on to', async () => {
    expect(await (await answer(navigation('/api/docs'), false))?.text()).toContain('steal');
  });

  it('is neither a call, nor a page of the app, nor of another origin', () => {
    expect(answer(asset('/api/contacts'), true)).toBeNull();
    expect(answer(navigation('/dashboard'), true)).toBeNull();
    const url = 'https://elsewhere.example/api';
    const elsewhere = { method: 'GET', mode: 'navigate', url } as Request;
    expect(answer(elsewhere, true)).toBeNull();
  });

  it('ends in an error where nobody knows whether a release is held on to', async () => {
    const failing = { fetch, isPinned: () => Promise.reject(new Error('storage')) };
    const response = await answerForeignPage(navigation('/api'), origin, isPageOfApp, failing);
    expect(response?.type).toBe('error');
  });
});
