import { useAtomValue } from 'jotai';
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { t } from '../../i18n/i18n.ts';
import { ownOrOtherNameAtom } from '../../store/mentions.ts';
import { messageTime } from '../../store/messageTime.ts';
import { fullTimestamp } from '../../ui/format.ts';
import { VirtualList } from '../../ui/VirtualList.tsx';
import { durationText } from './durationText.ts';
import { mediaWords } from './fileWords.ts';
import styles from './GalleryGrid.module.css';
import { blocksOf, type GalleryBlock, type GalleryItem } from './galleryItems.ts';
import { Glyph } from './glyphs.tsx';
import { PictureViewer } from './PictureViewer.tsx';
import { previewUrl } from './preview.ts';

export interface GalleryPartProps {
  items: readonly GalleryItem[];
  /** Differs from page to page, as long as there are more. */
  page: number | null;
  /** The last of them is about to be seen. */
  onNearEnd: () => void;
  onGoTo: (messageId: string) => void;
}

const keyOf = ({ key }: GalleryBlock) => key;
/** Pixels of a block with a heading, on a phone. */
const estimatedHeight = 480;
const gap = 4;

/** Pictures and films by month. The arrow keys lead from one to the next in every direction. */
export function GalleryGrid({ items, page, onNearEnd, onGoTo }: GalleryPartProps) {
  const blocks = useMemo(() => blocksOf(items), [items]);
  const [active, setActive] = useState<string | null>(null);
  const [opened, setOpened] = useState<GalleryItem | null>(null);
  const [isOpen, setOpen] = useState(false);
  const grid = useRef<HTMLDivElement>(null);
  const onFocused = useKeptFocus(grid);
  const last = blocks.at(-1);
  // As in the conversation: the one before a picture is older.
  const ascending = useMemo(() => items.toReversed(), [items]);

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const to = neighbour(event);
    if (to === null) return;
    // The list would lead to the next rows by it.
    event.preventDefault();
    to.focus();
  }

  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- keys pressed on the pictures in it */}
      <div ref={grid} onKeyDownCapture={onKeyDown}>
        <VirtualList
          label={t('gallery.media')}
          items={blocks}
          keyOf={keyOf}
          estimatedHeight={estimatedHeight}
          gap={gap}
        >
          {(block, { tabIndex }) => (
            <>
              <Block
                block={block}
                active={tabIndex === 0 ? activeIn(block, active) : null}
                onActive={(key) => {
                  setActive(key);
                  onFocused(key);
                }}
                onLeft={() => onFocused(null)}
                onOpen={(item) => {
                  setOpened(item);
                  setOpen(true);
                }}
              />
              {block === last && <NearEnd page={page} onNearEnd={onNearEnd} />}
            </>
          )}
        </VirtualList>
      </div>
      {opened !== null && (
        <PictureViewer
          key={opened.key}
          open={isOpen}
          onOpenChange={setOpen}
          first={opened}
          gallery={{
            items: ascending,
            onOldest: onNearEnd,
            onGoTo(messageId) {
              setOpen(false);
              onGoTo(messageId);
            },
          }}
        />
      )}
    </>
  );
}

/** Returns what is to be told which picture has the focus: one that moves to another block is drawn anew, and has it again there. */
function useKeptFocus(grid: RefObject<HTMLElement | null>) {
  const focused = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (focused.current === null || document.activeElement !== document.body) return;
    tilesIn(grid.current)
      .find(({ dataset }) => dataset['galleryTile'] === focused.current)
      ?.focus({ preventScroll: true });
  });
  return (key: string | null) => {
    focused.current = key;
  };
}

function tilesIn(grid: HTMLElement | null): HTMLElement[] {
  return [...(grid?.querySelectorAll<HTMLElement>('[data-gallery-tile]') ?? [])];
}

/** Loads the next page as the last row is drawn, and goes on where that was not enough. */
export function NearEnd({ page, onNearEnd }: Pick<GalleryPartProps, 'onNearEnd' | 'page'>) {
  const near = useEffectEvent(onNearEnd);
  useEffect(() => {
    if (page !== null) near();
  }, [page]);
  return null;
}

/** One picture of a block is a tab stop: the one that had the focus last, else the first. */
function activeIn({ items }: GalleryBlock, active: string | null): string | null {
  return items.some(({ key }) => key === active) ? active : (items[0]?.key ?? null);
}

interface BlockProps {
  block: GalleryBlock;
  /** The picture that the Tab key reaches; null for none. */
  active: string | null;
  onActive: (key: string) => void;
  onLeft: () => void;
  onOpen: (item: GalleryItem) => void;
}

function Block({ block: { isFirst, items, month }, active, onActive, onLeft, onOpen }: BlockProps) {
  return (
    <>
      {isFirst && <h3 className={styles.month}>{month}</h3>}
      <ul className={styles.grid} aria-label={month}>
        {items.map((item) => (
          <li key={item.key}>
            <Tile
              item={item}
              tabIndex={item.key === active ? 0 : -1}
              onFocus={() => onActive(item.key)}
              onBlur={onLeft}
              onOpen={() => onOpen(item)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

interface TileProps {
  item: GalleryItem;
  tabIndex: 0 | -1;
  onFocus: () => void;
  onBlur: () => void;
  onOpen: () => void;
}

/** Many of them are drawn at once: none fetches its picture, which the viewer does. */
function Tile({ item: { file, key, message }, tabIndex, onBlur, onFocus, onOpen }: TileProps) {
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const small = useMemo(() => file.preview && previewUrl(file.preview), [file.preview]);
  const time = fullTimestamp(messageTime(message).shown);
  return (
    <button
      type="button"
      className={styles.tile}
      tabIndex={tabIndex}
      aria-haspopup="dialog"
      aria-label={t('gallery.view', { name: mediaWords(file), author: nameOf(message.senderId), time })}
      data-gallery-tile={key}
      onBlur={onBlur}
      onFocus={onFocus}
      onClick={onOpen}
    >
      {small !== undefined && <img className={styles.image} src={small} alt="" />}
      {(file.kind === 'film' || small === undefined) && (
        <span className={styles.mark}>
          <Glyph shape={file.kind === 'film' ? 'play' : 'picture'} />
        </span>
      )}
      {file.duration !== undefined && (
        <span className={styles.time} aria-hidden="true">
          {durationText(file.duration / 1000)}
        </span>
      )}
    </button>
  );
}

/** Returns the picture that an arrow key leads to, of those that are drawn; null for another key, and at the ends. */
function neighbour(event: KeyboardEvent<HTMLElement>): HTMLElement | null {
  const { altKey, ctrlKey, currentTarget, key, metaKey, shiftKey, target } = event;
  const tiles = tilesIn(currentTarget);
  const at = tiles.findIndex((tile) => tile === target);
  if (at < 0 || altKey || ctrlKey || metaKey || shiftKey) return null;
  const forwards = getComputedStyle(currentTarget).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight':
      return tiles[at + (key === forwards ? 1 : -1)] ?? null;
    case 'ArrowUp':
      return nearest(tiles.slice(0, at).reverse(), tiles[at]);
    case 'ArrowDown':
      return nearest(tiles.slice(at + 1), tiles[at]);
    default:
      return null;
  }
}

/** Returns the tile of the next row that is closest to one; of a shorter row its last. @param tiles from the one on */
function nearest(tiles: readonly HTMLElement[], from: HTMLElement | undefined): HTMLElement | null {
  if (from === undefined) return null;
  const { left, top } = from.getBoundingClientRect();
  const placed = tiles.map((tile) => ({ tile, box: tile.getBoundingClientRect() }));
  const next = placed.find(({ box }) => box.top !== top)?.box.top;
  const row = placed.filter(({ box }) => box.top === next);
  const away = (box: DOMRect) => Math.abs(box.left - left);
  return row.sort((one, other) => away(one.box) - away(other.box))[0]?.tile ?? null;
}
