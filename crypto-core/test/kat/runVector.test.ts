/** The runner of vectors that a browser has (src/vectors), on those that it is given and on all that these tests carry. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { selectedFile, written } from '../../../build/vectors.mjs';
import { ready } from '../../src/suite/sodium.ts';
import { runVector, type VectorFormat, vectorFormats } from '../../src/vectors/index.ts';
import { readVectors } from './vectors.ts';

interface Selected {
  readonly format: VectorFormat;
  readonly source: string;
  readonly cases: readonly Record<string, unknown>[];
}

const selected = JSON.parse(readFileSync(selectedFile, 'utf8')) as Selected[];

/** The field that is computed of the rest of the case. */
const results: Partial<Record<VectorFormat, string>> = {
  x25519: 'shared',
  ed25519: 'sig',
  'chacha20-poly1305': 'tag',
  'xchacha20-poly1305': 'tag',
  'hmac-sha256': 'tag',
  'hkdf-sha256': 'okm',
  'x-wing': 'ss',
  hpke: 'shared_secret',
  deserialization: 'vlbytes_header',
  'psk-secret': 'psk_secret',
  'transcript-hashes': 'interim_transcript_hash_after',
  'message-protection': 'application',
  'passive-client': 'initial_epoch_authenticator',
};

beforeAll(ready);

describe('the vectors that the page /prove runs', () => {
  it('are selected of the carried ones (node build/vectors.mjs writes them), of each format some', () => {
    expect(readFileSync(selectedFile, 'utf8')).toBe(written());
    expect(selected.map(({ format }) => format).toSorted()).toEqual([...vectorFormats].toSorted());
    expect(readFileSync(selectedFile).length).toBeLessThan(150_000);
  });

  it.each(selected)('come out as published: $format', ({ format, cases }) => {
    expect(cases.map((vector) => runVector(format, vector))).toEqual(cases.map(() => null));
  });

  it.each(selected)('fail when one byte of what was published is another: $format', ({ format, cases }) => {
    // A case that has to be refused stays refused, whichever of its bytes is another.
    const vector = cases.find(({ result }) => result === undefined || result === 'valid');
    const outcomes = alteredCases(vector as Record<string, unknown>).map((altered) =>
      runVector(format, altered),
    );
    expect(outcomes.length).toBeGreaterThan(0);
    expect(outcomes.filter((outcome) => outcome !== null).length).toBeGreaterThan(0);
  });

  it.each(Object.entries(results))('fail when a byte of the result is another: %s, %s', (format, field) => {
    const all = selected.find((each) => each.format === format)?.cases ?? [];
    const vector = all.find(({ result }) => result === undefined || result === 'valid') ?? {};
    const altered = { ...vector, [field]: flipped(String(vector[field])) };
    expect(runVector(format as VectorFormat, altered)).not.toBeNull();
  });

  it.each(vectorFormats)('are refused as malformed where they are of no format: %s', (format) => {
    for (const vector of [null, 7, 'text', [], {}, { n_leaves: -1 }, { cipher_suite: 3, leaves: [7] }]) {
      expect(runVector(format, vector)).toBe('malformed');
    }
  });
});

describe('all carried vectors of the same formats', () => {
  it.each([
    ['crypto-basics', 'crypto-basics'],
    ['deserialization', 'deserialization'],
    ['tree-math', 'tree-math'],
    ['tree-validation', 'tree-validation'],
    ['key-schedule', 'key-schedule'],
    ['psk-secret', 'psk_secret'],
    ['transcript-hashes', 'transcript-hashes'],
    ['secret-tree', 'secret-tree'],
    ['message-protection', 'message-protection'],
    ['welcome', 'welcome'],
    ['passive-client', 'passive-client-welcome'],
    ['passive-client', 'passive-client-handling-commit'],
  ] as const)('come out as published: %s of %s', (format, name) => {
    const cases = readVectors<unknown[]>(`mls/${name}.json`);
    expect(cases.map((vector) => runVector(format, vector))).toEqual(cases.map(() => null));
  });
});

/** Changes the last octet. */
function flipped(hex: string): string {
  const last = Number.parseInt(hex.slice(-2), 16) ^ 1;
  return `${hex.slice(0, -2)}${last.toString(16).padStart(2, '0')}`;
}

/** The case with one byte changed: in each of its texts in hexadecimal that is at its top, in turn. */
function alteredCases(vector: Record<string, unknown>): Record<string, unknown>[] {
  const json = JSON.stringify(vector);
  const texts = [
    ...new Set(json.match(/"[0-9a-f]{32,}"/g) ?? json.match(/"[0-9a-f]{2,}"|\[[^\]]*\]/g) ?? []),
  ];
  return texts.map((text) => {
    const altered = text.startsWith('"') ? `"${flipped(text.slice(1, -1))}"` : '[]';
    return JSON.parse(json.replace(text, altered)) as Record<string, unknown>;
  });
}
