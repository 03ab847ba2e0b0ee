import { beforeAll, describe, expect, it } from 'vitest';
import { passwordKeys } from '../../src/account/password.ts';
import { toHex } from '../../src/bytes.ts';
import { argon2id, ready } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';

const MIB = 1024 * 1024;
const params = { salt: new Uint8Array(16).fill(7), opsLimit: 3, memLimitBytes: 128 * MIB };

beforeAll(ready);

describe('passwordKeys', () => {
  it('gives three unrelated keys, the same each time', () => {
    const first = passwordKeys('correct horse', params);
    const again = passwordKeys('correct horse', params);
    expect(toHex(first.authKey)).toBe(toHex(again.authKey));
    expect(toHex(first.wrapKey)).toBe(toHex(again.wrapKey));
    expect(toHex(first.proofSeed)).toBe(toHex(again.proofSeed));
    expect(new Set([first.authKey, first.wrapKey, first.proofSeed].map(toHex)).size).toBe(3);
    expect(first.authKey.length).toBe(32);
  });

  it('gives the same keys as ever, since existing accounts depend on them', () => {
    const { authKey, wrapKey, proofSeed } = passwordKeys('correct horse', params);
    expect(toHex(authKey)).toMatchInlineSnapshot(
      `"2747f077013e0f4e8a821bafe60969ab76fb09511cfa94a23e7099bdca4ceba2"`,
    );
    expect(toHex(wrapKey)).toMatchInlineSnapshot(
      `"7ce2c86d3e497d0c5d8e324c81e53c721ddea2c7740988fde1af5e1d61907d84"`,
    );
    expect(toHex(proofSeed)).toMatchInlineSnapshot(
      `"4821e14d9f6711d4cec0e16ef8b084f4e115e42fb69a9899f0ff615e01610f35"`,
    );
  });

  it('depends on the password, the salt and the cost', () => {
    const base = toHex(passwordKeys('a', params).authKey);
    expect(toHex(passwordKeys('b', params).authKey)).not.toBe(base);
    expect(toHex(passwordKeys('a', { ...params, salt: new Uint8Array(16).fill(8) }).authKey)).not.toBe(base);
    expect(toHex(passwordKeys('a', { ...params, opsLimit: 4 }).authKey)).not.toBe(base);
  });

  it('gives the same keys for a password however its characters are composed', () => {
    const composed = passwordKeys('p\u00e4\u00e4sy \ufb01', params);
    const decomposed = passwordKeys('pa\u0308a\u0308sy fi', params);
    expect(toHex(composed.authKey)).toBe(toHex(decomposed.authKey));
  });

  it.each([
    { opsLimit: 2 },
    { opsLimit: 11 },
    { opsLimit: 3.5 },
    { opsLimit: Number.NaN },
    { memLimitBytes: 128 * MIB - 1 },
    { memLimitBytes: 1024 * MIB + 1 },
    { memLimitBytes: 0 },
  ])('refuses the cost %o, which only a hostile relay would send', (cost) => {
    expect(codeOf(() => passwordKeys('a', { ...params, ...cost }))).toBe('unsupported');
  });

  it('refuses a salt of another length', () => {
    expect(codeOf(() => passwordKeys('a', { ...params, salt: new Uint8Array(15) }))).toBe('malformed');
  });
});

describe('argon2id', () => {
  it('refuses with a code when the memory can not be had', () => {
    expect(codeOf(() => argon2id(new Uint8Array(1), params.salt, 1, 1, 32))).toBe('unsupported');
  });
});
