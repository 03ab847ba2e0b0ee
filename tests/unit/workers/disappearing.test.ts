import { describe, expect, it } from 'vitest';
import { change, MemoryCopies, queueChange, reply } from './support/changes.ts';
import { ALICE, ALICE_AND_BOB as CHAT, createPair, createTrio, DAY, GROUP } from './support/device.ts';
import {
  createHour,
  HOUR,
  lines,
  pass,
  readHere,
  setTimer,
  sweep,
  syncAll,
  textsKept,
} from './support/disappearing.ts';
import { OWN } from './support/ownDevices.ts';
import { dump } from './support/storage.ts';

const MINUTE = 60 * 1000;

describe('a timer', () => {
  it('is agreed by everybody, shown in the log, and seen by who comes later', async () => {
    const { alice, bob, carol, world } = await createTrio();
    await setTimer(bob, GROUP, 86_400);
    await syncAll(alice, carol);
    for (const device of [alice, bob, carol]) {
      expect((await device.api.conversation(GROUP)).timer).toBe(86_400);
      expect((await device.api.events(GROUP)).at(-1)).toMatchObject({
        senderId: bob.userId,
        change: { kind: 'timer', seconds: 86_400 },
      });
    }
    const phone = await world.device(ALICE);
    await phone.sync();
    expect((await phone.api.conversation(GROUP)).timer).toBe(86_400);
    await setTimer(carol, GROUP, 0);
    await syncAll(alice, bob);
    expect((await alice.api.conversation(GROUP)).timer).toBe(0);
    expect((await alice.api.events(GROUP)).at(-1)?.change).toEqual({ kind: 'timer', seconds: 0 });
  });

  it('of two that are set at once is the one that the log has last', async () => {
    const { alice, bob } = await createPair();
    const first = await alice.api.setTimer(CHAT, 60);
    const second = await bob.api.setTimer(CHAT, 120);
    expect([alice.submit(first!), bob.submit(second!)]).toEqual([true, false]);
    await syncAll(alice, bob);
    await setTimer(bob, CHAT, 120);
    await syncAll(alice, bob);
    for (const device of [alice, bob]) expect((await device.api.conversation(CHAT)).timer).toBe(120);
    // Nothing more is to be done.
    expect(await alice.api.setTimer(CHAT, 120)).toBeNull();
  });

  it('is one that somebody can want', async () => {
    const { alice } = await createPair();
    for (const seconds of [-1, 1, 4, 4.5, 28 * 86_400 + 1])
      await expect(alice.api.setTimer(CHAT, seconds)).rejects.toMatchObject({ code: 'usage' });
    await expect(alice.api.setTimer(OWN, 60)).rejects.toMatchObject({ code: 'usage' });
  });

  it('counts for messages written since', async () => {
    const { alice, bob, world } = await createHour();
    await setTimer(alice, CHAT, 0);
    await alice.send(CHAT, 'Stays.');
    await syncAll(alice, bob);
    await readHere(bob);
    await pass(world, DAY, alice, bob);
    expect([await lines(alice), await lines(bob)]).toEqual([['Stays.'], ['Stays.']]);
  });
});

describe('a message that disappears', () => {
  it('is over for its sender from its sending, and for others from their reading', async () => {
    const { alice, bob, phone, world } = await createHour();
    await alice.send(CHAT, 'Soon gone.');
    await syncAll(alice, phone, bob);
    expect((await bob.history(CHAT))[0]).toMatchObject({ timer: 3600 });
    await pass(world, HOUR - MINUTE, alice, bob, phone);
    await readHere(bob);
    expect(await sweep(alice)).toBe(MINUTE);
    await pass(world, MINUTE, alice, bob, phone);
    expect([await lines(alice), await lines(phone), await lines(bob)]).toEqual([[], [], ['Soon gone.']]);
    await pass(world, HOUR - MINUTE, alice, bob, phone);
    expect(await lines(bob)).toEqual([]);
    expect((await bob.api.conversation(CHAT)).lastMessage).toBeNull();
  });

  it('is not over before it was read', async () => {
    const { alice, bob, world } = await createHour();
    await alice.send(CHAT, 'Waits.');
    await bob.sync();
    await bob.api.setReadPosition(CHAT, 'elsewhere', (await bob.api.conversation(CHAT)).lastSeq);
    await pass(world, 30 * DAY, bob);
    expect([await lines(bob), await sweep(bob)]).toEqual([['Waits.'], null]);
  });

  it('is over on all devices of a person at one time, also where it comes later than the reading', async () => {
    const { alice, bob, phone, world } = await createHour();
    await bob.send(CHAT, 'For you.');
    await alice.sync();
    await phone.syncOne(CHAT);
    await bob.send(CHAT, 'And this.');
    await alice.sync();
    await readHere(alice);
    world.clock.advance(HOUR / 2);
    // The word of the reading comes before the second message.
    await phone.syncOne(OWN);
    await phone.syncOne(CHAT);
    await readHere(phone);
    expect([await sweep(alice), await sweep(phone)]).toEqual([HOUR / 2, HOUR / 2]);
    expect(await lines(phone)).toEqual(['For you.', 'And this.']);
    await pass(world, HOUR / 2, alice, phone);
    expect([await lines(alice), await lines(phone)]).toEqual([[], []]);
  });

  it('takes edits and reactions along, and answers say so', async () => {
    const { alice, bob, world } = await createHour();
    const id = await alice.send(CHAT, 'One secret.');
    await syncAll(alice, bob);
    await readHere(bob);
    world.clock.advance(HOUR / 2);
    await change(alice, CHAT, { kind: 'edit', of: id, text: 'Two secrets.' });
    await bob.sync();
    await change(bob, CHAT, { kind: 'reaction', of: id, emoji: '🤐', isTaken: false });
    await reply(bob, CHAT, 'Hush.', id);
    await syncAll(alice, bob);
    await queueChange(alice, CHAT, { kind: 'edit', of: id, text: 'Three secrets.' });
    expect(await lines(bob)).toEqual(['Two secrets. (edited) 🤐b', 'Hush. > Two secrets.']);
    await pass(world, HOUR / 2, alice, bob);
    for (const device of [alice, bob]) {
      expect(await device.history(CHAT)).toMatchObject([
        { content: { text: 'Hush.' }, quote: { message: null, hasDisappeared: true } },
      ]);
      expect(await device.api.messageCount(CHAT)).toBe(1);
      await expect(device.api.messageVersions(CHAT, id)).rejects.toMatchObject({ code: 'unknown-message' });
      await expect(reply(device, CHAT, 'To that.', id)).rejects.toMatchObject({ code: 'unknown-message' });
    }
    // An answer that was written under the timer goes as well.
    await pass(world, HOUR, alice, bob);
    await syncAll(alice, bob);
    expect(await lines(bob)).toEqual([]);
    await alice.send(CHAT, 'Go on.');
    await bob.sync();
    expect(await lines(bob)).toEqual(['Go on.']);
  });

  it('leaves nothing in the storage, whoever opens all of it', async () => {
    const { alice, bob, phone, world } = await createHour();
    const id = await alice.send(CHAT, 'Nobody may know of Atlantis.');
    await syncAll(alice, bob, phone);
    await change(alice, CHAT, { kind: 'edit', of: id, text: 'Nobody may know of Avalon.' });
    await syncAll(alice, bob, phone);
    await readHere(bob);
    const secrets = ['Atlantis', 'Avalon'].map((word) =>
      Buffer.from(word).toString('base64url').slice(1, -2),
    );
    const holds = async (device: typeof alice) => {
      const payloads = [...(await textsKept(device)).matchAll(/mimi:([\w-]+)/g)].map(([, one]) =>
        Buffer.from(one ?? '', 'base64url').toString('latin1'),
      );
      return payloads.some((one) => /Atlantis|Avalon/.test(one));
    };
    expect([await holds(alice), await holds(bob), await holds(phone)]).toEqual([true, true, true]);
    await pass(world, HOUR, alice, bob, phone);
    for (const device of [alice, bob, phone]) {
      expect(await holds(device)).toBe(false);
      const raw = (await dump(device.browser)).toString('latin1');
      for (const secret of secrets) expect(raw).not.toContain(secret);
    }
  });

  it('is gone before anything is shown where the browser was closed meanwhile', async () => {
    const { alice, bob, world } = await createHour();
    await alice.send(CHAT, 'While you were out.');
    await bob.sync();
    await readHere(bob);
    world.clock.advance(HOUR);
    const tab = await bob.openTab();
    expect(await lines(tab)).toEqual([]);
    expect((await tab.api.conversation(CHAT)).lastMessage).toBeNull();
    await sweep(tab);
    expect((await textsKept(tab)).includes('mimi:')).toBe(false);
  });

  it('lives no longer when the clock is set back while the browser is open', async () => {
    const { alice, bob, world } = await createHour();
    await alice.send(CHAT, 'Turn back time.');
    await bob.sync();
    await readHere(bob);
    const noon = world.clock.now();
    world.clock.advance(HOUR / 2);
    world.clock.set(noon - DAY);
    await pass(world, HOUR / 2 - 1, bob);
    expect(await lines(bob)).toEqual(['Turn back time.']);
    await pass(world, 1, bob);
    expect(await lines(bob)).toEqual([]);
  });

  it('is over in the outbox too, where the log has yet to show that it has it', async () => {
    const { alice, world } = await createHour();
    await alice.send(CHAT, 'On its way.');
    await pass(world, HOUR + MINUTE, alice);
    expect(await alice.api.outbox(CHAT)).toEqual([]);
    expect((await textsKept(alice)).includes('mimi:')).toBe(false);
    await alice.sync();
    await alice.send(CHAT, 'Next.');
    await alice.sync();
    expect(await lines(alice)).toEqual(['Next.']);
  });

  it('is told to the page by its id, of those on screen', async () => {
    const { alice, bob, world } = await createHour();
    const id = await alice.send(CHAT, 'Seen.');
    const shown = [id];
    await bob.sync();
    await readHere(bob);
    expect(await bob.api.expireMessages(shown)).toEqual({ gone: [], nextIn: HOUR });
    world.clock.advance(HOUR);
    // Another tab has erased it.
    await sweep(await bob.openTab());
    expect(await bob.api.expireMessages(shown)).toEqual({ gone: [id], nextIn: null });
  });
});

describe('the message backup', () => {
  it('has the time at which a message is over, and nothing of it then', async () => {
    const { alice, bob, world } = await createHour();
    const copies = new MemoryCopies();
    await bob.send(CHAT, 'Copied.');
    await alice.sync();
    await copies.upload(alice);
    await readHere(alice);
    world.clock.advance(HOUR / 4);
    await copies.upload(alice);
    expect(await alice.api.conversationsToBackUp()).toEqual([]);
    const tablet = await world.device(ALICE);
    await tablet.sync();
    await copies.download(tablet);
    expect([await lines(tablet), await sweep(tablet)]).toEqual([['Copied.'], (3 * HOUR) / 4]);
    const before = copies.items.slice();
    await pass(world, (3 * HOUR) / 4, alice, tablet);
    await copies.upload(alice);
    const desk = await world.device(ALICE);
    await desk.sync();
    await copies.download(desk);
    // Also of a relay that gives a former copy once more.
    await desk.api.readBackup(before, false, 0);
    expect([await lines(tablet), await lines(desk)]).toEqual([[], []]);
    expect((await textsKept(desk)).includes('mimi:')).toBe(false);
  });

  it('tells a browser that has the message of the reading elsewhere, once', async () => {
    const { alice, bob, phone, world } = await createHour();
    const copies = new MemoryCopies();
    await bob.send(CHAT, 'Copied.');
    await syncAll(alice, phone);
    await copies.upload(alice);
    await copies.download(phone);
    await copies.upload(phone);
    const { lastSeq } = await alice.api.conversation(CHAT);
    await alice.api.setReadPosition(CHAT, 'here', lastSeq);
    await copies.upload(alice);
    await copies.download(phone);
    expect(await sweep(phone)).toBe(HOUR);
    // It doesn't say what it was told, or the two would go on telling each other.
    expect(await phone.api.conversationsToBackUp()).not.toContain(CHAT);
    await pass(world, HOUR, phone);
    expect(await lines(phone)).toEqual([]);
  });
});
