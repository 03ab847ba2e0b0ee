import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { sha256 } from './chain/canonical.ts';
import type { Place } from './chain/chain.ts';
import { Failure } from './chain/errors.ts';

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
  const file = await fileOf(folder, app, root);
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
  const file = await fileOf(folder, app, root);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Another run may have seen more of the chain meanwhile: the relay decides how long each one takes.
  const seen = await seenPlace(folder, app, root);
  if (seen !== null && seen.seq >= seq) return;
  const written = `${file}.${randomUUID()}.new`;
  await writeFile(written, `${seq} ${hash}\n`, { flag: 'wx' });
  await rename(written, file);
}

/** The first and the last port that relays get by themselves, each with the one after it for its keys. */
const ports = { first: 20_000, last: 29_998 } as const;

/**
 * Returns the port at which a relay is opened, always the same one: a browser keeps an account, and its session, for the origin,
 * and gives both to whatever is opened there.
 * @param asked the port that the reader names; null for the next one that is no other relay's
 * @throws Failure `usage` for a port that is another relay's
 */
export async function portOf(folder: string, relay: string, asked: number | null): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pairs = (ports.last - ports.first) / 2 + 1;
  const from = createHash('sha256').update(relay).digest().readUInt16BE() % pairs;
  const candidates =
    asked === null
      ? Array.from({ length: pairs }, (_, i) => ports.first + 2 * ((from + i) % pairs))
      : [asked];
  let holder = '';
  for (const port of candidates) {
    const holders = [await holderOf(folder, relay, port), await holderOf(folder, relay, port + 1)];
    const other = holders.find((one) => one !== relay);
    if (other === undefined) return port;
    holder = other;
  }
  throw new Failure('usage', `At this port ${holder} was opened before: name another --port.`);
}

/** Takes a port for a relay, unless it is another one's. @returns the relay whose it is */
async function holderOf(folder: string, relay: string, port: number): Promise<string> {
  const file = path.join(folder, `port-${port}`);
  await writeFile(file, `${relay}\n`, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return (await readFile(file, 'utf8')).trim();
}

async function fileOf(folder: string, app: string, root: string): Promise<string> {
  return path.join(folder, `${await sha256(`${app} ${root}`)}.seen`);
}
