import { describe, expect, it } from 'vitest';
import { createTokenStore, isUsableToken, tokenUserId } from '#src/services/session/token.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

function token(claims: unknown): string {
  const payload = btoa(JSON.stringify(claims)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return `header.${payload}.signature`;
}

describe('a stored token', () => {
  it('is usable until its expiry', () => {
    expect(isUsableToken(token({ exp: now / 1000 + 1 }), now)).toBe(true);
    expect(isUsableToken(token({ exp: now / 1000 }), now)).toBe(false);
  });

  it.each([
    ['two parts', 'a.b'],
    ['four parts', `${token({ exp: now })}.d`],
    ['nothing', ''],
    ['no base64', 'a.%%%.c'],
    ['no JSON', `a.${btoa('{')}.c`],
    ['no claims', token(null)],
    ['no expiry', token({ sub: 'x' })],
    ['an expiry that is no number', token({ exp: 'tomorrow' })],
  ])('is not usable with %s', (_name, value) => {
    expect(isUsableToken(value, now)).toBe(false);
  });

  it('names its person', () => {
    expect(tokenUserId(token({ exp: 1, sub: 'someone' }))).toBe('someone');
    expect(tokenUserId(token({ exp: 1, sub: 7 }))).toBeNull();
  });

  it('is removed by a late answer only if it is still the same', () => {
    localStorage.clear();
    const tokens = createTokenStore(localStorage);
    tokens.save('new');
    expect(tokens.removeIf('old')).toBe(false);
    expect(localStorage.getItem('token')).toBe('new');
    expect(tokens.removeIf('new')).toBe(true);
    expect(tokens.read()).toBeNull();
  });
});
