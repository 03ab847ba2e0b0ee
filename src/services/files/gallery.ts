import type { MessageView } from '../../crypto/client.ts';
import { t } from '../../i18n/i18n.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { galleryAtom, galleryShelves, type Shelf, type ShelfName, withShelves } from '../../store/gallery.ts';
import { conversationOf, keyOf } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { toAppError } from '../core/failures.ts';

/** Messages of a page: some screens of pictures, and few enough that their previews cross at once. */
const pageSize = 60;

interface GalleryOptions {
  readonly deps: Pick<SessionDeps, 'crypto' | 'sessionEvents' | 'store'>;
  readonly ownUserId: string;
}

/** Returns a function that loads the next page of a shelf, and keeps the open gallery as its conversation is by now. */
export function createGallery({ deps, ownUserId }: GalleryOptions) {
  const { crypto, sessionEvents, store } = deps;

  sessionEvents.on('entriesProcessed', ({ messages, state }) => {
    const gallery = store.get(galleryAtom);
    if (gallery === null || messages.length === 0) return;
    if (keyOf(state.conversationId, ownUserId) !== gallery.key) return;
    store.set(
      galleryAtom,
      withShelves(gallery, (shelf, name) => ({ ...shelf, messages: withNews(shelf, name, messages) })),
    );
  });

  return async (key: ConversationKey, name: ShelfName): Promise<void> => {
    const conversationId = conversationOf(key, ownUserId);
    const shelfNow = () => {
      const gallery = store.get(galleryAtom);
      return gallery?.key === key ? gallery.shelves[name] : undefined;
    };
    const before = shelfNow()?.before;
    if (conversationId === null || before === null) return;
    try {
      const kinds = galleryShelves[name];
      const page = await crypto.messagesWithFiles(conversationId, {
        kinds,
        before: before ?? null,
        limit: pageSize,
      });
      const shelf = shelfNow();
      // It was closed meanwhile, or has this page.
      if (store.get(galleryAtom)?.key !== key || shelf?.before !== before) return;
      const loaded = { messages: merged(shelf?.messages ?? [], page.messages), before: page.before };
      store.set(
        galleryAtom,
        (gallery) => gallery && { ...gallery, shelves: { ...gallery.shelves, [name]: loaded } },
      );
      // The chat may show none that has a timer, and then nothing else waits for the end of these.
      if (page.messages.some(({ timer }) => timer !== undefined)) sessionEvents.emit('clocksStarted', {});
    } catch (error) {
      throw toAppError(error, t('gallery.failed'));
    }
  };
}

/** Takes in what was changed of messages that the shelf reaches: also that they were deleted. */
function withNews(
  { before, messages }: Shelf,
  name: ShelfName,
  news: readonly MessageView[],
): readonly MessageView[] {
  const kinds: readonly string[] = galleryShelves[name];
  const changed = new Set(news.map(({ messageId }) => messageId));
  const kept = messages.filter(({ messageId }) => !changed.has(messageId));
  const added = news.filter(
    ({ content, seq }) =>
      content.kind === 'files' &&
      content.files.some(({ kind }) => kinds.includes(kind)) &&
      (seq === null || before === null || seq >= before),
  );
  return kept.length === messages.length && added.length === 0 ? messages : merged(kept, added);
}

/** Puts messages in the order of the gallery: newest first, led by those that the log doesn't have yet. */
function merged(present: readonly MessageView[], added: readonly MessageView[]): readonly MessageView[] {
  const byId = new Map([...present, ...added].map((message) => [message.messageId, message]));
  const last = Number.POSITIVE_INFINITY;
  const place = ({ seq }: MessageView) => seq ?? last;
  return [...byId.values()].sort((one, other) =>
    place(one) === place(other)
      ? Date.parse(other.timestamp) - Date.parse(one.timestamp)
      : place(other) - place(one),
  );
}
