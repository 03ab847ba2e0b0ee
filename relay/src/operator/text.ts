/** Strangers' text without what would move the cursor, or ring the bell, of whoever reads it. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '�');

/** JSON in several lines, in which such characters of strangers' text are escaped: it is read at a terminal, too. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/(?!\n)\p{C}/gu, (character) =>
    Array.from(
      { length: character.length },
      (_unit, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** E.g. `2026-03-01 12:00`, in UTC; `-` for null. */
export function when(time: number | null): string {
  return time === null ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

export const isoTime = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString();

/** E.g. `1.5 MB`. */
export function size(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Lines with columns as wide as their longest cell, the last one apart. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => cells.map(printable));
  const widths = head.map((_name, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A line for each fact, its name before it. */
export function facts(of: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(of).map((name) => name.length));
  return Object.entries(of)
    .map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`.trimEnd())
    .join('\n');
}
