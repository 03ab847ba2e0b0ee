import { expect, it } from 'vitest';
import { ALICE, ALICE_AND_BOB, createPair, type TestDevice, textOf } from './support/device.ts';

const lastSeq = async (device: TestDevice) => (await device.api.conversation(ALICE_AND_BOB)).lastSeq;

/** Alice's laptop, which has refused a commit that the relay has damaged; what follows is unread there. */
async function outOfStep() {
  const { alice, bob, relay, world } = await createPair();
  const laptop = await world.device(ALICE);
  for (const device of [laptop, alice, bob]) await device.sync();
  const from = await lastSeq(laptop);
  const tablet = await world.device(ALICE);
  for (const device of [tablet, alice, bob]) await device.sync();
  for (const text of ['one', 'two']) {
    await bob.send(ALICE_AND_BOB, text);
    await bob.sync();
  }
  await alice.sync();
  const given = relay.entries(ALICE_AND_BOB, from);
  const at = given.findIndex(({ kind }) => kind === 'commit');
  const damaged = given.map((entry, i) => (i === at ? { ...entry, content: 'AAAA' } : entry));
  await laptop.api.processEntries(ALICE_AND_BOB, damaged.slice(0, at + 1));
  expect((await laptop.api.conversation(ALICE_AND_BOB)).status).toBe('forked');
  return { alice, laptop, rest: damaged.slice(at + 1) };
}

it('what the message backup has brought a device that is out of step stays readable as the log comes to it', async () => {
  const { alice, laptop, rest } = await outOfStep();
  const { copies } = (await alice.api.nextBackupEntries(ALICE_AND_BOB)) ?? { copies: [] };
  await laptop.api.readBackup(copies.map((copy, at) => ({ ...copy, position: at + 1 })));
  await laptop.api.processEntries(ALICE_AND_BOB, rest);
  expect((await laptop.history(ALICE_AND_BOB)).map(textOf)).toEqual(['one', 'two']);
  expect(await lastSeq(laptop)).toBe(rest.at(-1)?.seq);
});

it('a device that is out of step shows an entry in the place of what the message backup has brought under another id', async () => {
  const { alice, laptop, rest } = await outOfStep();
  const { copies } = (await alice.api.nextBackupEntries(ALICE_AND_BOB)) ?? { copies: [] };
  await laptop.api.readBackup(copies.map((copy, at) => ({ ...copy, position: at + 1 })));
  const other = rest.map((entry) => ({ ...entry, id: alice.relay.uuid() }));
  await laptop.api.processEntries(ALICE_AND_BOB, other);
  expect((await laptop.history(ALICE_AND_BOB)).map(textOf)).not.toContain('one');
});
