import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalBytes, type Json, parseCanonical, sha256 } from '../src/chain/canonical.ts';
import { type SignedStep, verifyChain } from '../src/chain/chain.ts';
import { stateKeys } from '../src/making.ts';
import { newHolder } from './support/keys.ts';
import {
  firstRelease,
  type Holders,
  holders,
  keyLines,
  type SignedChain,
  signed,
  stated,
  writeClient,
} from './support/releases.ts';

let folder: string;
let first: SignedChain;
const people = holders('anna', 'bertta', 'carl');
const only = (...names: string[]): Holders =>
  Object.fromEntries(Object.entries(people).filter(([name]) => names.includes(name)));

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sinetti-chain-'));
  await writeClient(folder);
  first = await firstRelease(folder, people);
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns the code with which a chain is refused, or the place of its end. */
async function outcome(
  steps: readonly SignedStep[],
  root = first.root,
  seen: Parameters<typeof verifyChain>[2] = null,
) {
  try {
    return (await verifyChain(steps, root, seen)).seq;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
const changed = (bytes: Uint8Array, change: Record<string, Json>) =>
  canonicalBytes({ ...(parseCanonical(bytes) as Record<string, Json>), ...change });
const nextRelease = () => stated(folder, first.chain, { version: '1.0.1' });

describe('a chain of releases', () => {
  it('holds from its root, by two of three signatures', async () => {
    const { chain, steps } = first;
    expect(chain.release?.version).toBe('1.0.0');
    expect(await outcome(steps)).toBe(2);
    for (const pair of [only('anna', 'bertta'), only('anna', 'carl'), only('bertta', 'carl')]) {
      expect(await outcome([...steps, signed(await nextRelease(), pair)])).toBe(3);
    }
  });

  it('is refused from another root, and one of no keys', async () => {
    expect(await outcome(first.steps, await sha256('another'))).toBe('chain');
    expect(await outcome([])).toBe('unsigned');
    const [, release] = first.steps;
    expect(await outcome([release!], await sha256(release!.bytes))).toBe('chain');
  });

  it.each([
    ['one signature', only('anna')],
    ['one signature twice', { anna: people.anna!, bertta: people.anna! }],
    ['no signature', {}],
    ['the signatures of others', holders('anna', 'bertta', 'carl')],
    ['one signature and another’s', { anna: people.anna!, bertta: newHolder() }],
  ])('takes no step with %s', async (_, signers) => {
    expect(await outcome([...first.steps, signed(await nextRelease(), signers)])).toBe('signature');
  });

  it('takes no signatures for another purpose', async () => {
    const step = signed(await nextRelease(), people, { namespace: 'file' });
    expect(await outcome([...first.steps, step])).toBe('signature');
  });

  it('takes no step with the signatures of another', async () => {
    const step = signed(await nextRelease(), people);
    const bytes = changed(step.bytes, { version: '6.6.6' });
    expect(await outcome([...first.steps, { ...step, bytes }])).toBe('signature');
  });

  it.each([
    ['a number that is not the next one', { seq: 4 }],
    ['a lower number', { seq: 2 }],
    ['another step before it', { prev: 'another'.padEnd(43, 'A') }],
  ])('takes no step with %s', async (_, change) => {
    expect(await outcome([...first.steps, signed(changed(await nextRelease(), change), people)])).toBe(
      'chain',
    );
  });

  it('is not as before where it is shorter, or has another step in a place', async () => {
    const longer = [...first.steps, signed(await nextRelease(), people)];
    const { hash, seq } = await verifyChain(longer, first.root);
    expect(await outcome(longer, first.root, { hash, seq })).toBe(3);
    expect(await outcome(longer, first.root, first.chain)).toBe(3);
    expect(await outcome(first.steps, first.root, { hash, seq })).toBe('rollback');
    const other = [...first.steps, signed(changed(await nextRelease(), { version: '1.0.2' }), people)];
    expect(await outcome(other, first.root, { hash, seq })).toBe('rollback');
  });
});

describe('keys are replaced', () => {
  const heirs = { ...only('anna', 'bertta'), dora: newHolder() };
  const step = (lines = keyLines(heirs)) => stateKeys(lines, 2, first.chain);

  it('by a step that enough of the old ones and of the new ones sign', async () => {
    const steps = [...first.steps, signed(step(), only('anna', 'bertta'))];
    const chain = await verifyChain(steps, first.root);
    expect(Object.keys(chain.keys.keys)).toEqual(['anna', 'bertta', 'dora']);
    expect(chain.release?.version).toBe('1.0.0');
    const release = await stated(folder, chain, { version: '1.1.0' });
    expect(await outcome([...steps, signed(release, { ...only('anna'), dora: heirs.dora })])).toBe(4);
    expect(await outcome([...steps, signed(release, only('anna', 'carl'))])).toBe('signature');
  });

  it('by no step that the new ones alone sign, or too few of them', async () => {
    const others = holders('dora', 'eino', 'fanny');
    expect(await outcome([...first.steps, signed(step(keyLines(others)), others)])).toBe('signature');
    const both = signed(step(keyLines(others)), { ...people, dora: others.dora! });
    expect(await outcome([...first.steps, both])).toBe('signature');
    expect(await outcome([...first.steps, signed(step(keyLines(others)), { ...people, ...others })])).toBe(3);
  });

  it('under a name of their own', async () => {
    const lines = keyLines({ ...only('anna', 'bertta'), carl: newHolder() });
    expect(await outcome([...first.steps, signed(step(lines), only('anna', 'bertta'))])).toBe('chain');
  });

  it('by three or more, of which no one signs alone', () => {
    expect(() => stateKeys(keyLines(people), 1, null)).toThrow('one signature for enough');
    expect(() => stateKeys(keyLines(people), 4, null)).toThrow('fewer keys');
    expect(() => stateKeys(`a ${people.anna!.line}\nb ${people.anna!.line}`, 2, null)).toThrow(
      'one key under two',
    );
  });
});
