import { describe, expect, it } from 'vitest';
import type { LogEntryInput } from '#workers/api/cryptoApi.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createTrio,
  GROUP,
  type TestDevice,
} from './support/device.ts';
import { receiptOf, take } from './support/receipts.ts';

/** Returns a device's evidence for the message with a text. */
async function evidenceOf(device: TestDevice, text: string) {
  const messages = await device.history(ALICE_AND_BOB);
  const message = messages.find(({ content }) => content.kind === 'text' && content.text === text);
  return device.api.messageEvidence(ALICE_AND_BOB, message?.seq ?? 0);
}

async function createTalk() {
  const { alice, bob, relay, world } = await createPair();
  const say = async (from: TestDevice, text: string) => {
    await from.send(ALICE_AND_BOB, text);
    await alice.sync();
    await bob.sync();
  };
  await say(alice, 'First.');
  return { alice, bob, relay, say, world };
}

describe('the evidence of a message', () => {
  it('names its device, its position and the keys it was sealed under', async () => {
    const { alice, bob } = await createTalk();
    const common = { senderId: ALICE, senderDeviceId: alice.deviceId, epoch: 1, suite: 0xf04d };
    expect(await evidenceOf(bob, 'First.')).toMatchObject({ ...common, isThisDevice: false });
    expect(await evidenceOf(alice, 'First.')).toMatchObject({ ...common, isThisDevice: true });
  });

  it('is agreed on once somebody has written who had read it', async () => {
    const { alice, bob, say } = await createTalk();
    expect((await evidenceOf(bob, 'First.')).log).toEqual({ kind: 'open' });
    await say(bob, 'Second.');
    expect((await evidenceOf(alice, 'First.')).log).toMatchObject({ kind: 'agreed' });
    expect((await evidenceOf(alice, 'Second.')).log).toEqual({ kind: 'open' });
    // Alice's next message says that she had read Bob's.
    await say(alice, 'Third.');
    expect((await evidenceOf(bob, 'Second.')).log).toMatchObject({ kind: 'agreed' });
  });

  it('counts of a group those who have confirmed it themselves, each once, and not oneself', async () => {
    const { alice, bob, carol } = await createTrio();
    const everybody = [alice, bob, carol];
    await bob.sync();
    await carol.sync();
    // How far one had read before is no word on what comes after.
    await take(alice, await receiptOf(carol, GROUP), GROUP);
    await alice.send(GROUP, 'First.');
    for (const device of everybody) await device.sync();
    const { lastSeq } = await alice.api.conversation(GROUP);
    const logAt = async () => (await alice.api.messageEvidence(GROUP, lastSeq)).log;
    expect(await logAt()).toEqual({ kind: 'open' });
    await bob.send(GROUP, 'Second.');
    for (const device of everybody) await device.sync();
    // The header of a message is the word of one browser.
    expect(await logAt()).toEqual({ kind: 'agreed', confirmed: 0, others: 2 });
    await take(alice, await receiptOf(carol, GROUP), GROUP);
    expect(await logAt()).toEqual({ kind: 'agreed', confirmed: 1, others: 2 });
    await take(alice, await receiptOf(bob, GROUP), GROUP);
    expect(await logAt()).toEqual({ kind: 'agreed', confirmed: 2, others: 2 });
  });

  it('tells by receipts only of those who show theirs, and to whoever shows their own', async () => {
    const { alice, bob, say } = await createTalk();
    const log = async () => (await evidenceOf(alice, 'First.')).log;
    const hidden = await receiptOf(bob, ALICE_AND_BOB, false);
    expect(hidden).not.toBeNull();
    await take(alice, hidden);
    expect(await log()).toEqual({ kind: 'open' });
    await say(alice, 'Second.');
    const shown = await receiptOf(bob, ALICE_AND_BOB, true);
    await take(alice, shown, ALICE_AND_BOB, false);
    expect(await log()).toEqual({ kind: 'open' });
    await take(alice, shown);
    expect(await log()).toEqual({ kind: 'agreed', confirmed: 1, others: 1 });
  });

  it('says what was found of all that nobody has confirmed since', async () => {
    const { alice, bob, relay, say } = await createTalk();
    await say(bob, 'Second.');
    await say(alice, 'Third.');
    const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    for (const text of ['Fourth.', 'Hidden.', 'Sixth.']) {
      await alice.send(ALICE_AND_BOB, text);
      await alice.sync();
    }
    const [fourth, , sixth] = relay.entries(ALICE_AND_BOB, lastSeq);
    const given: LogEntryInput[] = [fourth!, { ...sixth!, seq: sixth!.seq - 1 }];
    await bob.api.processEntries(ALICE_AND_BOB, given);
    const finding = { kind: 'finding', event: { senderId: ALICE, change: { kind: 'missing', count: 1 } } };
    for (const text of ['Fourth.', 'Sixth.']) {
      expect((await evidenceOf(bob, text)).log).toMatchObject(finding);
    }
    expect((await evidenceOf(bob, 'Second.')).log).toMatchObject({ kind: 'agreed' });
  });

  it('is not known of what is older than this device', async () => {
    const { alice, bob, world } = await createTalk();
    const second = await world.device(BOB);
    await second.sync();
    await bob.sync();
    const copied = await bob.api.nextBackupEntries(ALICE_AND_BOB);
    await second.api.readBackup(copied!.copies.map((copy, i) => ({ ...copy, position: i + 1 })));
    expect((await evidenceOf(second, 'First.')).log).toEqual({ kind: 'unknown' });
    await alice.sync();
    expect((await evidenceOf(alice, 'First.')).log).toEqual({ kind: 'open' });
  });

  it('is none where this device has no message', async () => {
    const { alice } = await createTalk();
    await expect(alice.api.messageEvidence(ALICE_AND_BOB, 99)).rejects.toMatchObject({
      code: 'unknown-message',
    });
    await expect(alice.api.messageEvidence('direct:x', 1)).rejects.toMatchObject({ code: 'usage' });
  });
});
