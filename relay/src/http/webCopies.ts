import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';

/** The built web client as this relay serves it: folders with `app` and `keys` in them. */
export interface WebClient {
  readonly current: string;
  /** The version before, whose hashed files pages that are still open ask for. Null if there was none. */
  readonly former: string | null;
}

const parts = ['app', 'keys'] as const;

/** A whole copy by its content, and one that is being made. */
const copyName = /^[\da-f]{32}$/;
const unfinishedName = /^[\da-f]{32}\.[\da-f-]{36}$/;
/** Milliseconds after which nobody makes it any more. */
const unfinishedLifetime = 60 * 60 * 1000;

/**
 * Copies the built client into the data folder and serves it from there: an upgrade replaces the files that it was built
 * to while this relay runs. Of earlier copies the latest one stays. Each copy is named by its content, so that relays on
 * one folder make the same one.
 * @returns null without a built client; the built one itself where it can't be copied, such as on a full disk
 */
export async function keepWebClient(
  { webDir, dataDir }: Pick<Config, 'webDir' | 'dataDir'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<WebClient | null> {
  if (!existsSync(path.join(webDir, 'app', 'index.html'))) return null;
  const copies = path.join(dataDir, 'web');
  try {
    await mkdir(copies, { recursive: true, mode: 0o700 });
    const current = path.join(copies, await contentName(webDir));
    await copyUnlessThere(webDir, current);
    const { others, broken } = await foldersIn(copies, current);
    const [former = null, ...older] = others;
    for (const folder of [...older, ...broken]) await rm(folder, { recursive: true, force: true });
    return { current, former };
  } catch (error) {
    log.warn({ err: error }, 'the web client is served from WEB_DIR: an upgrade will break open pages');
    return { current: webDir, former: null };
  }
}

/** A damaged copy is made anew. */
async function copyUnlessThere(webDir: string, copy: string): Promise<void> {
  const now = new Date();
  if (existsSync(copy)) {
    if ((await contentName(copy)) === path.basename(copy)) {
      // Its age tells which version was served last.
      await utimes(copy, now, now);
      return;
    }
    await rm(copy, { recursive: true });
  }
  const unfinished = `${copy}.${randomUUID()}`;
  try {
    for (const part of parts) {
      await cp(path.join(webDir, part), path.join(unfinished, part), { recursive: true });
    }
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another relay on this folder has made it meanwhile.
    if (!existsSync(copy)) throw error;
  }
}

/**
 * The other copies, newest first by when a relay began to serve them, and what a relay has left that was killed while it made one.
 * Anything else that lies there is the operator's.
 */
async function foldersIn(copies: string, current: string): Promise<{ others: string[]; broken: string[] }> {
  const entries = await readdir(copies, { withFileTypes: true });
  const found = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory() && path.join(copies, entry.name) !== current)
      .map(async ({ name }) => {
        const folder = path.join(copies, name);
        return { name, folder, time: (await stat(folder)).mtimeMs };
      }),
  );
  const newestFirst = found.toSorted((one, other) => other.time - one.time);
  const isBroken = ({ name, time }: (typeof found)[number]) =>
    unfinishedName.test(name) && Date.now() - time > unfinishedLifetime;
  return {
    others: newestFirst.filter(({ name }) => copyName.test(name)).map(({ folder }) => folder),
    broken: newestFirst.filter(isBroken).map(({ folder }) => folder),
  };
}

/** A digest of all files by their names. */
async function contentName(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) {
    const entries = await readdir(path.join(folder, part), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const names = files.map(({ name, parentPath }) => path.relative(folder, path.join(parentPath, name)));
    for (const name of names.toSorted()) {
      const content = await readFile(path.join(folder, name));
      hash.update(`${name.length} ${name} ${content.length} `).update(content);
    }
  }
  return hash.digest('hex').slice(0, 32);
}
