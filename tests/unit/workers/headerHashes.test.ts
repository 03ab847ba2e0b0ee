import type * as content from '@sinetti/crypto-core/content';
import { entryDigest, nextRunningHash } from '@sinetti/crypto-core/content';
import { expect, it, vi } from 'vitest';
import { ALICE_AND_BOB, createPair } from './support/device.ts';

vi.mock('@sinetti/crypto-core/content', async (original) => {
  const real = await original<typeof content>();
  return {
    ...real,
    entryDigest: vi.fn<typeof real.entryDigest>(real.entryDigest),
    nextRunningHash: vi.fn<typeof real.nextRunningHash>(real.nextRunningHash),
  };
});

it('a message costs whoever reads it two hashes, its digest and the running hash, and whoever sends it none before', async () => {
  const { alice, bob } = await createPair();
  await alice.send(ALICE_AND_BOB, 'Hello.');
  for (const device of [alice, bob]) await device.syncOne(ALICE_AND_BOB);
  const hashes = [vi.mocked(entryDigest), vi.mocked(nextRunningHash)];
  const counted = async (step: () => Promise<unknown>) => {
    for (const hash of hashes) hash.mockClear();
    await step();
    return hashes.map((hash) => hash.mock.calls.length);
  };
  expect(await counted(() => alice.send(ALICE_AND_BOB, 'Is it much?'))).toEqual([0, 0]);
  for (const device of [alice, bob])
    expect(await counted(() => device.syncOne(ALICE_AND_BOB))).toEqual([1, 1]);
});
