// oxlint-disable jsx-a11y/prefer-tag-over-role -- a table with a button in each cell has twice the elements
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type Ref,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';
import styles from './EmojiGrid.module.css';
import { type GridPosition, gridDestination } from './gridNavigation.ts';

const columns = 8;

export interface EmojiCell {
  readonly character: string;
  readonly name: string;
}

export interface EmojiSection {
  /** Title above the section if there are several. */
  readonly title: string | null;
  readonly cells: readonly EmojiCell[];
}

export interface EmojiGridHandle {
  /** Moves the focus to the cell that is the tab stop. */
  focus(): void;
}

interface EmojiGridProps {
  ref?: Ref<EmojiGridHandle>;
  /** Its accessible name. */
  label: string;
  /** Sections, none of them empty. */
  sections: readonly EmojiSection[];
  onPick: (character: string) => void;
  /** Up was pressed in the first row. */
  onLeaveUpwards: () => void;
}

/**
 * Emojis in rows. One cell is a tab stop, the keys of the grid pattern lead to the others. Rows out of sight are there,
 * but the browser doesn't lay them out.
 */
export function EmojiGrid({ ref, label, sections, onPick, onLeaveUpwards }: EmojiGridProps) {
  const grid = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<GridPosition>({ row: 0, column: 0 });

  const rowsOf = sections.map(({ cells }) => rowsFrom(cells));
  const rows = rowsOf.flat();
  const active = rows[chosen.row]?.[chosen.column] === undefined ? { row: 0, column: 0 } : chosen;

  function focus(position: GridPosition) {
    setChosen(position);
    cellAt(grid.current, position)?.focus();
  }
  useImperativeHandle(ref, () => ({ focus: () => focus(active) }));

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    if (event.altKey || event.metaKey) return;
    const direction = getComputedStyle(event.currentTarget).direction === 'rtl' ? 'rtl' : 'ltr';
    const lengths = rows.map((row) => row.length);
    const to = gridDestination(event, active, lengths, direction);
    if (to === null) return;
    event.preventDefault();
    if (to === 'above') onLeaveUpwards();
    else focus(to);
  }

  function onClick({ target }: MouseEvent) {
    const character = target instanceof Element ? target.closest('button')?.textContent : null;
    if (character) onPick(character);
  }

  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the cells are buttons, whose keys click
    <div
      ref={grid}
      className={styles.grid}
      role="grid"
      tabIndex={-1}
      aria-label={label}
      aria-rowcount={rows.length}
      aria-colcount={columns}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      {sections.map(({ title }, section) => {
        const firstRow = rowsOf.slice(0, section).reduce((sum, before) => sum + before.length, 0);
        return (
          // oxlint-disable-next-line react/no-array-index-key -- sections have no other identity
          <div key={section} role="rowgroup" aria-label={title ?? undefined}>
            {title !== null && (
              <p className={styles.title} aria-hidden="true">
                {title}
              </p>
            )}
            {rowsOf[section]?.map((cells, index) => (
              <Row
                // oxlint-disable-next-line react/no-array-index-key -- a row is its place
                key={index}
                cells={cells}
                row={firstRow + index}
                tabStop={active.row === firstRow + index ? active.column : null}
                onFocus={setChosen}
              />
            ))}
          </div>
        );
      })}
    </div>
  );
}

interface RowProps {
  cells: readonly EmojiCell[];
  row: number;
  tabStop: number | null;
  onFocus: (position: GridPosition) => void;
}

const Row = memo(function Row({ cells, row, tabStop, onFocus }: RowProps) {
  return (
    <div role="row" className={styles.row} aria-rowindex={row + 1}>
      {cells.map(({ character, name }, column) => (
        <button
          key={character}
          type="button"
          role="gridcell"
          className={styles.cell}
          data-cell={`${row} ${column}`}
          tabIndex={column === tabStop ? 0 : -1}
          aria-label={name}
          aria-colindex={column + 1}
          title={name}
          onFocus={() => onFocus({ row, column })}
        >
          {character}
        </button>
      ))}
    </div>
  );
}, sameRow);

/** Compares by content: the cells are made anew with every render, but rarely differ. */
function sameRow(before: RowProps, after: RowProps): boolean {
  return (
    before.row === after.row &&
    before.tabStop === after.tabStop &&
    before.cells.length === after.cells.length &&
    before.cells.every(({ character }, index) => character === after.cells[index]?.character)
  );
}

function rowsFrom(cells: readonly EmojiCell[]): EmojiCell[][] {
  const count = Math.ceil(cells.length / columns);
  return Array.from({ length: count }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
}

function cellAt(grid: HTMLElement | null, { row, column }: GridPosition): HTMLElement | null {
  return grid?.querySelector<HTMLElement>(`[data-cell="${row} ${column}"]`) ?? null;
}
