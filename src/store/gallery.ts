import { atom } from 'jotai';
import type { FileKind } from '../crypto/client.ts';
import type { ConversationKey, MessageView } from './chats.ts';
import { sessionAtom } from './sessionAtom.ts';

/** The kinds of files that a gallery shows together. */
export const galleryShelves = {
  media: ['picture', 'film'],
  files: ['file'],
  audio: ['voice', 'audio'],
} as const satisfies Record<string, readonly FileKind[]>;

export type ShelfName = keyof typeof galleryShelves;

export interface Shelf {
  /** Newest first; each has a file of the shelf. No message id twice. */
  readonly messages: readonly MessageView[];
  /** The position before which the next page begins; null at the beginning. */
  readonly before: number | null;
}

/** The gallery of a conversation, as far as it was loaded. */
export interface Gallery {
  readonly key: ConversationKey;
  readonly shelves: Readonly<Partial<Record<ShelfName, Shelf>>>;
}

/** The open gallery; null while none is: nothing of it stays. */
export const galleryAtom = sessionAtom<Gallery | null>(null);

/** All messages in it. */
export const galleryMessagesAtom = atom((get) =>
  Object.values(get(galleryAtom)?.shelves ?? {}).flatMap(({ messages }) => messages),
);

/** Changes each shelf of the open gallery that was loaded. */
export function withShelves(
  gallery: Gallery | null,
  change: (shelf: Shelf, name: ShelfName) => Shelf,
): Gallery | null {
  if (gallery === null) return null;
  const shelves = Object.entries(gallery.shelves).map(([name, shelf]) => [
    name,
    change(shelf, name as ShelfName),
  ]);
  return { ...gallery, shelves: Object.fromEntries(shelves) };
}

/** Takes a message out of the gallery that is gone here. */
export const forgetInGalleryAtom = atom(null, (_get, set, messageId: string) =>
  set(galleryAtom, (gallery) =>
    withShelves(gallery, (shelf) => ({
      ...shelf,
      messages: shelf.messages.filter((message) => message.messageId !== messageId),
    })),
  ),
);
