import { beforeAll, describe, expect, it } from 'vitest';
import { sealRecord } from '../../src/account/records.ts';
import { createSharedKeys, openShared, sealShared } from '../../src/account/sharedKeys.ts';
import { fromUtf8, toHex, utf8 } from '../../src/bytes.ts';
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
