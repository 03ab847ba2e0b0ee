import { DISPOSITION, decodeMimiContent, encodeMimiContent } from '@sinetti/crypto-core/content';
import { describe, expect, it } from 'vitest';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { encodeTextPayload, payloadBytes, readPayload } from '#workers/storage/payload.ts';
import { change, MemoryCopies } from './support/changes.ts';
import {
  ALICE,
  ALICE_AND_BOB as CHAT,
  createPair,
  createTrio,
  GROUP,
  type TestDevice,
} from './support/device.ts';
import { createHour, HOUR, lines, pass, readHere, syncAll } from './support/disappearing.ts';
import { createPairWithRogue } from './support/roguePair.ts';

const salt = new Uint8Array(16);
const sentAt = '2026-03-01T10:00:00.000Z';

/** Passes a text on, as the page does. @returns its message id */
async function forward(device: TestDevice, conversationId: string, text: string): Promise<string> {
  const messageId = device.relay.uuid();
  await device.api.queueMessage({ conversationId, messageId, text, isForwarded: true, sentAt });
  await device.flush(messageId);
  return messageId;
}

/** A text with an extension of its sender's choice. */
const withExtension = (name: string, value: boolean | number | string) =>
  encodeMimiContent({
    salt: crypto.getRandomValues(new Uint8Array(16)),
    replaces: null,
    topicId: new Uint8Array(),
    expires: null,
    inReplyTo: null,
    extensions: new Map([[name, value]]),
    body: {
      kind: 'single',
      disposition: DISPOSITION.render,
      language: '',
      contentType: 'text/plain',
      content: new TextEncoder().encode('hei'),
    },
  });

describe('a forwarded message', () => {
  it('says so to all who read it, and on devices that come later', async () => {
    const { alice, bob, carol, world } = await createTrio();
    await forward(alice, GROUP, 'Pass it on.');
    await syncAll(bob, carol);
    for (const device of [alice, bob, carol]) {
      await device.sync();
      expect((await device.history(GROUP)).at(-1)).toMatchObject({
        content: { text: 'Pass it on.' },
        isForwarded: true,
      });
    }
    const copies = new MemoryCopies();
    await copies.upload(alice);
    const phone = await world.device(ALICE);
    await phone.sync();
    await copies.download(phone);
    expect((await phone.history(GROUP)).at(-1)).toMatchObject({ isForwarded: true });
    await alice.send(GROUP, 'My own.');
    await bob.sync();
    expect((await bob.history(GROUP)).at(-1)).not.toHaveProperty('isForwarded');
  });

  it('has one mark, and neither an author nor what names the original', () => {
    const content = decodeMimiContent(payloadBytes(encodeTextPayload('hei', salt, { isForwarded: true })));
    expect([...content.extensions]).toEqual([['sinetti-forwarded', true]]);
    expect([content.inReplyTo, content.replaces, content.topicId.length]).toEqual([null, null, 0]);
  });

  it.each([
    ['a plain text that looks formatted', 'Not *so*', false, {}],
    ['a formatted text', 'Quite *so*', true, { isMarkdown: true }],
    ['a formatted text without a mark', 'Plainly', true, { isMarkdown: true }],
  ])('arrives in the format that it had: %s', async (_what, text, isMarkdown, format) => {
    const { alice, bob } = await createPair();
    const messageId = alice.relay.uuid();
    const input = { conversationId: CHAT, messageId, text, isForwarded: true, isMarkdown, sentAt };
    await alice.api.queueMessage(input);
    await alice.flush(messageId);
    await bob.sync();
    expect((await bob.history(CHAT)).at(-1)?.content).toEqual({ kind: 'text', text, ...format });
    const wrong = { ...input, isMarkdown: 'yes' } as unknown as typeof input;
    await expect(alice.api.queueMessage(wrong)).rejects.toMatchObject({ code: 'usage' });
  });

  it('may be of files, with what is said of them and a caption in the format that it had', async () => {
    const { alice, bob } = await createPair();
    const { fileId } = await alice.api.beginFile(1);
    await alice.api.sealPiece(fileId, 0, new ArrayBuffer(1));
    const messageId = alice.relay.uuid();
    const waveform = Array.from({ length: 64 }, (_value, at) => at % 32);
    const facts = {
      name: 'hello.webm',
      type: 'audio/webm',
      kind: 'voice',
      description: 'Hello',
      waveform,
    } as const;
    const files = [{ ...facts, fileId, blobId: 'AAAAAAAAAAAAAAAAAAAAAA' }];
    const message = { conversationId: CHAT, messageId, text: 'Listen to *this*', sentAt, files };
    await alice.api.queueFiles({ ...message, isForwarded: true, isMarkdown: false });
    await alice.flush(messageId);
    await bob.sync();
    expect((await bob.history(CHAT)).at(-1)).toMatchObject({
      content: { kind: 'files', text: 'Listen to *this*', files: [{ ...facts, size: 1 }] },
      isForwarded: true,
    });
    expect((await bob.history(CHAT)).at(-1)?.content).not.toHaveProperty('isMarkdown');
  });

  it('disappears as the conversation has it to which it goes', async () => {
    const { alice, bob, world } = await createHour();
    await forward(alice, CHAT, 'From elsewhere.');
    await bob.sync();
    await readHere(bob);
    expect((await bob.history(CHAT)).at(-1)).toMatchObject({ timer: 3600, isForwarded: true });
    await pass(world, HOUR, alice, bob);
    expect([await lines(alice), await lines(bob)]).toEqual([[], []]);
  });

  it('keeps its mark when its sender edits it', async () => {
    const { alice, bob } = await createPair();
    const of = await forward(alice, CHAT, 'Once.');
    await change(alice, CHAT, { kind: 'edit', of, text: 'Twice.' });
    await bob.sync();
    expect((await bob.history(CHAT)).at(-1)).toMatchObject({
      content: { text: 'Twice.' },
      isEdited: true,
      isForwarded: true,
    });
  });

  it('is one to the outbox, so that its id makes no other message', async () => {
    const { alice } = await createPair();
    const input = { conversationId: CHAT, messageId: alice.relay.uuid(), text: 'One.', sentAt };
    await alice.api.queueMessage({ ...input, isForwarded: true });
    await expect(alice.api.queueMessage(input)).rejects.toMatchObject({ code: 'usage' });
    const wrong = { ...input, isForwarded: 'yes' } as unknown as typeof input;
    await expect(alice.api.queueMessage(wrong)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a sender that keeps no rules', () => {
  it.each([false, 1, 'alice', ''])('has a message whose mark is %j shown as damaged', async (mark) => {
    const { alice, bob } = await createPairWithRogue();
    bob.send(CHAT, withExtension('sinetti-forwarded', mark));
    bob.send(CHAT, withExtension('sinetti-forwarded', true));
    await alice.sync();
    const [broken, whole] = (await alice.history(CHAT)).slice(-2);
    expect(broken?.content).toEqual({ kind: 'undecryptable', reason: 'damaged' });
    expect(whole).toMatchObject({ content: { text: 'hei' }, isForwarded: true });
  });

  it('marks nothing by another name', () => {
    const payload = `mimi:${toBase64Url(withExtension('forwarded', true))}`;
    expect(readPayload(payload)).toEqual({
      kind: 'message',
      content: { kind: 'text', text: 'hei' },
      inReplyTo: null,
    });
  });
});
