import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'vite';

/** A script that the page names by its address, or asks for ahead. */
const named = / (?:src|href)="(\/assets\/[^"]+\.js)"/g;
const firstScript = /^ *<script type="module"/m;

/**
 * Says in the page which bytes each script of the build has, those too that are loaded later: in an import map, and beside the
 * address of each that the page names. Under `Integrity-Policy` (relay/src/http/headers.ts) a browser runs
 * no other. The files are hashed as they were written, before anything is made of the page.
 */
export function integrity(): Plugin {
  return {
    name: 'integrity',
    apply: 'build',
    writeBundle: {
      order: 'pre',
      sequential: true,
      async handler({ dir }) {
        if (dir === undefined) return;
        const page = path.join(dir, 'index.html');
        const names = (await readdir(path.join(dir, 'assets'))).filter((name) => name.endsWith('.js'));
        const hashes = new Map(
          await Promise.all(
            names.toSorted().map(async (name): Promise<[string, string]> => {
              const content = await readFile(path.join(dir, 'assets', name));
              const hash = createHash('sha256').update(content).digest('base64');
              return [`/assets/${name}`, `sha256-${hash}`];
            }),
          ),
        );
        await writeFile(page, withIntegrity(await readFile(page, 'utf8'), hashes));
      },
    },
  };
}

/**
 * Returns the page with these hashes in it.
 * @param hashes integrity metadata (Subresource Integrity, section 3.1) of scripts by their address
 * @throws Error for a page without a script, and one that names a file which isn't there
 */
export function withIntegrity(page: string, hashes: ReadonlyMap<string, string>): string {
  const map = JSON.stringify({ integrity: Object.fromEntries(hashes) });
  if (!firstScript.test(page)) throw new Error('The page has no script.');
  return (
    page
      .replace(named, (attribute, address: string) => {
        const hash = hashes.get(address);
        if (hash === undefined) throw new Error(`The page names ${address}, which isn't there.`);
        return `${attribute} integrity="${hash}"`;
      })
      // A browser takes no map once it has begun with a module.
      .replace(firstScript, (script) => `    <script type="importmap">${map}</script>\n${script}`)
  );
}
