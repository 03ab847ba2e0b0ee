import { beforeAll, describe, expect, it } from 'vitest';
import { openAccountState, sealAccountState } from '../../src/account/accountState.ts';
import { sealRecord } from '../../src/account/records.ts';
import { createSharedKeys, openShared, sealShared } from '../../src/account/sharedKeys.ts';
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { ready } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

beforeAll(ready);

const env = testEnv('shared keys');
const [first, second, third] = [1, 4, 300].map((revision) => createSharedKeys(revision, env)) as [
  ReturnType<typeof createSharedKeys>,
  ReturnType<typeof createSharedKeys>,
  ReturnType<typeof createSharedKeys>,
];

describe('what devices share', () => {
  it('is sealed under the newest keys, and opens at whoever has those', () => {
    const sealed = sealShared('history', [first, second], 'place', utf8('hello'), env);
    expect(toHex(sealed.subarray(0, 4))).toBe('00000004');
    for (const keys of [[second], [first, second], [first, second, third]]) {
      expect(fromUtf8(openShared('history', keys, 'place', sealed))).toBe('hello');
    }
    for (const keys of [[], [first], [first, third]]) {
      expect(codeOf(() => openShared('history', keys, 'place', sealed))).toBe('missing-key');
    }
  });

  it('opens in its own place, as what it is, under its own keys only', () => {
    const sealed = sealShared('history', [second], 'place', utf8('hello'), env);
    const renamed = { ...third, revision: second.revision };
    const numbered = sealed.slice();
    numbered.set([0, 0, 1, 44]);
    const failures = [
      () => openShared('history', [second], 'elsewhere', sealed),
      () => openShared('state', [second], 'place', sealed),
      () => openShared('history', [renamed], 'place', sealed),
      () => openShared('history', [second, third], 'place', numbered),
      () => openShared('history', [second], 'place', sealed.subarray(0, 20)),
      () => openShared('history', [second], 'place', sealed.subarray(0, 3)),
    ];
    expect(failures.map(codeOf)).toEqual(failures.map(() => 'corrupt-record'));
    expect(codeOf(() => openShared('history', [second], 'place', new Uint8Array()))).toBe('missing-key');
  });

  it('opens as it was sealed before there were revisions', () => {
    const former = { ...first, revision: 0 };
    const sealed = sealRecord(first.historyKey, 'history', 'place', utf8('hello'), env);
    expect(fromUtf8(openShared('history', [former, second], 'place', sealed))).toBe('hello');
    expect(codeOf(() => openShared('history', [first], 'place', sealed))).toBe('missing-key');
  });

  it('is not sealed without keys', () => {
    expect(codeOf(() => sealShared('history', [], 'place', new Uint8Array(), env))).toBe('usage');
  });
});

describe('the account state', () => {
  const verified = ['bert', 'céline'].map((userId) => ({ userId, accountKey: env.random(32) }));
  const state = { verified, revision: 7 };

  it('remembers whom the person has verified', () => {
    const sealed = sealAccountState(state, [first, second], 'u1', env);
    expect(openAccountState(sealed, [first, second], 'u1')).toEqual(state);
    expect(codeOf(() => openAccountState(sealed, [first, second], 'u2'))).toBe('corrupt-record');
    expect(codeOf(() => openAccountState(sealed, [first], 'u1'))).toBe('missing-key');
  });

  it('has one length however many people are verified, up to some fifty', () => {
    const lengthOf = (count: number) => {
      const many = Array.from({ length: count }, () => ({
        userId: '0a52f3a8-5a7e-4f3a-9d0e-1f0c8f2b7c11',
        accountKey: env.random(32),
      }));
      return sealAccountState({ verified: many, revision: count }, [first], 'u1', env).length;
    };
    expect(new Set([0, 1, 20, 55].map(lengthOf)).size).toBe(1);
    expect(lengthOf(60)).toBe(lengthOf(110));
    expect(lengthOf(60)).toBeGreaterThan(lengthOf(0));
  });

  it('does not open in a version to come, or with other bytes after it', () => {
    const sealedWith = (version: number, trailing: number[]) => {
      const plaintext = encode(null, (writer) => {
        writer.u16(version);
        writer.u32(7);
        writer.vector([], () => undefined);
        writer.bytes(Uint8Array.from(trailing));
      });
      return sealShared('state', [first], 'u1', plaintext, env);
    };
    const open = (version: number, trailing: number[]) =>
      codeOf(() => openAccountState(sealedWith(version, trailing), [first], 'u1'));
    expect(open(1, [0])).toBe('none');
    expect(open(1, [0, 1])).toBe('malformed');
    expect(open(2, [0])).toBe('unsupported');
  });
});
