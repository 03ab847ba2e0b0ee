import { afterAll, beforeAll, expect, it } from 'vitest';
import { blobHeaders } from '../../contract/blobs.ts';
import { call, signUp, startTestRelay, type TestRelay } from '../helpers.ts';
import { callBlobs, create } from './uploads.ts';

const origin = 'https://app.example.org';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay({ environment: { ALLOWED_ORIGINS: origin } });
});
afterAll(() => relay.close());

const listed = (headers: Headers, name: string) => headers.get(name)?.split(', ') ?? [];

it('a page of another origin may read how long to wait, and the tags of lists', async () => {
  const answer = await call(relay, 'GET', '/profile', { headers: { origin } });
  const exposed = listed(answer.headers, 'access-control-expose-headers');
  expect(exposed).toEqual(expect.arrayContaining(['etag', 'retry-after']));
});

it('a page of another origin may upload files and read ranges of them', async () => {
  for (const path of ['/blobs', '/blobs/c2VhbGVkIGZpbGUsIG9uZQ']) {
    const preflight = await callBlobs(relay, null, 'OPTIONS', path, { headers: { origin } });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    const methods = listed(preflight.headers, 'access-control-allow-methods');
    expect(methods).toEqual(expect.arrayContaining(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']));
    const { length, offset, resumable } = blobHeaders;
    const taken = listed(preflight.headers, 'access-control-allow-headers');
    expect(taken).toEqual(expect.arrayContaining(['authorization', 'range', length, offset, resumable]));
  }
  const answer = await create(relay, await signUp(relay), 10, { headers: { origin } });
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  const exposed = listed(answer.headers, 'access-control-expose-headers');
  expect(exposed).toEqual(
    expect.arrayContaining(['location', 'content-range', ...Object.values(blobHeaders)]),
  );
});

it('a page of any other origin may not', async () => {
  const headers = { origin: 'https://elsewhere.example.org' };
  const preflight = await callBlobs(relay, null, 'OPTIONS', '/blobs', { headers });
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  expect(preflight.headers.get('access-control-allow-methods')).toBeNull();
});
