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

/**
 * Puts pictures into blocks by month. A block keeps its key as others come before and after it: from one to the next moves only
 * the picture for which there is no more room.
 */
export function blocksOf(items: readonly GalleryItem[]): GalleryBlock[] {
  const blocks: (GalleryBlock & { readonly monthKey: string; readonly items: GalleryItem[] })[] = [];
  // A month may come twice: the order is that of the relay, and the time that of the sender's clock.
  const months = new Map<string, { readonly month: string; blocks: number }>();
  for (const item of items) {
    const monthKey = monthKeyOf(item.message.timestamp);
    const last = blocks.at(-1);
    if (last?.monthKey === monthKey && last.items.length < blockSize) {
      last.items.push(item);
      continue;
    }
    const known = months.get(monthKey) ?? { month: monthLabel(item.message.timestamp), blocks: 0 };
    months.set(monthKey, known);
    const key = `${monthKey}/${known.blocks++}`;
    blocks.push({ key, monthKey, month: known.month, isFirst: last?.monthKey !== monthKey, items: [item] });
  }
  return blocks;
}

/** The local month, to compare by: its words take a hundred times as long. */
function monthKeyOf(timestamp: string): string {
  const date = new Date(timestamp);
  return `${date.getFullYear()}-${date.getMonth()}`;
}
