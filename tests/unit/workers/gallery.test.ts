import { describe, expect, it } from 'vitest';
import type { FileKind, FilesPage } from '#workers/api/cryptoApi.ts';
import { limits } from '#workers/codec/limits.ts';
import { change, MemoryCopies } from './support/changes.ts';
import { ALICE, ALICE_AND_BOB as CHAT, createPair, GROUP, type TestDevice } from './support/device.ts';
import { createHour, HOUR, pass, syncAll } from './support/disappearing.ts';
import { OWN } from './support/ownDevices.ts';

const sentAt = '2026-03-01T10:00:00.000Z';
const types: Readonly<Record<FileKind, string>> = {
  picture: 'image/webp',
  film: 'video/mp4',
  audio: 'audio/ogg',
  voice: 'audio/ogg',
  file: 'application/pdf',
};
const media: readonly FileKind[] = ['picture', 'film'];

/** Queues a message with files of such kinds and names, without bringing it into the log. */
async function queueFiles(device: TestDevice, kinds: readonly FileKind[], name: string, of = CHAT) {
  const { api, relay } = device;
  const files = [];
  for (const kind of kinds) {
    const { fileId } = await api.beginFile(3);
    await api.sealPiece(fileId, 0, new Uint8Array(3).buffer);
    const blobId = 'AAAAAAAAAAAAAAAAAAAAAA';
    const voice = kind === 'voice' ? { waveform: Array.from({ length: limits.waveform }, () => 5) } : {};
    files.push({ fileId, blobId, name, kind, type: types[kind], description: '', ...voice });
  }
  const messageId = relay.uuid();
  await api.queueFiles({ conversationId: of, messageId, text: '', sentAt, files });
  return messageId;
}

async function sendFiles(device: TestDevice, kinds: readonly FileKind[], name: string, of = CHAT) {
  const messageId = await queueFiles(device, kinds, name, of);
  await device.flush(messageId);
  return messageId;
}

const names = ({ messages }: FilesPage) =>
  messages.map(({ content }) => (content.kind === 'files' ? content.files[0]?.name : content.kind));

const page = (device: TestDevice, kinds: readonly FileKind[] = media, before: number | null = null) =>
  device.api.messagesWithFiles(CHAT, { kinds, before, limit: 50 });

async function withLimit(most: number, run: () => Promise<void>) {
  const room = limits as { messagesLookedThrough: number };
  const before = room.messagesLookedThrough;
  room.messagesLookedThrough = most;
  try {
    await run();
  } finally {
    room.messagesLookedThrough = before;
  }
}

describe('the messages of a conversation that have files', () => {
  it('come newest first, by the kinds that are asked for', async () => {
    const { alice, bob } = await createPair();
    await sendFiles(alice, ['picture'], 'lake.webp');
    await alice.send(CHAT, 'Nothing but words.');
    await sendFiles(alice, ['voice'], 'voice.ogg');
    await sendFiles(alice, ['file', 'film'], 'boat');
    await bob.sync();
    for (const device of [alice, bob]) {
      await device.sync();
      expect(names(await page(device))).toEqual(['boat', 'lake.webp']);
      expect(names(await page(device, ['file']))).toEqual(['boat']);
      expect(names(await page(device, ['voice', 'audio']))).toEqual(['voice.ogg']);
      expect(await page(device, ['audio'])).toEqual({ messages: [], before: null });
    }
    expect(await alice.api.messagesWithFiles(GROUP, { kinds: media, limit: 1 })).toEqual({
      messages: [],
      before: null,
    });
  });

  it('come page by page to the beginning, none twice', async () => {
    const { alice } = await createPair();
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      await sendFiles(alice, ['picture'], name);
      await alice.send(CHAT, 'Between them.');
    }
    await alice.sync();
    const found: unknown[] = [];
    let before: number | null = null;
    do {
      const next: FilesPage = await alice.api.messagesWithFiles(CHAT, { kinds: media, before, limit: 2 });
      found.push(names(next));
      before = next.before;
    } while (before !== null);
    expect(found).toEqual([['five', 'four'], ['three', 'two'], ['one']]);
  });

  it('are looked for in so many messages and no more, also where none has any', async () => {
    const { alice } = await createPair();
    await sendFiles(alice, ['picture'], 'far back');
    for (let at = 0; at < 5; at += 1) await alice.send(CHAT, 'Words.');
    await alice.sync();
    await withLimit(3, async () => {
      let before: number | null = null;
      const opened: number[] = [];
      for (let calls = 0; calls < 4; calls += 1) {
        const next: FilesPage = await page(alice, media, before);
        opened.push(next.messages.length);
        before = next.before;
        if (before === null) break;
      }
      // The third finds that there is nothing before.
      expect(opened).toEqual([0, 1, 0]);
    });
  });

  it('are those of the outbox too, and led by them', async () => {
    const { alice } = await createPair();
    await sendFiles(alice, ['picture'], 'sent');
    await alice.sync();
    await queueFiles(alice, ['picture'], 'waits');
    await queueFiles(alice, ['picture'], 'waits too');
    const { messages } = await page(alice);
    expect(names({ messages, before: null })).toEqual(['waits too', 'waits', 'sent']);
    expect(messages[0]).toMatchObject({ seq: null, status: 'sending' });
    expect(names(await page(alice, media, 100))).toEqual(['sent']);
  });

  it('are the notes among own devices', async () => {
    const { alice, world } = await createPair();
    const phone = await world.device(ALICE);
    await phone.sync();
    await alice.start(OWN);
    await syncAll(phone, alice);
    await sendFiles(alice, ['picture'], 'note', OWN);
    await syncAll(phone, alice);
    expect(names(await phone.api.messagesWithFiles(OWN, { kinds: media, limit: 9 }))).toEqual(['note']);
  });

  it('are none that was deleted, for everybody or here, also before the log has it', async () => {
    const { alice, bob } = await createPair();
    const [one, two, three] = [
      await sendFiles(alice, ['picture'], 'one'),
      await sendFiles(alice, ['picture'], 'two'),
      await sendFiles(alice, ['picture'], 'three'),
    ];
    await syncAll(alice, bob);
    await change(alice, CHAT, { kind: 'deletion', of: one });
    await syncAll(alice, bob);
    expect(names(await page(bob))).toEqual(['three', 'two']);
    await bob.api.deleteMessageHere(CHAT, two);
    expect(names(await page(bob))).toEqual(['three']);
    expect(names(await page(alice))).toEqual(['three', 'two']);
    const messageId = alice.relay.uuid();
    await alice.api.queueChange({
      conversationId: CHAT,
      messageId,
      sentAt,
      change: { kind: 'deletion', of: three },
    });
    expect(names(await page(alice))).toEqual(['two']);
  });

  it('come without the reactions to them, which a gallery shows nowhere', async () => {
    const { alice, bob } = await createPair();
    const sent = await sendFiles(alice, ['picture'], 'lake');
    await syncAll(alice, bob);
    await change(bob, CHAT, { kind: 'reaction', of: sent, emoji: '👍', isTaken: false });
    await syncAll(alice, bob);
    const [shown] = await alice.api.messages(CHAT, { limit: 1 });
    expect(shown).toMatchObject({ messageId: sent, reactions: [{ emoji: '👍' }] });
    const { messages } = await page(alice);
    expect(messages).toHaveLength(1);
    expect(messages[0]).not.toHaveProperty('reactions');
  });

  it('are none whose time is over, before anything is swept', async () => {
    const { alice, phone, world } = await createHour();
    await sendFiles(alice, ['picture'], 'soon gone');
    await syncAll(alice, phone);
    expect(names(await page(alice))).toEqual(['soon gone']);
    world.clock.advance(HOUR);
    expect(names(await page(alice))).toEqual([]);
    await pass(world, HOUR, alice, phone);
    expect([names(await page(alice)), names(await page(phone))]).toEqual([[], []]);
  });

  it('come to a new browser with the copies of the messages', async () => {
    const { alice, world } = await createPair();
    await sendFiles(alice, ['picture'], 'copied');
    await alice.sync();
    const copies = new MemoryCopies();
    await copies.upload(alice);
    const tablet = await world.device(ALICE);
    await tablet.sync();
    await copies.download(tablet);
    expect(names(await page(tablet))).toEqual(['copied']);
  });

  it('are asked for strictly', async () => {
    const { alice } = await createPair();
    for (const wrong of [
      { limit: 0 },
      { before: 0 },
      { before: 1.5 },
      { kinds: ['text'] },
      { kinds: 'picture' },
      { kinds: [...media, ...media, ...media] },
    ]) {
      const given = { kinds: media, limit: 1, ...wrong } as Parameters<typeof alice.api.messagesWithFiles>[1];
      await expect(alice.api.messagesWithFiles(CHAT, given)).rejects.toMatchObject({ code: 'usage' });
    }
    await expect(alice.api.messagesWithFiles('direct:x', { kinds: media, limit: 1 })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});
