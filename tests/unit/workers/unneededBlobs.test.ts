import { describe, expect, it, vi } from 'vitest';
import { createSessionEvents } from '#src/services/core/sessionEvents.ts';
import { createUnneededBlobs, type UnneededBlobs } from '#src/services/files/unneededBlobs.ts';
import { ALICE_AND_BOB as CHAT, type TestDevice } from './support/device.ts';
import { createHour, HOUR, pass } from './support/disappearing.ts';

const blobId = 'AAAAAAAAAAAAAAAAAAAAAA';

/** A file of Alice's that the log has, and its deletion, which waits. */
async function createPlay(inBetween: (unneeded: UnneededBlobs) => Promise<void> = async () => undefined) {
  const { alice, bob, world } = await createHour();
  const fileId = await sealed(alice);
  const facts = { name: 'a.txt', type: 'text/plain', kind: 'file', description: '' } as const;
  const messageId = alice.relay.uuid();
  const sentAt = '2026-03-01T10:00:00.000Z';
  const queued = { conversationId: CHAT, messageId, text: '', sentAt, files: [{ ...facts, fileId, blobId }] };
  await alice.api.queueFiles(queued);
  await alice.flush(messageId);
  await alice.sync();
  const [message] = await alice.history(CHAT);
  const removed = vi.fn<(id: string) => Promise<void>>().mockResolvedValue();
  const log = { warn: () => undefined } as never;
  const deps = { crypto: alice.api, log, sessionEvents: createSessionEvents() };
  const unneeded = createUnneededBlobs({ deps, blobs: { remove: removed }, background: () => undefined });
  if (message === undefined) throw new Error('no message');
  const deletionId = alice.relay.uuid();
  await unneeded.note(deletionId, message);
  await inBetween(unneeded);
  const change = { kind: 'deletion', of: messageId } as const;
  await alice.api.queueChange({ conversationId: CHAT, messageId: deletionId, sentAt, change });
  return { alice, bob, deletionId, messageId, removed, unneeded, world };
}

async function sealed({ api }: TestDevice): Promise<string> {
  const { fileId } = await api.beginFile(3);
  await api.sealPiece(fileId, 0, Uint8Array.of(1, 2, 3).buffer);
  return fileId;
}

describe('the files of a message that is being deleted', () => {
  it('go from the relay once the log has the deletion, not while it waits or is on its way', async () => {
    const { alice, deletionId, removed, unneeded } = await createPlay();
    await unneeded.remove();
    await alice.flush(deletionId);
    await unneeded.remove();
    expect(removed).not.toHaveBeenCalled();
    await alice.sync();
    await unneeded.remove();
    expect(removed).toHaveBeenCalledExactlyOnceWith(blobId);
    await unneeded.remove();
    expect(removed).toHaveBeenCalledOnce();
  });

  it('go though entries come between the noting of a deletion and its queueing', async () => {
    const { alice, deletionId, removed, unneeded } = await createPlay((one) => one.remove());
    await alice.flush(deletionId);
    await alice.sync();
    await unneeded.remove();
    expect(removed).toHaveBeenCalledExactlyOnceWith(blobId);
  });

  it.each([
    ['is deleted here', ({ alice, messageId }) => alice.api.deleteMessageHere(CHAT, messageId)],
    ['has disappeared here', ({ alice, world }) => pass(world, HOUR, alice)],
  ] satisfies [string, (play: Awaited<ReturnType<typeof createPlay>>) => Promise<unknown>][])(
    'stay where the message %s meanwhile, and the deletion is called off',
    async (_what, end) => {
      const play = await createPlay();
      const { alice, deletionId, removed, unneeded } = play;
      await end(play);
      await unneeded.remove();
      await alice.api.discardMessage(deletionId);
      await unneeded.remove();
      await alice.sync();
      await unneeded.remove();
      expect(removed).not.toHaveBeenCalled();
    },
  );
});
