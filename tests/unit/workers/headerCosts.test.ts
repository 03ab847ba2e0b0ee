import { describe, expect, it } from 'vitest';
import { ALICE_AND_BOB, createPair, type TestDevice } from './support/device.ts';
import { measureWrites } from './support/storage.ts';

/** Alice and Bob, who have written to each other in this epoch. */
async function createTalk() {
  const { alice, bob } = await createPair();
  for (const device of [alice, bob, alice]) {
    await device.send(ALICE_AND_BOB, 'Hello.');
    for (const one of [alice, bob]) await one.syncOne(ALICE_AND_BOB);
  }
  return { alice, bob };
}

const read = (device: TestDevice) => measureWrites(() => device.syncOne(ALICE_AND_BOB));

describe('a message writes less than 250 bytes for its keys and the running hash, beside its text and the conversation record', () => {
  it('where it is received, a record of each', async () => {
    const { alice, bob } = await createTalk();
    await alice.send(ALICE_AND_BOB, 'Is it much?');
    const written = await read(bob);
    expect([...written.keys()].sort()).toEqual(['chain', 'heads', 'messages', 'ratchets']);
    const [chain = 0, ratchets = 0] = [written.get('chain'), written.get('ratchets')];
    expect(Math.min(chain, ratchets)).toBeGreaterThan(100);
    expect(chain + ratchets).toBeLessThan(250);
    // The text of eleven bytes with all that is shown beside it, and the conversation with two devices: as JSON, sealed.
    expect(written.get('messages')).toBeLessThan(500);
    expect(written.get('heads')).toBeLessThan(675);
  });

  it('where it is sent, the ratchet as it is encrypted and the hash as it comes by the log', async () => {
    const { alice } = await createTalk();
    const sent = await measureWrites(async () => {
      await alice.send(ALICE_AND_BOB, 'Is it much?');
    });
    const came = await read(alice);
    expect([sent.get('chain'), came.get('ratchets')]).toEqual([undefined, undefined]);
    expect((sent.get('ratchets') ?? 0) + (came.get('chain') ?? 0)).toBeLessThan(250);
  });

  it('and the conversation record is no larger after many of them', async () => {
    const { alice, bob } = await createTalk();
    const record = async () => {
      await alice.send(ALICE_AND_BOB, 'More.');
      await alice.syncOne(ALICE_AND_BOB);
      return (await read(bob)).get('heads') ?? 0;
    };
    const before = await record();
    for (let sent = 0; sent < 20; sent += 1) await record();
    // Positions have another digit by then.
    expect((await record()) - before).toBeLessThan(16);
  });
});
