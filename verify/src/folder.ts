import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { sha256 } from './chain/canonical.ts';
import { type Origin, origins, type ReleaseStatement } from './chain/statement.ts';
import type { Row } from './compare.ts';
import { largestFile } from './fetching.ts';

/**
 * Lists the files of a built client: a folder with `app` and `keys` in it. Statements, their signatures and manifests of WAICT are about the
 * client and not of it, and a `.br` file beside another is that file in another encoding.
 * @returns the SHA-256 of each by its path from the origin's root
 */
export async function filesIn(folder: string): Promise<Record<Origin, Record<string, string>>> {
  const listed = await Promise.all(origins.map(async (origin) => hashesBelow(path.join(folder, origin))));
  return { app: listed[0] ?? {}, keys: listed[1] ?? {} };
}

async function hashesBelow(root: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const names = await namesIn(root);
  const isCopy = (name: string) => name.endsWith('.br') && names.includes(name.slice(0, -'.br'.length));
  for (const name of names.filter((each) => !isAbout(each) && !isCopy(each))) {
    files[name] = await sha256(await readFile(path.join(root, name)));
  }
  return files;
}

/** Data that the relay serves as such: no page and no script has one of these names. */
function isAbout(name: string): boolean {
  return (
    /^\/\.well-known\/sinetti\/(?:release|chain\/\d{1,9})\.json(?:\.[\w-]{1,64}\.sig)?$/.test(name) ||
    /^\/\.well-known\/waict\/manifests\/[\w-]{1,64}(?:\.json)?$/.test(name)
  );
}

async function namesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map(({ name, parentPath }) => `/${path.relative(root, path.join(parentPath, name))}`)
    .map((name) => name.replaceAll(path.sep, '/'))
    .toSorted();
}

/** Compares a built client with a release; other than by asking a relay, this finds files that nothing asks for. */
export async function compareFolder(release: ReleaseStatement, folder: string): Promise<Row[]> {
  const built = await filesIn(folder);
  return Promise.all(
    origins.flatMap((origin) => {
      const expected = release.files[origin];
      const found = built[origin];
      const paths = [...new Set([...Object.keys(expected), ...Object.keys(found)])].toSorted();
      return paths.map(async (name): Promise<Row> => {
        const differences: string[] = [];
        if (found[name] === undefined) differences.push('it is missing');
        else if (expected[name] === undefined) differences.push('it is added');
        else if (found[name] !== expected[name]) differences.push('its content is another one');
        if (!(await isSameCompressed(path.join(folder, origin, name), expected[name]))) {
          differences.push('its compressed copy is of another content');
        }
        return { origin, path: name, differences };
      });
    }),
  );
}

async function isSameCompressed(file: string, hash: string | undefined): Promise<boolean> {
  const compressed = await readFile(`${file}.br`).catch(() => null);
  if (compressed === null) return true;
  try {
    return (await sha256(brotliDecompressSync(compressed, { maxOutputLength: largestFile }))) === hash;
  } catch {
    return false;
  }
}
