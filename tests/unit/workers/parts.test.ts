import { CryptoError } from '@sinetti/crypto-core';
import { describe, expect, it } from 'vitest';
import type { CryptoApi } from '#workers/api/cryptoApi.ts';
import { CryptoApiError, cryptoApiErrorCodes, fromWire } from '#workers/api/errors.ts';
import { toCryptoApiError } from '#workers/api/toCryptoApiError.ts';
import { fromBase64Url, toBase64Url } from '#workers/codec/base64url.ts';
import { array, GuardFailure, integer, object, oneOf, string } from '#workers/codec/guards.ts';
import { bytes, decodeJson, encodeJson } from '#workers/codec/json.ts';
import { browserEnv } from '#workers/entry/browserEnv.ts';
import { createDispatch } from '#workers/entry/dispatch.ts';
import { reasonOfCode } from '#workers/messaging/undecryptableReasons.ts';
import { EventRecord } from '#workers/storage/eventRecord.ts';
import { Browser, Clock, seededRandom } from './support/browser.ts';

describe('base64url', () => {
  it('encodes any bytes canonically, without padding', () => {
    const random = seededRandom('base64url');
    for (const length of [0, 1, 2, 3, 4, 31, 32, 33, 20_000]) {
      const sample = random(length);
      const text = toBase64Url(sample);
      expect(text).toBe(Buffer.from(sample).toString('base64url'));
      expect(fromBase64Url(text)).toEqual(sample);
    }
  });

  it.each(['A', 'AA==', 'AB', 'AAB', 'A A', 'A+AA', 'A/AA', 'AAAA\n', 'ÄÄÄÄ', 'AAAAA'])(
    'refuses %j',
    (text) => {
      expect(fromBase64Url(text)).toBeNull();
    },
  );
});

describe('guards of records', () => {
  const Person = object({
    name: string(5, /^[a-z]*$/),
    age: integer(0, 150),
    kind: oneOf('a', 'b'),
    tags: array(string(3), 2),
  });
  const good = { name: 'ada', age: 36, kind: 'a', tags: ['x'] };

  it('copy the fields that they know and no others', () => {
    expect(Person({ ...good, extra: 1 })).toEqual(good);
  });

  it.each([
    ['name', { name: 'toolong' }],
    ['name', { name: 'Ada' }],
    ['name', { name: undefined }],
    ['age', { age: 1.5 }],
    ['age', { age: '36' }],
    ['age', { age: Number.NaN }],
    ['age', { age: 151 }],
    ['kind', { kind: 'c' }],
    ['tags', { tags: ['x', 'y', 'z'] }],
    ['tags', { tags: 'xy' }],
    ['tags', { tags: [7] }],
  ])('refuse a wrong %s, naming the field and not its value', (field, change) => {
    expect(() => Person({ ...good, ...change })).toThrow(GuardFailure);
    expect(() => Person({ ...good, ...change })).toThrow(new RegExp(`^${field}: [a-z0-9 ]+$`));
  });

  it.each([null, undefined, 'text', 7])('refuse %j for an object', (value) => {
    expect(() => Person(value)).toThrow(GuardFailure);
  });
});

describe('stored codes', () => {
  const event = {
    kind: 'refused',
    senderId: 'a',
    senderDeviceId: 'b',
    timestamp: 't',
    added: [],
    removed: [],
  };

  it('are read as internal where this version knows no such code, and the rest of the record as it is', () => {
    expect(EventRecord({ ...event, code: 'policy' })).toMatchObject({ code: 'policy' });
    expect(EventRecord({ ...event, code: 'code-of-another-version' })).toMatchObject({
      code: 'internal',
      kind: 'refused',
    });
    expect(() => EventRecord({ ...event, code: 7 })).toThrow(GuardFailure);
  });
});

describe('JSON records', () => {
  const Row = object({ key: bytes(4, 2) });

  it('return byte strings as they were encoded', () => {
    const row = { key: new Uint8Array([1, 2, 3]) };
    expect(decodeJson(encodeJson(row), Row)).toEqual(row);
  });

  it.each(['{"key":"AQ"}', '{"key":"AQIDBAU"}', '{"key":"A"}', '{"key":7}', '{}', '{', ''])(
    'refuse %s as a record',
    (text) => {
      expect(() => decodeJson(new TextEncoder().encode(text), Row)).toThrow(GuardFailure);
    },
  );
});

describe('the reasons of undecryptable messages', () => {
  it('are those of the closed list, each of which some code has', () => {
    // The position in the log tells `before-join`, not a code.
    expect(new Set(Object.values(reasonOfCode))).toEqual(
      new Set(['damaged', 'unknown-device', 'rules', 'storage-erased']),
    );
  });

  it.each([
    ['decrypt-failed', 'damaged'],
    ['replayed', 'damaged'],
    ['wrong-epoch', 'damaged'],
    ['unknown-sender', 'unknown-device'],
    ['invalid-credential', 'unknown-device'],
    ['policy', 'rules'],
    ['invalid-commit', 'rules'],
    ['corrupt-record', 'storage-erased'],
  ] as const)('map the code %s to %s', (code, reason) => {
    expect(reasonOfCode[code]).toBe(reason);
  });
});

describe('errors of the worker', () => {
  it('keep their codes, and their messages only if they are written to be shown', () => {
    const cases: [unknown, Partial<CryptoApiError>][] = [
      [new CryptoApiError('gap', '7'), { code: 'gap', detail: '7' }],
      [new CryptoError('replayed'), { code: 'replayed', detail: '' }],
      [new CryptoError('policy', 'adds a stranger'), { code: 'policy', detail: 'adds a stranger' }],
      [
        new DOMException('disk full', 'QuotaExceededError'),
        { code: 'storage', detail: 'QuotaExceededError' },
      ],
      [new TypeError('the text "secret" has no length'), { code: 'internal', detail: 'TypeError' }],
      ['secret', { code: 'internal', detail: 'string' }],
    ];
    for (const [error, expected] of cases) expect(toCryptoApiError(error)).toMatchObject(expected);
  });

  it('are rebuilt on the page with known codes only', () => {
    expect(fromWire('gap', '7')).toMatchObject({ code: 'gap', detail: '7', message: 'gap: 7' });
    expect(fromWire('constructor', 'x')).toMatchObject({ code: 'internal' });
    expect(cryptoApiErrorCodes).toContain('identity-changed');
  });
});

describe('the dispatch', () => {
  const dispatch = createDispatch(new Browser('dispatch', new Clock()).tab());
  const call = (method: string, ...args: unknown[]) => dispatch.call(method as keyof CryptoApi, args);

  it('answers both results and failures as values', async () => {
    expect(await call('resume', 'a0000000-0000-4000-8000-000000000001')).toEqual({ ok: true, value: false });
    expect(await call('conversations')).toEqual({ ok: false, code: 'locked', detail: '' });
  });

  it.each([
    ['toString'],
    ['__proto__'],
    ['nothing'],
    ['resume'],
    ['resume', 7],
    ['resume', '../other'],
    ['beginSignUp', null],
    ['beginSignUp', 'x'.repeat(5000)],
    ['beginLogin', 'password', null],
    ['createVault', 'not an id'],
    ['openVault', 'a0000000-0000-4000-8000-000000000001', { sealedVault: '!', passwordWrap: '' }],
    ['messages', 'direct:a:b', { limit: 10 }],
    ['messages', 'direct:a:b', null],
    ['processEntries', 'direct:a:b', []],
    ['queueMessage', {}],
    ['outbox', 'direct:a:b'],
    ['prepareMessage', ['x']],
    ['messageFailed', 'a0000000-0000-4000-8000-000000000001', 'not-a-code'],
  ])('refuses %s(…) as usage', async (method, ...args) => {
    expect(await call(method, ...args)).toMatchObject({ ok: false, code: 'usage' });
  });

  it('answers a call without an array of arguments instead of rejecting', async () => {
    await expect(dispatch.call('resume', null as never)).resolves.toMatchObject({ ok: false, code: 'usage' });
  });
});

describe("the browser's randomness", () => {
  it('fills more bytes than one call of getRandomValues may ask for', () => {
    const drawn = browserEnv.random(200_000);
    expect(drawn).toHaveLength(200_000);
    expect(drawn.subarray(-32).some((byte) => byte !== 0)).toBe(true);
  });
});
