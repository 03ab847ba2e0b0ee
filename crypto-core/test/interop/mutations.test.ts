/** Compares what we take of mutated Welcomes, KeyPackages, GroupInfos and application messages with what ts-mls does. */
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { restoreKeyPackageBundle } from '../../src/group/keyPackage.ts';
import { createCommit, decodeKeyPackage, decryptApplication, joinByWelcome } from '../../src/index.ts';
import { codeOf } from '../codeOf.ts';
import { generator, mutateBytes } from '../mutations.ts';
import { testEnv } from '../testEnv.ts';
import { addOf, hooks, Ours, ourGroup, Theirs, withDevices } from './devices.ts';

const SEED = 20_261_127;
const ROUNDS = 200;
const env = testEnv('mutated answers', Date.now());

withDevices();

type Answer = 'accepted' | 'refused';

async function answerOf(call: () => Promise<unknown>): Promise<Answer> {
  return call().then(
    () => 'accepted',
    () => 'refused',
  );
}

const ourAnswer = (call: () => unknown): Answer => (codeOf(call) === 'none' ? 'accepted' : 'refused');

/**
 * Lets both answer mutations of a message that both accept.
 * @returns how many were refused by both, and each that had another answer of either
 */
async function compare(
  honest: Uint8Array,
  we: (bytes: Uint8Array) => unknown,
  they: (bytes: Uint8Array) => Promise<unknown>,
): Promise<{ readonly refused: number; readonly others: string[] }> {
  const below = generator(SEED);
  const others: string[] = [];
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const mutated = mutateBytes(honest, below);
    if (toHex(mutated) === toHex(honest)) continue;
    const answers = [ourAnswer(() => we(mutated)), await answerOf(() => they(mutated))];
    if (answers.every((answer) => answer === 'refused')) refused += 1;
    else others.push(`${answers.join(' and ')}: ${toHex(mutated)}`);
  }
  // Comes last, because it may use up a key.
  expect([ourAnswer(() => we(honest)), await answerOf(() => they(honest))]).toEqual(['accepted', 'accepted']);
  return { refused, others };
}

describe(`of mutations (seed ${SEED}), both refuse each`, () => {
  it('Welcome, of one KeyPackage that both have', async () => {
    const { ours } = await ourGroup();
    const theirs = new Theirs('newcomer');
    const bytes = await theirs.keyPackage();
    const { init, leaf, signature } = theirs.privateKeys();
    const bundle = restoreKeyPackageBundle(decodeKeyPackage(bytes), init, leaf);
    const signatureKey = { publicKey: bundle.keyPackage.leafNode.signatureKey, privateKey: signature };
    const { welcome } = ours.commit({ adds: [bytes] });
    const found = await compare(
      welcome!,
      (mutated) => joinByWelcome(mutated, bundle, signatureKey, hooks),
      (mutated) => theirs.join(mutated),
    );
    expect(found.others).toEqual([]);
    expect(found.refused).toBeGreaterThan(ROUNDS / 2);
  });

  it('KeyPackage that is to be added', async () => {
    const { ours, theirs } = await ourGroup();
    const { bytes } = new Ours('newcomer').keyPackage();
    const before = theirs.state;
    const found = await compare(
      bytes,
      (mutated) => createCommit(ours.group!, { ...hooks, adds: [mutated] }, env),
      async (mutated) => {
        theirs.state = before;
        await theirs.commit([addOf(mutated)]);
      },
    );
    expect(found.others).toEqual([]);
    expect(found.refused).toBeGreaterThan(ROUNDS / 2);
  });

  it('GroupInfo by which somebody joins from outside', async () => {
    const { ours } = await ourGroup();
    const { groupInfo } = ours.commit({});
    const found = await compare(
      groupInfo,
      (mutated) => new Ours('outsider').joinExternally(mutated),
      (mutated) => new Theirs('outsider').joinExternally(mutated),
    );
    expect(found.others).toEqual([]);
    expect(found.refused).toBeGreaterThan(ROUNDS / 2);
  });

  it('application message, and read the honest one afterwards', async () => {
    const { ours, theirs } = await ourGroup();
    const third = new Ours('third');
    const bundle = third.keyPackage();
    const created = ours.commit({ adds: [bundle.bytes] });
    await theirs.process(created.commit);
    third.join(created.welcome!, bundle);
    const message = ours.say('text');
    const before = theirs.state;
    const later = ours.say('later');
    const found = await compare(
      later,
      (mutated) => decryptApplication(third.group!, mutated),
      async (mutated) => {
        theirs.state = before;
        await theirs.hear(mutated);
      },
    );
    expect(found.others).toEqual([]);
    expect(found.refused).toBeGreaterThan(ROUNDS / 2);
    theirs.state = before;
    expect([third.hear(message), await theirs.hear(message)]).toEqual(['text', 'text']);
  });
});
