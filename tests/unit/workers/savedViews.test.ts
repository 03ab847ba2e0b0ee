import { describe, expect, it } from 'vitest';
import { limits } from '#workers/codec/limits.ts';
import { type SavedView, viewBytes } from '#workers/messaging/viewFile.ts';
import { change } from './support/changes.ts';
import {
  ALICE,
  ALICE_AND_BOB,
  BOB,
  createPair,
  createTrio,
  GROUP,
  type TestDevice,
} from './support/device.ts';

/** Alice and Bob, who have written to each other; then Alice writes three more, of which Bob isn't given the second. */
async function createForged() {
  const { alice, bob, relay, world } = await createPair();
  for (const device of [alice, bob]) {
    await device.send(ALICE_AND_BOB, `From ${device === alice ? 'Alice' : 'Bob'}.`);
    for (const one of [alice, bob]) await one.sync();
  }
  const { lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
  for (const text of ['The bill is below.', 'DO NOT pay it, it is forged.', 'Thank you.']) {
    await alice.send(ALICE_AND_BOB, text);
    await alice.sync();
  }
  const unread = relay.entries(ALICE_AND_BOB, lastSeq);
  const given = unread.filter((_, i) => i !== 1).map((entry, i) => ({ ...entry, seq: lastSeq + 1 + i }));
  await bob.api.processEntries(ALICE_AND_BOB, given);
  return { alice, bob, relay, world, lastSeq };
}

const views = async (device: TestDevice, withTexts = false) => device.api.saveView(ALICE_AND_BOB, withTexts);

describe('two files of one conversation', () => {
  it('show where the views part, and who sent what is there', async () => {
    const { alice, bob, lastSeq } = await createForged();
    const { author, result } = await bob.api.compareView(ALICE_AND_BOB, await views(alice, true));
    expect(author).toMatchObject({ userId: ALICE, deviceId: alice.deviceId });
    expect(result).toMatchObject({
      kind: 'parts',
      position: lastSeq + 2,
      here: { userId: ALICE, text: 'Thank you.' },
      there: { userId: ALICE, deviceId: alice.deviceId, text: 'DO NOT pay it, it is forged.' },
    });
    const other = await alice.api.compareView(ALICE_AND_BOB, await views(bob, true));
    expect(other.result).toMatchObject({ position: lastSeq + 2, there: { text: 'Thank you.' } });
  });

  it('have no text unless the person wants them', async () => {
    const { alice, bob, lastSeq } = await createForged();
    const file = await views(alice);
    expect(file).not.toContain('forged');
    const { result } = await bob.api.compareView(ALICE_AND_BOB, file);
    expect(result).toMatchObject({
      kind: 'parts',
      position: lastSeq + 2,
      there: { userId: ALICE, text: null },
    });
    expect(await views(alice, true)).toContain('forged');
  });

  it('name what each entry is, also where they have no texts, and files from before that are read', async () => {
    const { alice, bob } = await createPair();
    const id = await alice.send(ALICE_AND_BOB, 'Sauna at six.');
    await bob.sync();
    await change(bob, ALICE_AND_BOB, { kind: 'reaction', of: id, emoji: '👍', isTaken: false });
    await alice.sync();
    await change(alice, ALICE_AND_BOB, { kind: 'edit', of: id, text: 'Sauna at seven.' });
    for (const device of [alice, bob]) await device.sync();
    const said = async (withTexts: boolean) =>
      (JSON.parse(await views(alice, withTexts)) as { view: SavedView }).view.entries.flatMap(
        ({ kind, message_id, text }) => (message_id === null ? [] : [[kind, text]]),
      );
    expect(await said(true)).toEqual([
      ['text', 'Sauna at six.'],
      ['reaction', '👍'],
      ['edit', 'Sauna at seven.'],
    ]);
    expect(await said(false)).toEqual([
      ['text', null],
      ['reaction', null],
      ['edit', null],
    ]);
    await change(alice, ALICE_AND_BOB, { kind: 'deletion', of: id });
    for (const device of [alice, bob]) await device.sync();
    expect((await said(true)).at(-1)).toEqual(['deletion', null]);
    expect((await bob.api.compareView(ALICE_AND_BOB, await views(alice))).result.kind).toBe('same');
    const { view } = JSON.parse(await views(alice)) as { view: SavedView };
    const before = { ...view, entries: view.entries.map(({ kind: _kind, ...entry }) => entry) };
    // It isn't signed where it isn't said.
    expect(viewBytes(before as SavedView)).toEqual(new TextEncoder().encode(JSON.stringify(before)));
  });

  it('name what was found', async () => {
    const { bob, lastSeq } = await createForged();
    const { view } = JSON.parse(await views(bob));
    expect(view.findings).toEqual([
      { position: lastSeq + 2, kind: 'missing', count: 1, user_id: ALICE, device_id: expect.any(String) },
    ]);
  });

  it('are the same where the relay has told the truth, over epochs too', async () => {
    const { alice, bob } = await createPair();
    for (let round = 0; round < 60; round++) {
      for (const device of [alice, bob]) {
        await device.send(ALICE_AND_BOB, `${round}`);
        for (const one of [alice, bob]) await one.sync();
      }
    }
    const { epoch, lastSeq } = await bob.api.conversation(ALICE_AND_BOB);
    expect(epoch).toBeGreaterThan(2);
    const { result } = await bob.api.compareView(ALICE_AND_BOB, await views(alice));
    expect(result).toEqual({ kind: 'same', from: 2, upTo: lastSeq });
  });

  it('say that they have parted before, where the rest is the same', async () => {
    const { alice, bob, relay } = await createPair();
    await alice.send(ALICE_AND_BOB, 'Hidden.');
    await alice.sync();
    const [hidden] = relay.entries(ALICE_AND_BOB).slice(-1);
    await bob.api.processEntries(ALICE_AND_BOB, [{ ...hidden!, id: relay.uuid() }]);
    for (const text of ['1', '2']) await alice.send(ALICE_AND_BOB, text);
    for (const one of [alice, bob]) await one.sync();
    const { viewEntries } = limits;
    Object.assign(limits, { viewEntries: 2 });
    const file = await views(alice).finally(() => Object.assign(limits, { viewEntries }));
    const { result } = await bob.api.compareView(ALICE_AND_BOB, file);
    expect(result).toEqual({ kind: 'earlier', position: hidden!.seq + 1 });
  });

  it('may be of two browsers of one person', async () => {
    const { alice, bob, world } = await createForged();
    const phone = await world.device(BOB);
    await phone.syncOne(ALICE_AND_BOB);
    await alice.sync();
    await phone.send(ALICE_AND_BOB, 'From my phone.');
    await alice.sync();
    const { author } = await phone.api.compareView(ALICE_AND_BOB, await views(bob));
    expect(author.userId).toBe(BOB);
  });
});

describe('a file of somebody else', () => {
  it('is refused where anything in it was changed', async () => {
    const { alice, bob } = await createForged();
    const file = await views(alice, true);
    const changes: [string, string][] = [
      ['forged', 'genuine'],
      [`"user_id": "${ALICE}"`, `"user_id": "${BOB}"`],
      ['"position": 3', '"position": 9'],
    ];
    for (const [from, to] of changes) {
      expect(file).toContain(from);
      await expect(bob.api.compareView(ALICE_AND_BOB, file.replace(from, to))).rejects.toMatchObject({
        code: expect.stringMatching(/bad-signature|invalid-credential|malformed/),
      });
    }
  });

  it('is refused where it is of another conversation, or of nobody in it', async () => {
    const { alice, bob, carol } = await createTrio();
    const file = await alice.api.saveView(GROUP, false);
    await alice.start(ALICE_AND_BOB);
    await bob.sync();
    await expect(bob.api.compareView(ALICE_AND_BOB, file)).rejects.toMatchObject({ code: 'wrong-group' });
    const forged = JSON.parse(await carol.api.saveView(GROUP, false));
    forged.view.user_id = 'e0000000-0000-4000-8000-00000000000e';
    await expect(bob.api.compareView(GROUP, JSON.stringify(forged))).rejects.toMatchObject({
      code: 'unknown-person',
    });
    const other = JSON.parse(await bob.api.saveView(GROUP, false));
    const { certificate } = JSON.parse(await carol.api.saveView(GROUP, false));
    await expect(
      alice.api.compareView(GROUP, JSON.stringify({ ...other, certificate })),
    ).rejects.toMatchObject({ code: 'invalid-credential' });
  });

  it('is normal input, whatever it is', async () => {
    const { alice, bob } = await createForged();
    const file = JSON.parse(await views(alice));
    const { view } = file;
    for (const bad of [
      '',
      'null',
      '[]',
      '{"format":"conversation-view"}',
      '"x"',
      JSON.stringify({ ...file, version: 2 }),
      JSON.stringify({ ...file, signature: 'AA' }),
      JSON.stringify({ ...file, view: { ...view, entries: [...view.entries].reverse() } }),
      JSON.stringify({ ...file, view: { ...view, entries: [{ ...view.entries[0], digest: 'x' }] } }),
      JSON.stringify({ ...file, view: { ...view, position: -1 } }),
    ]) {
      await expect(bob.api.compareView(ALICE_AND_BOB, bad)).rejects.toMatchObject({ code: 'malformed' });
    }
    await expect(bob.api.compareView(ALICE_AND_BOB, 7 as never)).rejects.toMatchObject({ code: 'usage' });
  });
});
