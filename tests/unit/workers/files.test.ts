import { paddedLength } from '@sinetti/crypto-core';
import {
  DISPOSITION,
  type ExternalPart,
  encodeMimiContent,
  FILE_CHUNK_LENGTH,
  runningSha256,
  SEALED_FILE_CHUNK_LENGTH,
  sealedFileLength,
  sealFileChunk,
} from '@sinetti/crypto-core/content';
import { describe, expect, it } from 'vitest';
import type { UploadedFile } from '#workers/api/cryptoApi.ts';
import { CryptoApiError } from '#workers/api/errors.ts';
import { limits } from '#workers/codec/limits.ts';
import { ALICE, ALICE_AND_BOB, createPair, selfOf, type TestDevice } from './support/device.ts';
import { createPairWithRogue } from './support/roguePair.ts';

const PIECE = limits.filePiece;
const SENT_AT = '2026-03-01T10:00:00.000Z';
const blobId = 'AAAAAAAAAAAAAAAAAAAAAA';

const bytesOf = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7) % 251);
const pieceOf = (file: Uint8Array, index: number) => file.slice(index * PIECE, (index + 1) * PIECE).buffer;

async function codeOf(failing: Promise<unknown>): Promise<string> {
  try {
    await failing;
    return 'nothing';
  } catch (error) {
    if (error instanceof CryptoApiError) return error.code;
    throw error;
  }
}

/** Seals a file as the page does. @returns its id and its sealed pieces */
async function seal({ api }: TestDevice, file: Uint8Array) {
  const { fileId, pieces, sealedSize } = await api.beginFile(file.length);
  const sealed: ArrayBuffer[] = [];
  for (let index = 0; index < pieces; index += 1)
    sealed.push(await api.sealPiece(fileId, index, pieceOf(file, index)));
  expect(sealed.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(sealedSize);
  return { fileId, sealed };
}

const facts: Omit<UploadedFile, 'fileId'> = {
  blobId,
  name: 'summer.webp',
  type: 'image/webp',
  kind: 'picture',
  description: 'A lake at night',
  width: 1200,
  height: 800,
  preview: { type: 'image/webp', bytes: 'cHJldmlldw' },
};

async function queue({ api, relay }: TestDevice, files: readonly UploadedFile[], text = '') {
  const messageId = relay.uuid();
  await api.queueFiles({ conversationId: ALICE_AND_BOB, messageId, text, sentAt: SENT_AT, files });
  return messageId;
}

/** Sends a file to Bob. */
async function send(alice: TestDevice, bob: TestDevice, file: Uint8Array, text = '') {
  const { fileId, sealed } = await seal(alice, file);
  const messageId = await queue(alice, [{ ...facts, fileId }], text);
  await alice.flush(messageId);
  await bob.sync();
  return { messageId, sealed };
}

async function open({ api }: TestDevice, messageId: string, sealed: readonly ArrayBuffer[]) {
  const { handle, pieces } = await api.openFile(ALICE_AND_BOB, messageId, 0);
  const opened: Uint8Array[] = [];
  for (const [index, piece] of sealed.entries())
    opened.push(new Uint8Array(await api.openPiece(handle, index, piece)));
  expect(opened.slice(pieces).every(({ length }) => length === 0)).toBe(true);
  return Buffer.concat(opened);
}

describe('a file beside a message', () => {
  it.each([0, 1, 300, PIECE, PIECE + 1, 2 * PIECE + 70_000])(
    'of %d bytes is sealed, and opened by whoever has the message',
    async (length) => {
      const { alice, bob } = await createPair();
      const file = bytesOf(length);
      const { messageId, sealed } = await send(alice, bob, file);
      expect(Buffer.compare(await open(bob, messageId, sealed), file)).toBe(0);
      expect(Buffer.compare(await open(alice, messageId, sealed), file)).toBe(0);
    },
  );

  it('is shown with its facts, under a caption or none', async () => {
    const { alice, bob } = await createPair();
    const { blobId: _blob, ...shown } = facts;
    for (const text of ['', 'by the lake']) {
      const { messageId } = await send(alice, bob, bytesOf(5), text);
      const message = (await bob.history(ALICE_AND_BOB)).find((one) => one.messageId === messageId);
      expect(message?.content).toEqual({ kind: 'files', text, files: [{ ...shown, size: 5 }] });
      await alice.sync();
    }
  });

  it('is hidden in its size: what is sealed tells a dozen lengths apart, not each', async () => {
    const { alice } = await createPair();
    const sizes = new Set<number>();
    for (let length = 100_000; length < 110_000; length += 100)
      sizes.add(
        (
          await alice.api.beginFile(length).then(async (begun) => {
            await alice.api.forgetFile(begun.fileId);
            return begun;
          })
        ).sealedSize,
      );
    expect(sizes.size).toBeLessThan(8);
  });

  it('has a key of its own for each sending', async () => {
    const { alice } = await createPair();
    const [one, other] = [await seal(alice, bytesOf(9)), await seal(alice, bytesOf(9))];
    expect(Buffer.from(one.sealed[0]!)).not.toEqual(Buffer.from(other.sealed[0]!));
  });

  it('opens in any order, as a film is looked at', async () => {
    const { alice, bob } = await createPair();
    const file = bytesOf(2 * PIECE + 5);
    const { messageId, sealed } = await send(alice, bob, file);
    const { handle } = await bob.api.openFile(ALICE_AND_BOB, messageId, 0);
    for (const index of [1, 0, 2, 1]) {
      const piece = await bob.api.openPiece(handle, index, sealed[index]!);
      expect(Buffer.compare(Buffer.from(piece), Buffer.from(pieceOf(file, index)))).toBe(0);
    }
  });

  it('is found out where the relay has changed, exchanged, cut or moved a piece', async () => {
    const { alice, bob } = await createPair();
    const { messageId, sealed } = await send(alice, bob, bytesOf(PIECE + 5));
    const other = await seal(alice, bytesOf(PIECE + 5));
    const { handle } = await bob.api.openFile(ALICE_AND_BOB, messageId, 0);
    const changed = sealed[0]!.slice(0);
    new Uint8Array(changed)[99]! ^= 1;
    for (const [index, piece] of [
      [0, changed],
      [0, other.sealed[0]!],
      [1, other.sealed[1]!],
    ] as const)
      expect(await codeOf(bob.api.openPiece(handle, index, piece))).toBe('decrypt-failed');
    expect(await codeOf(bob.api.openPiece(handle, 0, sealed[1]!))).toBe('malformed');
    expect(await codeOf(bob.api.openPiece(handle, 1, sealed[1]!.slice(0, -1)))).toBe('malformed');
    expect(await codeOf(bob.api.openPiece(handle, 9, sealed[1]!))).toBe('malformed');
  });
});

describe('a file whose message lies about it', () => {
  const length = PIECE + 5;
  const key = Uint8Array.from({ length: 32 }, (_, at) => at);

  /** The file as a client without our rules seals it, and the pieces in which it is opened as long as that one says. */
  function sealAs(size: number) {
    const padded = new Uint8Array(paddedLength(length));
    padded.set(bytesOf(length));
    const chunks = Array.from({ length: Math.ceil(padded.length / FILE_CHUNK_LENGTH) }, (_, index) =>
      sealFileChunk(
        { key, length: padded.length },
        index,
        padded.subarray(index * FILE_CHUNK_LENGTH, (index + 1) * FILE_CHUNK_LENGTH),
      ),
    );
    const whole = Buffer.concat(chunks);
    const given = new Uint8Array(sealedFileLength(paddedLength(size)));
    given.set(whole.subarray(0, given.length));
    const pieceLength = (PIECE / FILE_CHUNK_LENGTH) * SEALED_FILE_CHUNK_LENGTH;
    const pieces = Array.from(
      { length: Math.ceil(given.length / pieceLength) },
      (_, at) => given.slice(at * pieceLength, (at + 1) * pieceLength).buffer,
    );
    const hash = runningSha256();
    hash.update(given);
    return { pieces, hash: hash.digest() };
  }

  async function announce(size: number, hash: Uint8Array, pieces: readonly ArrayBuffer[]) {
    const { alice, bob } = await createPairWithRogue();
    const part: ExternalPart = {
      kind: 'external',
      disposition: DISPOSITION.attachment,
      language: '',
      contentType: 'application/pdf',
      url: `sinetti:blob/${blobId}`,
      expires: 0,
      size,
      encAlg: 29,
      key,
      nonce: new Uint8Array(),
      aad: new Uint8Array(),
      hashAlg: 1,
      contentHash: hash,
      description: '',
      filename: 'plan.pdf',
    };
    const said = { salt: new Uint8Array(16), replaces: null, topicId: new Uint8Array(), expires: null };
    bob.send(
      ALICE_AND_BOB,
      encodeMimiContent({ ...said, inReplyTo: null, extensions: new Map(), body: part }),
    );
    await alice.sync();
    const [message] = await alice.history(ALICE_AND_BOB);
    expect(message?.content).toMatchObject({ kind: 'files', files: [{ name: 'plan.pdf', size }] });
    const { handle, sealedPieces } = await alice.api.openFile(ALICE_AND_BOB, message!.messageId, 0);
    expect(sealedPieces).toBe(pieces.length);
    const codes: string[] = [];
    for (const [index, piece] of pieces.entries())
      codes.push(await codeOf(alice.api.openPiece(handle, index, piece)));
    return codes;
  }

  it('is given out to its last piece if that says the truth, which is refused where it says another hash', async () => {
    const { hash, pieces } = sealAs(length);
    expect(await announce(length, hash, pieces)).toEqual(['nothing', 'nothing']);
    const other = hash.map((byte, at) => (at === 31 ? byte ^ 1 : byte));
    expect(await announce(length, other, pieces)).toEqual(['nothing', 'decrypt-failed']);
  });

  it.each([
    ['longer', length + FILE_CHUNK_LENGTH, ['nothing', 'decrypt-failed']],
    ['shorter', length - FILE_CHUNK_LENGTH, ['decrypt-failed']],
  ])('by a chunk, is refused at its last piece: as %s', async (_what, size, codes) => {
    const { hash, pieces } = sealAs(size);
    expect(await announce(size, hash, pieces)).toEqual(codes);
    // As long as it is in truth, it has not even the length of its pieces.
    const honest = sealAs(length).pieces.slice(0, pieces.length);
    expect((await announce(size, hash, honest)).at(-1)).toBe('malformed');
  });
});

describe('sealing a file', () => {
  it('takes each piece once, in order, at its length', async () => {
    const { alice } = await createPair();
    const file = bytesOf(PIECE + 5);
    const { fileId } = await alice.api.beginFile(file.length);
    expect(await codeOf(alice.api.sealPiece(fileId, 1, pieceOf(file, 1)))).toBe('usage');
    expect(await codeOf(alice.api.sealPiece(fileId, 0, pieceOf(file, 1)))).toBe('usage');
    await alice.api.sealPiece(fileId, 0, pieceOf(file, 0));
    expect(await codeOf(alice.api.sealPiece(fileId, 0, pieceOf(file, 0)))).toBe('usage');
    await alice.api.sealPiece(fileId, 1, pieceOf(file, 1));
    expect(await codeOf(alice.api.sealPiece(fileId, 1, pieceOf(file, 1)))).toBe('unknown-file');
  });

  it('is over for a file that was not whole as its tab was left, and not for one that was', async () => {
    const { alice } = await createPair();
    const begun = await alice.api.beginFile(5);
    const whole = await seal(alice, bytesOf(5));
    const reloaded = await alice.openTab();
    expect(await codeOf(reloaded.api.sealPiece(begun.fileId, 0, bytesOf(5).buffer))).toBe('unknown-file');
    expect(await codeOf(queue(reloaded, [{ ...facts, fileId: begun.fileId }]))).toBe('unknown-file');
    expect(await codeOf(queue(reloaded, [{ ...facts, fileId: whole.fileId }]))).toBe('nothing');
  });

  it('is refused beyond what anybody keeps, and for too many at once', async () => {
    const { alice } = await createPair();
    expect(await codeOf(alice.api.beginFile(limits.fileSize + 1))).toBe('usage');
    expect(await codeOf(alice.api.beginFile(-1))).toBe('usage');
    for (let count = 0; count < limits.filesSealing; count += 1) await alice.api.beginFile(5);
    expect(await codeOf(alice.api.beginFile(5))).toBe('usage');
  });
});

describe('a message with files', () => {
  it('is queued once, whatever became of the answer', async () => {
    const { alice, bob } = await createPair();
    const { fileId } = await seal(alice, bytesOf(5));
    const input = {
      conversationId: ALICE_AND_BOB,
      messageId: alice.relay.uuid(),
      text: '',
      sentAt: SENT_AT,
      files: [{ ...facts, fileId }],
    };
    const first = await alice.api.queueFiles(input);
    expect((await alice.api.queueFiles(input)).message).toEqual(first.message);
    await alice.flush(input.messageId);
    await alice.sync();
    expect((await alice.api.queueFiles(input)).message).toMatchObject({ status: 'sent', seq: 2 });
    await bob.sync();
    expect(await bob.history(ALICE_AND_BOB)).toHaveLength(1);
  });

  it.each<[string, (fileId: string) => UploadedFile[]]>([
    ['has none', () => []],
    [
      'has one twice',
      (fileId) => [
        { ...facts, fileId },
        { ...facts, fileId },
      ],
    ],
    ['has one that is not known', () => [{ ...facts, fileId: 'f0000000-0000-4000-8000-000000000001' }]],
    [
      'has a preview beyond 8 KiB',
      (fileId) => [{ ...facts, fileId, preview: { type: 'image/webp', bytes: 'A'.repeat(11_000) } }],
    ],
    ['names a blob by a path', (fileId) => [{ ...facts, fileId, blobId: '../../users/me/AAAAAAA' }]],
  ])('is refused if it %s', async (_what, files) => {
    const { alice } = await createPair();
    const { fileId } = await seal(alice, bytesOf(5));
    expect(await codeOf(queue(alice, files(fileId)))).toMatch(/^(usage|unknown-file)$/);
    // Nothing was taken away by what was refused.
    expect(await codeOf(queue(alice, [{ ...facts, fileId }]))).toBe('nothing');
  });

  it('has twenty files with previews that fit together', async () => {
    const { alice, bob } = await createPair();
    const files: UploadedFile[] = [];
    for (let count = 0; count < limits.filesPerMessage; count += 1) {
      const { fileId } = await seal(alice, bytesOf(5));
      const bytes = 'A'.repeat(Math.floor(((48 * 1024) / limits.filesPerMessage) * (4 / 3)) & ~3);
      files.push({ ...facts, fileId, preview: { type: 'image/webp', bytes } });
    }
    const messageId = await queue(alice, files, 'x'.repeat(limits.caption));
    await alice.flush(messageId);
    await bob.sync();
    const [message] = await bob.history(ALICE_AND_BOB);
    expect(message?.content).toMatchObject({ kind: 'files', files: { length: 20 } });
  });

  it('is a note among own devices', async () => {
    const { alice } = await createPair();
    const { fileId } = await seal(alice, bytesOf(5));
    const conversationId = selfOf(ALICE);
    const messageId = alice.relay.uuid();
    await alice.api.queueFiles({
      conversationId,
      messageId,
      text: '',
      sentAt: SENT_AT,
      files: [{ ...facts, fileId }],
    });
    await alice.flush(messageId);
    await alice.sync();
    expect(await alice.api.messages(conversationId, { limit: 9 })).toMatchObject([
      { content: { kind: 'files' }, status: 'sent' },
    ]);
  });

  it('gives no handle for another conversation, message or file, nor after the session', async () => {
    const { alice, bob } = await createPair();
    const { messageId, sealed } = await send(alice, bob, bytesOf(5));
    expect(await codeOf(bob.api.openFile(ALICE_AND_BOB, messageId, 1))).toBe('unknown-file');
    expect(await codeOf(bob.api.openFile(ALICE_AND_BOB, bob.relay.uuid(), 0))).toBe('unknown-message');
    expect(await codeOf(bob.api.openFile(selfOf(ALICE), messageId, 0))).toBe('unknown-message');
    const { handle } = await bob.api.openFile(ALICE_AND_BOB, messageId, 0);
    await bob.api.lock();
    expect(await codeOf(bob.api.openPiece(handle, 0, sealed[0]!))).toBe('locked');
  });
});
