import type { MessageView } from '../../store/chats.ts';
import type { AttachedFile, FilePlace } from '../../store/files.ts';
import { galleryShelves, type ShelfName } from '../../store/gallery.ts';
import { monthLabel } from '../../ui/format.ts';

/** A file of a gallery. */
export interface GalleryItem {
  readonly key: string;
  readonly message: MessageView;
  readonly file: AttachedFile;
  readonly place: FilePlace;
}

/** Rows of a grid that are drawn together, all of one month. */
export interface GalleryBlock {
  readonly key: string;
  readonly month: string;
  /** The first of its month stands below a heading. */
  readonly isFirst: boolean;
  readonly items: readonly GalleryItem[];
}

/** Pictures of a block: in 3, 4 or 6 columns they fill whole rows. */
export const blockSize = 12;

/** Lists the files of a shelf, newest first: of one message the last one first, since it is the newest. */
export function itemsOf(messages: readonly MessageView[], name: ShelfName): GalleryItem[] {
  const kinds: readonly string[] = galleryShelves[name];
  return messages.flatMap((message) => {
    const { content, conversationId, messageId } = message;
    if (content.kind !== 'files') return [];
    const items = content.files.map((file, index) => ({
      key: `${messageId}/${index}`,
      message,
      file,
      place: { conversationId, messageId, index },
    }));
    return items.filter(({ file }) => kinds.includes(file.kind)).toReversed();
  });
}

/** Puts pictures into blocks by month. */
export function blocksOf(items: readonly GalleryItem[]): GalleryBlock[] {
  const blocks: (GalleryBlock & { readonly items: GalleryItem[] })[] = [];
  for (const item of items) {
    const month = monthLabel(item.message.timestamp);
    const last = blocks.at(-1);
    if (last?.month === month && last.items.length < blockSize) last.items.push(item);
    else blocks.push({ key: item.key, month, isFirst: last?.month !== month, items: [item] });
  }
  return blocks;
}
