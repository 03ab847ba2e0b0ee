import { describe, expect, it } from 'vitest';
import { messageTime } from '#src/store/messageTime.ts';
import type { MessageView } from '#workers/api/cryptoApi.ts';
import { ALICE_AND_BOB, createPair, type TestDevice } from './support/device.ts';

const MINUTE = 60_000;

/** Alice and Bob, and what each shows of a message that Alice sends when her clock differs from the relay's by so much. */
async function createClocks() {
  const { alice, bob, relay, world } = await createPair();
  const say = async (device: TestDevice, text: string, difference: number) => {
    world.clock.advance(MINUTE);
    const sentAt = new Date(world.clock.now() + difference).toISOString();
    await device.send(ALICE_AND_BOB, text, sentAt);
    const shown: MessageView[] = [];
    for (const reader of [alice, bob]) shown.push((await reader.sync()).at(-1)!);
    const timestamp = new Date(world.clock.now()).toISOString();
    expect(shown.map((view) => view.timestamp)).toEqual([timestamp, timestamp]);
    const [one, other] = shown.map(messageTime);
    expect(one).toEqual(other);
    return { ...one!, sentAt, timestamp };
  };
  return { alice, bob, relay, say };
}

describe('the time of a message', () => {
  it('is the sender’s, where its clock is about right', async () => {
    const { alice, say } = await createClocks();
    for (const difference of [0, -MINUTE, 5 * MINUTE]) {
      const { byClock, sentAt, shown } = await say(alice, 'Hello.', difference);
      expect([shown, byClock]).toEqual([sentAt, null]);
    }
  });

  it('is the relay’s beside the sender’s, where the two are far apart', async () => {
    const { alice, say } = await createClocks();
    for (const difference of [5 * MINUTE + 1, -150 * MINUTE, 10_000 * MINUTE]) {
      const { byClock, sentAt, shown, timestamp } = await say(alice, 'Hello.', difference);
      expect([shown, byClock]).toEqual([timestamp, sentAt]);
    }
  });

  it('is the relay’s, where the same device has said a later one before', async () => {
    const { alice, bob, say } = await createClocks();
    expect(await say(alice, '1', 2 * MINUTE)).toMatchObject({ byClock: null });
    expect(await say(bob, '2', -MINUTE)).toMatchObject({ byClock: null });
    const before = await say(alice, '3', -MINUTE);
    expect(before).toMatchObject({ shown: before.timestamp, byClock: before.sentAt });
    expect(await say(alice, '4', 0)).toMatchObject({ byClock: null });
  });

  it('is the same after the message was restored from the backup', async () => {
    const { alice, say } = await createClocks();
    await say(alice, 'Hello.', 30 * MINUTE);
    const [view] = await alice.history(ALICE_AND_BOB);
    expect(view).toMatchObject({ clock: { isBelieved: false } });
    const copied = await alice.api.nextBackupEntries(ALICE_AND_BOB);
    await alice.api.forgetConversation(ALICE_AND_BOB);
    const copies = copied!.copies.map((copy, i) => ({ ...copy, position: i + 1 }));
    const { messages } = await alice.api.readBackup(copies);
    expect(messages.map(messageTime)).toEqual([messageTime(view!)]);
  });

  it('is the relay’s alone for a message without a header', () => {
    const timestamp = '2026-03-01T10:00:00.000Z';
    expect(messageTime({ timestamp })).toEqual({ shown: timestamp, byClock: null });
  });
});
