import { readdirSync } from 'node:fs';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '..', '..');

/** Folders that are built, installed or written by a test run. */
const made = /(?:^|\/)(?:node_modules|dist|test-results|playwright-report|fixtures)\//;

/**
 * Lists the project's files by their paths from its root, hidden folders left out. It asks the disk, not git, so that the
 * tests also run in an unpacked archive.
 * @param folders where to look; without them, everywhere
 */
export function projectFiles(...folders: string[]): string[] {
  const top = readdirSync(root, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  const places =
    folders.length > 0 ? folders : top.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const below = places
    .filter((place) => !made.test(`${place}/`))
    .flatMap((place) =>
      readdirSync(path.join(root, place), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
        ),
    );
  const own = folders.length > 0 ? [] : top.filter((entry) => entry.isFile()).map(({ name }) => name);
  return [...own, ...below.filter((file) => !made.test(file))].sort();
}
