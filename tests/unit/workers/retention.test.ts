import { describe, expect, it } from 'vitest';
import { copyDatabases } from '#tests/support/copyDatabases.ts';
import { Browser, type Clock } from './support/browser.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createTrio,
  DAVE,
  DAY,
  GROUP,
  type TestDevice,
  textOf,
} from './support/device.ts';
import { OWN, threeDevices } from './support/ownDevices.ts';
import { readAndReceipt, take } from './support/receipts.ts';
import { expire } from './support/retention.ts';

const changes = async (device: TestDevice, id = ALICE_AND_BOB) =>
  (await device.api.events(id)).map(({ change, seq }) => ({ seq, ...change }));
const kinds = async (device: TestDevice, id = ALICE_AND_BOB) =>
  (await changes(device, id)).map(({ kind }) => kind);
const lastSeq = async (device: TestDevice, id = ALICE_AND_BOB) => (await device.api.conversation(id)).lastSeq;

/** Writes messages, each of which the writer reads in the log. */
async function say(device: TestDevice, count: number, id = ALICE_AND_BOB): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await device.send(id, `m${round}`);
    await device.syncOne(id);
  }
}

describe('a device that was away for longer than the relay keeps messages', () => {
  it('says how many it has missed, and reads on in the same epoch', async () => {
    const { alice, bob, relay } = await createPair();
    await say(alice, 1);
    await bob.sync();
    const from = await lastSeq(bob);
    await say(alice, 3);
    expire(relay, ALICE_AND_BOB);
    await say(alice, 1);
    expect((await bob.sync()).map(textOf)).toEqual(['m0']);
    expect(await changes(bob)).toEqual([{ seq: from + 1, kind: 'expired', count: 3, upTo: from + 3 }]);
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toEqual(['m0', 'm0']);
    await bob.send(ALICE_AND_BOB, 'Back again.');
    await alice.sync();
    await say(alice, 1);
    await bob.sync();
    for (const device of [alice, bob])
      expect((await kinds(device)).filter((kind) => kind !== 'expired')).toEqual([]);
  });

  it('says it in one line, however many parts the log comes in', async () => {
    const { alice, bob, relay } = await createPair();
    await bob.sync();
    const from = await lastSeq(bob);
    await say(alice, 5);
    expire(relay, ALICE_AND_BOB);
    for (const entry of relay.entries(ALICE_AND_BOB, from))
      await bob.api.processEntries(ALICE_AND_BOB, [entry]);
    expect(await changes(bob)).toEqual([{ seq: from + 1, kind: 'expired', count: 5, upTo: from + 5 }]);
  });

  it('comes back into a group whose commits are gone, without an alarm, there and at the others', async () => {
    const { alice, bob, carol, relay, world } = await createTrio();
    await say(alice, 1, GROUP);
    for (const device of [bob, carol]) await device.sync();
    // A commit that Carol will never see, and messages behind it that are still there.
    await say(alice, 2, GROUP);
    const laptop = await world.device(BOB);
    await laptop.sync();
    await bob.sync();
    await alice.sync();
    expire(relay, GROUP);
    await say(alice, 2, GROUP);
    await carol.sync();
    expect((await carol.api.conversation(GROUP)).status).toBe('joined');
    const [missed, ...more] = (await changes(carol, GROUP)).filter(({ kind }) => kind === 'expired');
    expect(more).toEqual([]);
    expect(missed).toMatchObject({ count: 4 });
    await carol.send(GROUP, 'Here I am.');
    for (const device of [alice, bob, laptop, carol]) await device.sync();
    await say(alice, 1, GROUP);
    expect((await carol.syncOne(GROUP)).map(textOf)).toEqual(['m0']);
    await say(carol, 1, GROUP);
    for (const device of [alice, bob, laptop]) {
      await device.sync();
      expect((await device.history(GROUP)).map(textOf)).toContain('Here I am.');
    }
    for (const device of [alice, bob, laptop, carol]) {
      const found = (await kinds(device, GROUP)).filter((kind) =>
        ['refused', 'missing', 'diverged'].includes(kind),
      );
      expect(found).toEqual([]);
    }
  });

  it('finds a digest that the relay has made up, as with every other entry', async () => {
    const { alice, bob, relay } = await createPair();
    await bob.sync();
    await say(alice, 2);
    expire(relay, ALICE_AND_BOB);
    const log = relay.log(ALICE_AND_BOB).entries;
    const genuine = log.at(-1);
    log[log.length - 1] = { ...genuine!, digest: 'A'.repeat(43) };
    await bob.sync();
    log[log.length - 1] = genuine!;
    await say(alice, 1);
    await bob.sync();
    expect(await kinds(bob)).toEqual(['expired', 'diverged']);
  });

  it('takes its own message for sent by the digest alone', async () => {
    const { alice, relay } = await createPair();
    const messageId = await alice.queue(ALICE_AND_BOB, 'Did it arrive?');
    const prepared = await alice.api.prepareMessage(messageId);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    // Neither the answer nor the entry reaches her in time.
    relay.send(alice, prepared);
    expire(relay, ALICE_AND_BOB);
    expect((await alice.sync()).map(textOf)).toEqual(['Did it arrive?']);
    expect(await alice.api.outbox()).toEqual([]);
    expect(await changes(alice)).toEqual([]);
  });

  it('takes its own commit for its own by the digest alone', async () => {
    const { alice, bob, relay, world } = await createPair();
    const dave = await world.device(DAVE);
    await alice.createGroup(GROUP, 'Skerry', [BOB]);
    await bob.sync();
    const keyPackages = relay.claim([DAVE], '');
    const submission = await alice.api.addMembers({ conversationId: GROUP, keyPackages });
    relay.submit(alice, submission);
    expire(relay, GROUP);
    await alice.syncOne(GROUP);
    expect(await alice.api.conversation(GROUP)).toMatchObject({
      status: 'joined',
      epoch: submission.epoch + 1,
    });
    expect(await kinds(alice, GROUP)).not.toContain('rejoined');
    await say(alice, 1, GROUP);
    expect((await dave.sync()).map(textOf)).toEqual(['m0']);
  });

  it('takes another message under the id of its own for none of its own', async () => {
    const { alice, relay } = await createPair();
    const messageId = await alice.queue(ALICE_AND_BOB, 'Did it arrive?');
    const prepared = await alice.api.prepareMessage(messageId);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    relay.send(alice, prepared);
    expire(relay, ALICE_AND_BOB);
    const log = relay.log(ALICE_AND_BOB).entries;
    log[log.length - 1] = { ...log.at(-1)!, digest: 'A'.repeat(43) };
    expect((await alice.sync()).map(textOf)).toEqual(['(damaged)']);
  });

  it('keeps what the message backup has brought it, and counts none of that', async () => {
    const { alice, bob, relay, world } = await createPair();
    const laptop = await world.device(ALICE);
    await laptop.sync();
    await alice.sync();
    await bob.sync();
    const from = await lastSeq(laptop);
    await say(bob, 3);
    await alice.sync();
    expire(relay, ALICE_AND_BOB);
    await laptop.sync();
    const missed = (await changes(laptop)).filter(({ kind }) => kind === 'expired');
    expect(missed).toMatchObject([{ count: 3 }]);
    const due = await alice.api.nextBackupEntries(ALICE_AND_BOB);
    const copies = (due?.copies ?? []).map((copy, at) => ({ ...copy, position: at + 1 }));
    await laptop.readState();
    const { messages } = await laptop.api.readBackup(copies);
    expect(messages.map(textOf)).toEqual(['m0', 'm1', 'm2']);
    // The same entries once more change nothing.
    const again = await laptop.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB, from));
    expect(again.messages.map(textOf)).toEqual(['m0', 'm1', 'm2']);
    expect(again.events).toEqual([]);
    expect((await laptop.history(ALICE_AND_BOB)).every(({ senderId }) => senderId !== ALICE)).toBe(true);
  });

  it('counts none that the message backup has brought it before the log came to them', async () => {
    const { alice, bob, relay, world } = await createPair();
    const laptop = await world.device(ALICE);
    await laptop.sync();
    const from = await lastSeq(laptop);
    await alice.sync();
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'm0');
    await say(bob, 2);
    await alice.sync();
    expire(relay, ALICE_AND_BOB);
    const given = relay.entries(ALICE_AND_BOB, from);
    const commit = given.findIndex(({ kind }) => kind === 'commit');
    await laptop.api.processEntries(ALICE_AND_BOB, given.slice(0, commit + 1));
    const { copies } = (await alice.api.nextBackupEntries(ALICE_AND_BOB)) ?? { copies: [] };
    await laptop.api.readBackup(copies.map((copy, at) => ({ ...copy, position: at + 1 })));
    const { events } = await laptop.api.processEntries(ALICE_AND_BOB, given.slice(commit + 1));
    expect(events).toEqual([]);
    expect((await laptop.history(ALICE_AND_BOB)).map(textOf)).toEqual(['m0', 'm0', 'm1']);
  });

  it('has from the message backup also what that had brought before the log was read', async () => {
    const { alice, bob, relay, world } = await createPair();
    const laptop = await world.device(ALICE);
    await laptop.sync();
    for (const device of [alice, bob, laptop]) await device.sync();
    await say(bob, 3);
    await alice.sync();
    const { copies } = (await alice.api.nextBackupEntries(ALICE_AND_BOB)) ?? { copies: [] };
    const stored = copies.map((copy, at) => ({ ...copy, position: at + 1 }));
    /** Reads the copies behind a position, as the page does. */
    const readOn = async (after: number, count = stored.length) =>
      (await laptop.api.readBackup(stored.slice(after, after + count), false, after)).messages.map(textOf);
    expire(relay, ALICE_AND_BOB);
    // The log isn't read yet, and is to bring them.
    expect(await readOn(0, 2)).toEqual([]);
    await laptop.sync();
    // The page still goes on from where it was.
    expect(await readOn(2)).toEqual(['m2']);
    const { position } = await laptop.api.backupState();
    expect(await readOn(position)).toEqual(['m0', 'm1']);
    expect((await laptop.api.backupState()).position).toBe(3);
    expect((await laptop.history(ALICE_AND_BOB)).map(textOf)).toEqual(['m0', 'm1', 'm2']);
  });

  it('shows none of them when the relay gives their places again', async () => {
    const { alice, bob, relay } = await createPair();
    await bob.sync();
    const from = await lastSeq(bob);
    await say(alice, 2);
    expire(relay, ALICE_AND_BOB);
    await bob.sync();
    const again = await bob.api.processEntries(ALICE_AND_BOB, relay.entries(ALICE_AND_BOB, from));
    expect(again).toMatchObject({ messages: [], events: [] });
  });
});

describe('a browser that was away while the relay deleted what its person’s others told each other', () => {
  it('counts none of it as missed notes, reads on, and has the notes from the message backup', async () => {
    const { laptop, phone, relay } = await threeDevices();
    await phone.sync();
    for (const seq of [1, 2, 3]) {
      await laptop.api.tellOwnDevices({ reads: [{ conversationId: ALICE_AND_BOB, seq }], drafts: [] });
      for (const { messageId } of await laptop.api.outbox(OWN)) await laptop.flush(messageId);
      await laptop.sync();
    }
    await say(laptop, 1, OWN);
    expire(relay, OWN);
    await laptop.send(OWN, 'milk');
    await laptop.sync();
    await phone.sync();
    expect(await changes(phone, OWN)).toMatchObject([{ kind: 'expired', count: 0 }]);
    const due = await laptop.api.nextBackupEntries(OWN);
    await phone.api.readBackup((due?.copies ?? []).map((copy, at) => ({ ...copy, position: at + 1 })));
    expect((await phone.history(OWN)).map(textOf)).toEqual(['m0', 'milk']);
  });
});

describe('a note that the relay has emptied, without saying that it was kept long enough', () => {
  it('is missed on the person’s other browsers, where it stood', async () => {
    const { laptop, phone, relay } = await threeDevices();
    await phone.sync();
    await say(laptop, 2, OWN);
    expire(relay, OWN);
    const log = relay.log(OWN).entries;
    for (const [at, { expired: _expired, ...entry }] of log.entries()) log[at] = entry;
    await laptop.send(OWN, 'milk');
    expect((await phone.syncOne(OWN)).map(textOf)).toEqual(['(deleted)', '(deleted)', 'milk']);
    expect((await phone.history(OWN)).map(textOf)).toEqual(['(deleted)', '(deleted)', 'milk']);
  });
});

describe('what the relay calls deleted before its time', () => {
  it('is told to its sender as received, while its receiver is told how much it was', async () => {
    const { alice, bob, relay } = await createPair();
    await say(alice, 1);
    expire(relay, ALICE_AND_BOB);
    await bob.sync();
    expect(await changes(bob)).toMatchObject([{ kind: 'expired', count: 1 }]);
    const { receipts } = await take(alice, await readAndReceipt(bob));
    const [at] = (await alice.history(ALICE_AND_BOB)).map(({ seq }) => seq);
    expect(receipts).toEqual([{ userId: BOB, deliveredSeq: at, readSeq: at }]);
  });
});

describe('a storage that was restored from a backup', () => {
  /** Returns the device as it is now, in a browser of its own. */
  async function backupOf(device: TestDevice, clock: Clock): Promise<TestDevice> {
    const browser = new Browser('backup', clock);
    await copyDatabases(device.browser.indexedDB, browser.indexedDB);
    const api = browser.tab();
    if (!(await api.resume(device.userId))) throw new Error('the session is gone');
    return Object.assign(Object.create(device) as TestDevice, { browser, api });
  }

  /** Alice's device, with a backup of it, whose conversation with Bob has a message that both have read. */
  async function backedUp() {
    const { alice, bob, relay, world } = await createPair();
    await say(alice, 1);
    await bob.sync();
    return { alice, bob, relay, world, backup: await backupOf(alice, world.clock) };
  }

  async function read({ api, relay }: TestDevice) {
    return api.processEntries(
      ALICE_AND_BOB,
      relay.entries(ALICE_AND_BOB, (await api.conversation(ALICE_AND_BOB)).lastSeq),
    );
  }

  it('is found by messages that it has sent and that the relay has deleted since, and encrypts nothing', async () => {
    const { alice, backup, relay } = await backedUp();
    await say(alice, 2);
    expire(relay, ALICE_AND_BOB);
    expect(await read(backup)).toMatchObject({ isCopied: true });
    const messageId = await backup.queue(ALICE_AND_BOB, 'Under a key that was used');
    await expect(backup.api.prepareMessage(messageId)).rejects.toMatchObject({ code: 'device-copied' });
  });

  it('is found by a commit that it has made and that the relay has deleted since', async () => {
    const { alice, backup, relay, world } = await backedUp();
    world.clock.advance(2 * DAY);
    await say(alice, 1);
    const [commit, message] = relay.entries(ALICE_AND_BOB, await lastSeq(backup));
    expect([commit?.kind, message?.kind]).toEqual(['commit', 'application']);
    expire(relay, ALICE_AND_BOB, commit?.seq);
    relay.log(ALICE_AND_BOB).entries.length = commit?.seq ?? 0;
    expect(await read(backup)).toMatchObject({ isCopied: true });
  });

  it('is found although the message backup has brought it the message that it has sent', async () => {
    const { alice, backup, bob, relay, world } = await backedUp();
    // A commit that the backup can't follow, behind which the copy is read before the log.
    const laptop = await world.device(BOB);
    await laptop.sync();
    await alice.sync();
    const commit = await lastSeq(alice);
    await say(alice, 1);
    await bob.sync();
    expire(relay, ALICE_AND_BOB);
    const entries = relay.entries(ALICE_AND_BOB, await lastSeq(backup));
    await backup.api.processEntries(
      ALICE_AND_BOB,
      entries.filter(({ seq }) => seq <= commit),
    );
    const due = await alice.api.nextBackupEntries(ALICE_AND_BOB);
    await backup.api.readBackup((due?.copies ?? []).map((copy, at) => ({ ...copy, position: at + 1 })));
    expect(await read(backup)).toMatchObject({ isCopied: true });
  });

  it('is not seen in a browser that was only away, and whose own messages are deleted', async () => {
    const { alice, bob, relay } = await backedUp();
    const messageId = await alice.queue(ALICE_AND_BOB, 'Did it arrive?');
    const prepared = await alice.api.prepareMessage(messageId);
    if (prepared.kind !== 'message') throw new Error(prepared.kind);
    relay.send(alice, prepared);
    await bob.send(ALICE_AND_BOB, 'It did.');
    expire(relay, ALICE_AND_BOB);
    expect(await read(alice)).not.toHaveProperty('isCopied');
  });
});
