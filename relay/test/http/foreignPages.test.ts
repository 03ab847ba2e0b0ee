import { expect, it } from 'vitest';
import { call, startTestRelay } from '../helpers.ts';

it('a page of another origin may read how long to wait, and the tags of lists', async () => {
  const relay = await startTestRelay({ environment: { ALLOWED_ORIGINS: 'https://app.example.org' } });
  const answer = await call(relay, 'GET', '/profile', { headers: { origin: 'https://app.example.org' } });
  await relay.close();
  expect(answer.headers.get('access-control-expose-headers')).toBe('ETag, Retry-After');
});
