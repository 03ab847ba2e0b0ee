import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  type RefObject,
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import styles from './VirtualList.module.css';

/** Rows drawn beyond either edge, so that scrolling shows no blank. */
const overscan = 8;

export interface VirtualListHandle {
  /** Brings the row into sight and moves the focus to its first control. */
  focus(key: string): void;
}

/** Props for each control of a row: one row of the list is a tab stop, the arrow keys lead to the others. */
export interface RowControls {
  readonly tabIndex: 0 | -1;
}

interface VirtualListProps<T> {
  ref?: Ref<VirtualListHandle>;
  /** Its accessible name, where no heading says it. */
  label?: string;
  items: readonly T[];
  /** Unlike any other item's. Keep the function the same from render to render. */
  keyOf: (item: T) => string;
  /** Pixels, until the row is drawn and measured. */
  estimatedHeight: number;
  /** Pixels between rows and between columns. */
  gap?: number;
  /** Pixels: as many columns as are at least this wide. One column without it. */
  minColumnWidth?: number;
  /** Key of the row that Tab leads to first, such as the open one; else the topmost. */
  current?: string | null;
  children: (item: T, controls: RowControls) => ReactNode;
}

/**
 * A list of any length that draws only the rows in sight. It scrolls with the nearest scrolling ancestor, in which the
 * content above the list may change its height. Up, Down, Page Up, Page Down, Home and End move the focus from row
 * to row (and Left and Right where there are columns).
 */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, gap = 0, minColumnWidth, current = null } = props;
  const list = useRef<HTMLUListElement>(null);
  const scroller = useRef<HTMLElement | null>(null);
  const { margin, columns } = useGeometry(list, minColumnWidth, gap);

  const indexOf = useMemo(() => new Map(items.map((item, index) => [keyOf(item), index])), [items, keyOf]);
  const [active, setActive] = useState<string | null>(null);
  const tabStop = indexOf.get(active ?? '') ?? indexOf.get(current ?? '') ?? 0;

  // oxlint-disable-next-line react/incompatible-library -- what it returns goes to no memoized component
  const virtualizer = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: items.length,
    getScrollElement: () => (scroller.current ??= scrollerOf(list.current)),
    getItemKey: useCallback((index: number) => keyOf(items[index] as T), [items, keyOf]),
    estimateSize: () => props.estimatedHeight,
    gap,
    lanes: columns,
    overscan,
    scrollMargin: margin,
    // The tab stop stays drawn wherever the list is scrolled, so that the focus is never lost with its row.
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range);
      return indexes.includes(tabStop) || tabStop >= range.count
        ? indexes
        : [...indexes, tabStop].sort((a, b) => a - b);
    },
  });

  const wanted = useRef<string | null>(null);

  function focusWanted() {
    const index = indexOf.get(wanted.current ?? '');
    const control = index === undefined ? null : firstControl(list.current, index);
    if (control === null) return;
    wanted.current = null;
    control.focus({ preventScroll: true });
  }
  useLayoutEffect(focusWanted);

  function focus(key: string) {
    const index = indexOf.get(key);
    if (index === undefined) return;
    wanted.current = key;
    setActive(key);
    virtualizer.scrollToIndex(index);
    focusWanted();
  }
  useImperativeHandle(props.ref, () => ({ focus }));

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const from = rowIndex(event);
    if (from === null) return;
    const inSight = virtualizer.calculateRange();
    const page = inSight === null ? 1 : Math.max(1, inSight.endIndex - inSight.startIndex - columns);
    const to = destination(event, { from, columns, page, last: items.length - 1 });
    const item = to === null ? undefined : items[to];
    if (item === undefined) return;
    event.preventDefault();
    focus(keyOf(item));
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys pressed on the controls in it
    <ul
      ref={list}
      className={styles.list}
      style={{ height: virtualizer.getTotalSize() }}
      aria-label={props.label}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        const item = items[indexWithin(event.target, event.currentTarget) ?? -1];
        if (item !== undefined) setActive(keyOf(item));
      }}
    >
      {virtualizer.getVirtualItems().map(({ index, key, lane, start }) => (
        <li
          key={key}
          ref={virtualizer.measureElement}
          data-index={index}
          className={styles.row}
          style={{
            inlineSize: `calc((100% - ${gap * (columns - 1)}px) / ${columns})`,
            insetInlineStart: `calc((100% + ${gap}px) / ${columns} * ${lane})`,
            transform: `translateY(${start - margin}px)`,
          }}
          aria-posinset={index + 1}
          aria-setsize={items.length}
        >
          {props.children(items[index] as T, { tabIndex: index === tabStop ? 0 : -1 })}
        </li>
      ))}
    </ul>
  );
}

/** The nearest ancestor that scrolls, else the page's root. */
function scrollerOf(element: HTMLElement | null): HTMLElement | null {
  if (element === null) return null;
  for (let ancestor = element.parentElement; ancestor !== null; ancestor = ancestor.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(ancestor).overflowY)) return ancestor;
  }
  return document.documentElement;
}

/** Measures the pixels of scrolled content above the list, and how many columns fit into it. */
function useGeometry(list: RefObject<HTMLElement | null>, minColumnWidth: number | undefined, gap: number) {
  const [margin, setMargin] = useState(0);
  const [columns, setColumns] = useState(1);
  useLayoutEffect(() => {
    const element = list.current;
    const scroller = scrollerOf(element);
    if (element === null || scroller === null) return undefined;
    const measure = () => {
      if (scroller.clientHeight === 0) return;
      const top = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
      setMargin(Math.round(top - scroller.clientTop + scroller.scrollTop));
      if (minColumnWidth === undefined) return;
      setColumns(Math.max(1, Math.floor((element.clientWidth + gap) / (minColumnWidth + gap))));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(scroller);
    // The content above may have grown since.
    scroller.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener('scroll', measure);
    };
  }, [list, minColumnWidth, gap]);
  return { margin, columns: minColumnWidth === undefined ? 1 : columns };
}

const controls = ':is(a[href], button, input, select, textarea, [tabindex]):not(:disabled)';

function firstControl(list: HTMLElement | null, index: number): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`:scope > [data-index="${index}"] ${controls}`) ?? null;
}

/** Index of the row that contains an element; null for an element elsewhere, such as in a row's popup. */
function indexWithin(element: EventTarget, list: Element): number | null {
  const row = element instanceof Element ? element.closest('[data-index]') : null;
  return row === null || row.parentElement !== list ? null : Number(row.getAttribute('data-index'));
}

/** Index of the row in which a key was pressed; null in a text field, with a modifier or in a popup. */
function rowIndex(event: KeyboardEvent<HTMLElement>): number | null {
  const modified = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
  if (event.defaultPrevented || modified) return null;
  if (event.target instanceof Element && event.target.matches('input, select, textarea')) return null;
  return indexWithin(event.target, event.currentTarget);
}

interface Position {
  readonly from: number;
  readonly columns: number;
  /** Rows in sight. */
  readonly page: number;
  readonly last: number;
}

/** The row that a key leads to, or null for a key that leads nowhere. */
function destination(
  { key, currentTarget }: KeyboardEvent<HTMLElement>,
  { from, columns, page, last }: Position,
): number | null {
  const within = (index: number) => Math.min(Math.max(index, 0), last);
  const forwards = getComputedStyle(currentTarget).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
  switch (key) {
    case 'ArrowUp':
      return from < columns ? from : from - columns;
    case 'ArrowDown':
      return from + columns > last ? from : from + columns;
    case 'ArrowLeft':
    case 'ArrowRight':
      return columns === 1 ? null : within(from + (key === forwards ? 1 : -1));
    case 'PageUp':
      return within(from - page);
    case 'PageDown':
      return within(from + page);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
