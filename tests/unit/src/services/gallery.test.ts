import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CryptoApi, FilesPage, MessageView } from '#src/crypto/client.ts';
import { createGallery } from '#src/services/files/gallery.ts';
import type { AttachedFile, FileKind } from '#src/store/files.ts';
import { forgetInGalleryAtom, galleryAtom, galleryMessagesAtom } from '#src/store/gallery.ts';
import { me, peer, received, state, type TestDeps, testDeps } from './support/deps.ts';

const file = (kind: FileKind): AttachedFile => ({
  kind,
  name: 'lake',
  type: 'image/webp',
  size: 9,
  description: '',
});
const withFiles = (seq: number, kind: FileKind = 'picture', rest: Partial<MessageView> = {}) =>
  received(seq, { content: { kind: 'files', text: '', files: [file(kind)] }, ...rest });

let deps: TestDeps;
let load: ReturnType<typeof createGallery>;
const messagesWithFiles = vi.fn<CryptoApi['messagesWithFiles']>();

beforeEach(() => {
  messagesWithFiles.mockReset();
  deps = testDeps({ crypto: { messagesWithFiles } });
  load = createGallery({ deps, ownUserId: me });
  deps.store.set(galleryAtom, { key: peer, shelves: {} });
});

const shown = (name: 'audio' | 'files' | 'media' = 'media') =>
  deps.store.get(galleryAtom)?.shelves[name]?.messages.map(({ messageId }) => messageId);
const processed = (messages: readonly MessageView[], conversationId = state().conversationId) =>
  deps.sessionEvents.emit('entriesProcessed', { messages, events: [], state: state({ conversationId }) });

describe('the gallery of a conversation', () => {
  it('is loaded page by page, a shelf by itself, up to the beginning', async () => {
    messagesWithFiles
      .mockResolvedValueOnce({ messages: [withFiles(9), withFiles(7)], before: 7 })
      .mockResolvedValueOnce({ messages: [withFiles(2)], before: null })
      .mockResolvedValueOnce({ messages: [], before: null });
    await load(peer, 'media');
    await load(peer, 'media');
    expect(shown()).toEqual(['m9', 'm7', 'm2']);
    await load(peer, 'media');
    await load(peer, 'audio');
    expect(shown('audio')).toEqual([]);
    expect(messagesWithFiles.mock.calls.map(([, page]) => [page.kinds, page.before])).toEqual([
      [['picture', 'film'], null],
      [['picture', 'film'], 7],
      [['voice', 'audio'], null],
    ]);
  });

  it('follows what comes, is changed and is deleted, as far as it reaches', async () => {
    messagesWithFiles.mockResolvedValueOnce({ messages: [withFiles(9), withFiles(7)], before: 5 });
    await load(peer, 'media');
    processed([withFiles(10), withFiles(11, 'file'), received(12)]);
    expect(shown()).toEqual(['m10', 'm9', 'm7']);
    // A page of those before it is still to come.
    processed([withFiles(3)]);
    expect(shown()).toEqual(['m10', 'm9', 'm7']);
    processed([received(9, { content: { kind: 'deleted' } })]);
    expect(shown()).toEqual(['m10', 'm7']);
    deps.store.set(forgetInGalleryAtom, 'm7');
    expect(shown()).toEqual(['m10']);
    processed([withFiles(13)], `group:${'d'.repeat(8)}-0000-4000-8000-000000000001`);
    expect(shown()).toEqual(['m10']);
  });

  it('has a message of the outbox once, also as the log has it', async () => {
    const waiting = withFiles(9, 'picture', { seq: null, status: 'sending' });
    messagesWithFiles.mockResolvedValueOnce({ messages: [waiting, withFiles(8)], before: null });
    await load(peer, 'media');
    expect(shown()).toEqual(['m9', 'm8']);
    processed([withFiles(10), withFiles(9)]);
    expect(shown()).toEqual(['m10', 'm9', 'm8']);
  });

  it('has its messages that have timers watched, whichever the chat shows', async () => {
    const clocks = vi.fn<() => void>();
    deps.sessionEvents.on('clocksStarted', () => {
      // By then they are among those that are watched.
      if (deps.store.get(galleryMessagesAtom).some(({ timer }) => timer !== undefined)) clocks();
    });
    const timed = withFiles(2, 'picture', { timer: 3600 });
    messagesWithFiles
      .mockResolvedValueOnce({ messages: [withFiles(9)], before: 9 })
      .mockResolvedValueOnce({ messages: [timed], before: null });
    await load(peer, 'media');
    expect(clocks).not.toHaveBeenCalled();
    await load(peer, 'media');
    expect(clocks).toHaveBeenCalledOnce();
  });

  it('that was closed, or opened for another conversation, takes no late page', async () => {
    let answer: (page: FilesPage) => void = () => undefined;
    messagesWithFiles.mockImplementation(() => new Promise((resolve) => void (answer = resolve)));
    const late = load(peer, 'media');
    deps.store.set(galleryAtom, { key: me, shelves: {} });
    answer({ messages: [withFiles(9)], before: null });
    await late;
    expect(deps.store.get(galleryAtom)).toEqual({ key: me, shelves: {} });
    processed([withFiles(10)]);
    expect(deps.store.get(galleryAtom)).toEqual({ key: me, shelves: {} });
  });

  it('says in words that it could not be loaded', async () => {
    messagesWithFiles.mockRejectedValueOnce(new Error('storage'));
    await expect(load(peer, 'media')).rejects.toMatchObject({
      message: 'The files of this conversation could not be loaded.',
    });
    expect(shown()).toBeUndefined();
  });
});
