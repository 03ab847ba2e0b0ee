export interface GridPosition {
  readonly row: number;
  readonly column: number;
}

/** Rows that Page Up and Page Down move by. */
const pageRows = 5;

interface GridKey {
  readonly key: string;
  readonly ctrlKey: boolean;
}

/**
 * Returns the position that a key leads to in a grid whose rows have the given lengths. Follows the grid pattern of the
 * ARIA Authoring Practices, except that rows run on into each other. Null for a key that isn't the grid's; `above` for
 * Up in the first row.
 */
export function gridDestination(
  { key, ctrlKey }: GridKey,
  { row, column }: GridPosition,
  rowLengths: readonly number[],
  direction: 'ltr' | 'rtl',
): GridPosition | 'above' | null {
  const lastRow = rowLengths.length - 1;
  const at = (wantedRow: number, wantedColumn: number): GridPosition => {
    const inRow = Math.min(Math.max(wantedRow, 0), lastRow);
    return { row: inRow, column: Math.min(wantedColumn, (rowLengths[inRow] ?? 1) - 1) };
  };
  const endOf = (wantedRow: number) => at(wantedRow, Number.POSITIVE_INFINITY);
  const next = () => {
    if (column + 1 < (rowLengths[row] ?? 0)) return at(row, column + 1);
    return row === lastRow ? at(row, column) : at(row + 1, 0);
  };
  const previous = () => {
    if (column > 0) return at(row, column - 1);
    return row === 0 ? at(0, 0) : endOf(row - 1);
  };

  switch (key) {
    case 'ArrowRight':
      return direction === 'ltr' ? next() : previous();
    case 'ArrowLeft':
      return direction === 'ltr' ? previous() : next();
    case 'ArrowDown':
      return at(row + 1, column);
    case 'ArrowUp':
      return row === 0 ? 'above' : at(row - 1, column);
    case 'PageDown':
      return at(row + pageRows, column);
    case 'PageUp':
      return at(row - pageRows, column);
    case 'Home':
      return ctrlKey ? at(0, 0) : at(row, 0);
    case 'End':
      return ctrlKey ? endOf(lastRow) : endOf(row);
    default:
      return null;
  }
}
