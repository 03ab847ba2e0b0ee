import { describe, expect, it } from 'vitest';
import { waictManifest } from '../src/manifests.ts';
import { another, changing, changingBody, first, serveRelease } from './support/tamperedRelay.ts';

serveRelease();

describe('headers of integrity between a relay and a browser', () => {
  it.each([
    ['/login', 'app', 'integrity-policy'],
    ['/storage.html', 'keys', 'integrity-policy'],
    ['/login', 'app', 'integrity-policy-waict-v1'],
    ['/storage.html', 'keys', 'integrity-policy-waict-v1'],
  ])('are told of: one that is left out at %s of the origin of the %s, %s', async (address, origin, name) => {
    const told = await changing((headers, at) => {
      const { [name]: _, ...others } = headers;
      return at === address ? others : headers;
    });
    expect(told).toEqual([`${origin}${address}: ${name} is not sent`]);
  });

  it('are told of: a policy for nothing', async () => {
    const told = await changing((headers, at) =>
      at === '/login' ? { ...headers, 'integrity-policy': 'blocked-destinations=()' } : headers,
    );
    expect(told).toEqual(['app/login: integrity-policy is blocked-destinations=()']);
  });

  it('are told of: an integrity policy that a service worker would import nothing under', async () => {
    const name = 'integrity-policy';
    const told = await changing((headers, at) =>
      at === '/service-worker.js' ? { ...headers, [name]: 'blocked-destinations=(script)' } : headers,
    );
    const difference = `/service-worker.js: ${name} is sent, which the release has not`;
    expect(told).toEqual([`app${difference}`, `keys${difference}`]);
  });

  it.each([
    ['another manifest for WAICT', /^max-age=0, mode=report, manifest="(.*)"$/],
    ['a WAICT that blocks', /report/],
  ])('are told of: %s', async (_, replaced) => {
    const name = 'integrity-policy-waict-v1';
    const value = (headers: Record<string, string>) => (headers[name] ?? '').replace(replaced, 'enforce');
    const told = await changing((headers, at) =>
      at === '/login' ? { ...headers, [name]: value(headers) } : headers,
    );
    expect(told).toEqual([expect.stringMatching(/^app\/login: integrity-policy-waict-v1 is .*enforce/)]);
  });

  it('are told of: a manifest for WAICT of another content, and one of another type', async () => {
    const { address } = waictManifest(first.chain.release!, 'keys');
    expect(await changingBody(address, (text) => text.replace('{', '{ '))).toEqual([
      `keys${address}: ${another}`,
    ]);
    const type = 'application/json';
    const told = await changing((headers, at) =>
      at === address ? { ...headers, 'content-type': type } : headers,
    );
    expect(told).toEqual([`keys${address}: content-type is ${type}`]);
  });
});
