import { DISPOSITION, encodeMimiContent } from '@sinetti/crypto-core/content';
import { describe, expect, it } from 'vitest';
import type { MessageView } from '#workers/api/cryptoApi.ts';
import { fromBase64Url } from '#workers/codec/base64url.ts';
import { limits } from '#workers/codec/limits.ts';
import { contentIdOf, encodeTextPayload, payloadBytes } from '#workers/storage/payload.ts';
import { change, MemoryCopies } from './support/changes.ts';
import { ALICE, BOB, ALICE_AND_BOB as CHAT, createPair, type TestDevice, textOf } from './support/device.ts';
import { createHour, HOUR, pass, syncAll } from './support/disappearing.ts';
import { modifiedClient, OWN } from './support/ownDevices.ts';
import { createPairWithRogue } from './support/roguePair.ts';

const sentAt = '2026-03-01T10:00:00.000Z';

/** Stars a message, or takes the star back, without bringing that into the log. */
async function queueStar(device: TestDevice, conversationId: string, of: string, isStarred = true) {
  const messageId = device.relay.uuid();
  return device.api.setStar({ conversationId, of, isStarred, messageId, sentAt });
}

async function star(device: TestDevice, conversationId: string, of: string, isStarred = true): Promise<void> {
  await queueStar(device, conversationId, of, isStarred);
  for (const { messageId } of await device.api.outbox(OWN)) await device.flush(messageId);
  await device.sync();
}

const starred = async (device: TestDevice) => (await device.api.starredMessages()).map(textOf);

/** Alice with two devices in a group of their own, and Bob, who has said two things. */
async function twoBrowsers() {
  const { alice, bob, relay, world } = await createPair();
  const phone = await world.device(ALICE);
  await phone.sync();
  await alice.start(OWN);
  await syncAll(phone, alice, bob);
  const [one, two] = [await bob.send(CHAT, 'One.'), await bob.send(CHAT, 'Two.')];
  await syncAll(alice, phone);
  return { alice, bob, one, phone, relay, two, world };
}

/** A star as a client of the person's own writes it, with an extension of its choice. */
const starOf = (of: Uint8Array, conversation: number | string) =>
  encodeMimiContent({
    salt: crypto.getRandomValues(new Uint8Array(16)),
    replaces: null,
    topicId: new Uint8Array(),
    expires: null,
    inReplyTo: of,
    extensions: new Map([['sinetti-starred', conversation]]),
    body: {
      kind: 'single',
      disposition: DISPOSITION.reaction,
      language: '',
      contentType: 'text/plain',
      content: new TextEncoder().encode('⭐'),
    },
  });

describe('a star', () => {
  it('is on all of a person’s devices, newest first, and on nobody else’s', async () => {
    const { alice, bob, one, phone, two } = await twoBrowsers();
    await star(alice, CHAT, one);
    await star(phone, CHAT, two);
    await syncAll(alice, phone, bob);
    for (const device of [alice, phone]) expect(await starred(device)).toEqual(['Two.', 'One.']);
    expect(await starred(bob)).toEqual([]);
    for (const device of [alice, phone, bob])
      expect((await device.history(CHAT)).some(({ reactions }) => reactions !== undefined)).toBe(false);
  });

  it('is there before the log has it, also where the own devices’ group is still to begin, and shows no note', async () => {
    const { alice, bob } = await createPair();
    const id = await bob.send(CHAT, 'One.');
    await alice.sync();
    await queueStar(alice, CHAT, id);
    expect(await starred(alice)).toEqual(['One.']);
    await queueStar(alice, CHAT, id, false);
    expect(await starred(alice)).toEqual([]);
    expect(await alice.history(OWN)).toEqual([]);
    expect((await alice.api.conversation(OWN)).lastMessage).toBeNull();
  });

  it('leaves the outbox where a copy of this browser had brought it to the relay before', async () => {
    const { phone, one } = await twoBrowsers();
    await queueStar(phone, CHAT, one);
    const [waiting] = await phone.api.outbox(OWN);
    const { joinedSeq } = await phone.api.conversation(OWN);
    const messageId = waiting?.messageId ?? '';
    await phone.api.messageAccepted(messageId, { seq: joinedSeq, timestamp: sentAt });
    expect(await phone.api.outbox(OWN)).toEqual([]);
    expect(await starred(phone)).toEqual(['One.']);
  });

  it('is taken back on all of them, though two had given it at once', async () => {
    const { alice, one, phone } = await twoBrowsers();
    await star(alice, CHAT, one);
    await star(phone, CHAT, one);
    await syncAll(alice, phone);
    expect(await starred(alice)).toEqual(['One.']);
    await star(phone, CHAT, one, false);
    await syncAll(alice, phone);
    expect([await starred(alice), await starred(phone)]).toEqual([[], []]);
    // Nothing more is to be told.
    expect(await queueStar(alice, CHAT, one, false)).toBeNull();
    await star(alice, CHAT, one);
    await syncAll(alice, phone);
    expect(await starred(phone)).toEqual(['One.']);
    expect(await queueStar(phone, CHAT, one)).toBeNull();
  });

  it('comes to a new browser with the copies of the messages, and is no star there that was taken back', async () => {
    const { alice, one, two, world } = await twoBrowsers();
    await star(alice, CHAT, one);
    await star(alice, CHAT, two);
    await star(alice, CHAT, two, false);
    const copies = new MemoryCopies();
    await copies.upload(alice);
    const tablet = await world.device(ALICE);
    await tablet.sync();
    expect(await starred(tablet)).toEqual([]);
    await copies.download(tablet);
    expect(await starred(tablet)).toEqual(['One.']);
  });

  it('of a note is no reaction to it', async () => {
    const { alice, phone } = await twoBrowsers();
    const note = await alice.send(OWN, 'milk');
    await syncAll(alice, phone);
    await star(phone, OWN, note);
    await syncAll(alice);
    expect(await starred(alice)).toEqual(['milk']);
    expect((await alice.history(OWN)).at(-1)).not.toHaveProperty('reactions');
    await change(alice, OWN, { kind: 'deletion', of: note });
    await syncAll(alice, phone);
    expect([await starred(alice), await starred(phone)]).toEqual([[], []]);
  });

  it('leaves the list with its message, which it shows as it is now', async () => {
    const { alice, bob, one, two } = await twoBrowsers();
    await star(alice, CHAT, one);
    await star(alice, CHAT, two);
    await change(bob, CHAT, { kind: 'edit', of: one, text: 'Uno.' });
    await alice.sync();
    expect(await starred(alice)).toEqual(['Two.', 'Uno.']);
    await change(bob, CHAT, { kind: 'deletion', of: one });
    await alice.sync();
    expect(await starred(alice)).toEqual(['Two.']);
    await alice.api.deleteMessageHere(CHAT, two);
    expect(await starred(alice)).toEqual([]);
    await expect(queueStar(alice, CHAT, one)).rejects.toMatchObject({ code: 'unknown-message' });
  });

  it('keeps no message that disappears', async () => {
    const { alice, phone, world } = await createHour();
    const id = await alice.send(CHAT, 'Soon gone.');
    await syncAll(alice, phone);
    await star(alice, CHAT, id);
    await phone.sync();
    expect(await starred(phone)).toEqual(['Soon gone.']);
    world.clock.advance(HOUR);
    // Nobody has swept yet.
    expect(await starred(phone)).toEqual([]);
    await pass(world, HOUR, alice, phone);
    expect([await starred(alice), await starred(phone)]).toEqual([[], []]);
  });

  it('is of as many messages as there can be, of which those that are gone are none', async () => {
    const { alice, bob, one, two } = await twoBrowsers();
    const room = limits as { stars: number };
    room.stars = 1;
    try {
      await star(alice, CHAT, one);
      await expect(queueStar(alice, CHAT, two)).rejects.toMatchObject({ code: 'stars-full' });
      expect(await queueStar(alice, CHAT, one)).toBeNull();
      await change(bob, CHAT, { kind: 'deletion', of: one });
      await alice.sync();
      await star(alice, CHAT, two);
      expect(await starred(alice)).toEqual(['Two.']);
    } finally {
      room.stars = 500;
    }
  });

  it('is asked for strictly', async () => {
    const { alice, one } = await twoBrowsers();
    const input = { conversationId: CHAT, of: one, isStarred: true, messageId: alice.relay.uuid(), sentAt };
    const others = CHAT.replaceAll(ALICE, 'c0a1c0a1-5a7e-4f3a-9d0e-000000000001');
    for (const wrong of [
      { of: 'x' },
      { isStarred: 1 },
      { conversationId: 'direct:x' },
      { conversationId: others },
    ]) {
      const given = { ...input, ...wrong } as typeof input;
      await expect(alice.api.setStar(given)).rejects.toMatchObject({ code: 'usage' });
    }
    await expect(alice.api.setStar({ ...input, of: alice.relay.uuid() })).rejects.toMatchObject({
      code: 'unknown-message',
    });
  });
});

describe('somebody who keeps no rules', () => {
  it('stars nothing for another person, and shows nothing by it', async () => {
    const { alice, bob } = await createPairWithRogue();
    const payload = encodeTextPayload('hei', crypto.getRandomValues(new Uint8Array(16)));
    const messageId = bob.send(CHAT, payloadBytes(payload));
    await alice.sync();
    const [message] = (await alice.history(CHAT)) as [MessageView];
    const place = { conversationId: CHAT, senderId: BOB, messageId: message.messageId };
    bob.send(CHAT, starOf(fromBase64Url(contentIdOf(payload, place) ?? '')!, CHAT));
    await alice.sync();
    expect([await starred(alice), messageId]).toEqual([[], messageId]);
    expect((await alice.history(CHAT))[0]).not.toHaveProperty('reactions');
  });

  it('has an own client name what isn’t here, or no conversation at all, and nothing comes of it', async () => {
    const { alice, phone, one, world } = await twoBrowsers();
    await star(alice, CHAT, one);
    const rogue = await modifiedClient(world);
    const nothing = new Uint8Array(32).fill(1);
    for (const conversation of [CHAT, `group:${alice.relay.uuid()}`, 'nowhere', '', 7])
      rogue.send(OWN, starOf(nothing, conversation));
    await syncAll(alice, phone);
    for (const device of [alice, phone]) expect(await starred(device)).toEqual(['One.']);
  });

  it('has the newest changes looked through alone, however many an own client leaves', async () => {
    const { alice, phone, one, two, world } = await twoBrowsers();
    const rogue = await modifiedClient(world);
    const room = limits as { starsRead: number };
    room.starsRead = 3;
    try {
      await star(alice, CHAT, one);
      for (let at = 0; at < 3; at += 1) rogue.send(OWN, starOf(new Uint8Array(32).fill(at), CHAT));
      await syncAll(alice, phone);
      expect(await starred(alice)).toEqual([]);
      await star(phone, CHAT, two);
      await syncAll(alice);
      expect(await starred(alice)).toEqual(['Two.']);
    } finally {
      room.starsRead = 10_000;
    }
  });
});
