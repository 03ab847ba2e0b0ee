import { describe, expect, it } from 'vitest';
import { isOfType } from '#workers/api/frameMessages.ts';
import { isKeysOriginOf } from '#workers/api/origins.ts';

describe('the origin of the keys', () => {
  it.each([
    ['http://localhost:8080', 'http://localhost:8081'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8081'],
    ['http://[::1]:8080', 'http://[::1]:8081'],
    ['https://chat.example.org', 'https://chat.example.org:444'],
    ['https://chat.example.org:8443', 'https://chat.example.org:8444'],
    ['https://chat.example.org', 'https://keys.chat.example.org'],
    ['https://chat.example.org:8443', 'https://keys.chat.example.org:8443'],
    ['http://localhost', 'http://localhost:81'],
  ])('of %s may be %s', (app, keys) => {
    expect(isKeysOriginOf(app, keys)).toBe(true);
  });

  it.each([
    ['the app’s own', 'http://localhost:8080', 'http://localhost:8080'],
    ['on the port before', 'http://localhost:8081', 'http://localhost:8080'],
    ['two ports further', 'http://localhost:8080', 'http://localhost:8082'],
    ['of another host', 'http://localhost:8080', 'http://127.0.0.1:8081'],
    ['under another name', 'https://chat.example.org', 'https://secrets.chat.example.org'],
    ['below the keys', 'https://chat.example.org', 'https://a.keys.chat.example.org'],
    ['of a neighbour', 'https://chat.example.org', 'https://keys.other.example.org'],
    ['keys. and the next port', 'https://chat.example.org', 'https://keys.chat.example.org:444'],
    ['without TLS', 'https://chat.example.org', 'http://keys.chat.example.org:443'],
    ['none', 'https://chat.example.org', 'null'],
    ['of nothing', 'null', 'https://keys.chat.example.org'],
  ])('is not one that is %s', (_title, app, keys) => {
    expect(isKeysOriginOf(app, keys)).toBe(false);
  });
});

describe('a message between page and frame', () => {
  it('has one of the types that are waited for', () => {
    expect(isOfType({ type: 'ready' }, 'ready', 'connect')).toBe(true);
    for (const other of [
      null,
      'ready',
      {},
      { type: 'connected' },
      { type: ['ready'] },
      [{ type: 'ready' }],
    ]) {
      expect(isOfType(other, 'ready', 'connect')).toBe(false);
    }
  });
});
