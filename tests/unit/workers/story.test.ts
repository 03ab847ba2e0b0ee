import { describe, expect, it } from 'vitest';
import { ALICE, ALICE_AND_BOB, BOB, createPair, createWorld, textOf } from './support/device.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('two people', () => {
  it('start, join by Welcome, and talk both ways', async () => {
    const { alice, bob } = await createPair();
    await alice.send(ALICE_AND_BOB, 'hello');
    expect((await bob.sync()).map(textOf)).toEqual(['hello']);
    await bob.send(ALICE_AND_BOB, 'hi');
    await alice.sync();
    await bob.sync();
    for (const device of [alice, bob]) {
      expect((await device.history(ALICE_AND_BOB)).map(textOf)).toEqual(['hello', 'hi']);
      expect(await device.api.outbox()).toEqual([]);
    }
    const [hello, hi] = await alice.history(ALICE_AND_BOB);
    expect([hello?.status, hi?.status]).toEqual(['sent', 'received']);
    expect([hello?.senderId, hi?.senderId]).toEqual([ALICE, BOB]);
  });
});
