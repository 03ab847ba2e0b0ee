import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { sha256 } from './canonical.ts';
import type { Place } from './chain.ts';
import { Failure } from './errors.ts';

/** The folder in which it is remembered, on this machine, how far the chain of each relay was seen. */
export function defaultStateFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const { XDG_STATE_HOME: base } = environment;
  return path.join(
    base === undefined || base === '' ? path.join(homedir(), '.local/state') : base,
    'sinetti-open',
  );
}

/**
 * Returns the end of a relay's chain as it was seen the last time; null the first time.
 * @throws Failure `malformed` for a damaged record, without which an older release could come into use
 */
export async function seenPlace(folder: string, app: string, root: string): Promise<Place | null> {
  const file = fileOf(folder, app, root);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const [, seq, hash] = /^(\d{1,9}) ([\w-]{43})\n$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw new Failure('malformed', `${file} is damaged.`);
  return { seq: Number(seq), hash };
}

/** Remembers the end of a relay's chain. */
export async function rememberPlace(
  folder: string,
  app: string,
  root: string,
  { hash, seq }: Place,
): Promise<void> {
  const file = fileOf(folder, app, root);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, `${seq} ${hash}\n`);
  await rename(`${file}.new`, file);
}

function fileOf(folder: string, app: string, root: string): string {
  return path.join(folder, `${sha256(`${app} ${root}`)}.seen`);
}
