import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultOperator, wrongSetting } from '../../relay/contract/operator.ts';
import { Failure } from '../src/chain/errors.ts';
import { parseOperator } from '../src/operator.ts';
import { operatorOf } from '../src/relay.ts';

const read = (value: unknown) => parseOperator(Buffer.from(JSON.stringify(value)));
/** Returns whether this package takes a value, and whether the relay and the client do. */
function taken(value: unknown): readonly [boolean, boolean] {
  let isTaken = true;
  try {
    read(value);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'different') throw error;
    isTaken = false;
  }
  return [isTaken, wrongSetting(value) === undefined];
}

/** Values that are right or nearly so, in the place of each member. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' a',
    'a ',
    'a\u00a0',
    'a\u202eb',
    'a\ufeff',
    '\ud800',
    'x'.repeat(30),
    'x'.repeat(31),
    'x'.repeat(61),
    'a@example.org',
    "o'neil+1@mail.example.org",
    'a@b',
    'a@example.org?cc=b',
    'https://relay.example.org',
    'https://relay.example.org:8443',
    'https://relay.example.org/',
    'http://[::1]:8080',
    'wss://mqtt.example.org/mqtt',
    'wss://mqtt.example.org/mqtt?x',
    'https://relay.example.org:99999',
    'https://[',
    'wss://[::1/mqtt',
    'javascript:alert(1)',
    [],
    {},
    { en: 'a', fi: 'b' },
    { en: 'a', fi: 'b', sv: 'c' },
    { name: 'a', address: 'b', country: 'c' },
    [{ name: 'a', issuer: 'b' }],
    Array.from({ length: 7 }, () => ({ name: 'a', issuer: 'b' })),
    [{ name: 'a' }],
  ),
  fc.string({ unit: 'grapheme' }),
  fc.jsonValue(),
);
const settings = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...Object.keys(defaultOperator)), odd, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    fc.dictionary(fc.constantFrom('', 'script', 'constructor', 'hasOwnProperty'), fc.constant(1), {
      maxKeys: 1,
      noNullPrototype: true,
    }),
    fc.constantFrom<string | undefined>(undefined, undefined, undefined, ...Object.keys(defaultOperator)),
  )
  .map(([changed, added, left]) => {
    const value: Record<string, unknown> = { ...defaultOperator, ...changed, ...added };
    if (left !== undefined) delete value[left];
    return JSON.parse(JSON.stringify(value)) as unknown;
  });

describe('the settings of an operator', () => {
  it('are read alike by this package and by the relay and its client, which were written apart', () => {
    expect(taken(defaultOperator)).toEqual([true, true]);
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(settings, (value) => {
        const [here, there] = taken(value);
        seen[here ? 'taken' : 'refused'] += 1;
        expect(here).toBe(there);
      }),
      { numRuns: 3000, seed: 20261127 },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
  });

  it.each([
    { apiHost: 'https://relay.example.org:99999' },
    { apiHost: 'https://[' },
    { mqttUrl: 'wss://[::1/mqtt' },
    { mqttUrl: 'wss://relay.example.org:99999/mqtt' },
  ])('are refused with %o, of which no address can be made', (changed) => {
    expect(taken({ ...defaultOperator, ...changed })).toEqual([false, false]);
  });

  it.each([
    ['a name twice', (text: string) => text.replace('{', '{"productName":"Bank",')],
    ['spaces', (text: string) => `${text}\n`],
    ['a prototype', (text: string) => text.replace('{', '{"__proto__":{},')],
  ])('are refused with %s, which another reader could take for something else', (_, edit) => {
    const text = edit(JSON.stringify(defaultOperator));
    expect(() => parseOperator(Buffer.from(text))).toThrow(Failure);
  });

  it.each([{ apiHost: 'http://relay.example.org' }, { mqttUrl: 'ws://relay.example.org/mqtt' }])(
    'lead no call from HTTPS to plain HTTP: %o',
    async (changed) => {
      const content = Buffer.from(JSON.stringify({ ...defaultOperator, ...changed }));
      const answer = { status: 200, headers: {}, content, early: [] };
      const fetcher = { get: () => Promise.resolve(answer), close: () => undefined };
      await expect(operatorOf('https://relay.example.org', fetcher)).rejects.toThrow('to plain HTTP');
      expect(await operatorOf('http://relay.example.org', fetcher)).toMatchObject(changed);
    },
  );
});
