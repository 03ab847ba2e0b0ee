import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { base64Url } from '../contract/index.ts';
import { hasCode, notWritable, StartupError } from './errors.ts';

const Secret = z.pipe(
  base64Url(32, 32),
  z.transform((text: string) => Buffer.from(text, 'base64url')),
);
const SecretsFile = z.object({ jwtSecret: Secret, decoySecret: Secret });

export interface Secrets {
  /** Signs access tokens. */
  readonly jwtSecret: Uint8Array;
  /** Makes up the salts of unknown names. */
  readonly decoySecret: Uint8Array;
}

/** Makes the data folder, readable by its owner alone, if it is not there. @throws StartupError if it can't be written to */
export async function makeDataFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartupError(`The data folder ${dataDir} can't be made: ${reason(error)}.`);
  }
  const probe = path.join(dataDir, `probe.${randomUUID()}`);
  try {
    await (await open(probe, 'wx', 0o600)).close();
    await unlink(probe);
  } catch (error) {
    // A relay on a full disk starts: what is stored can be read.
    if (!hasCode(error, 'ENOSPC') && !hasCode(error, 'EDQUOT')) throw notWritable(dataDir);
  }
}

/**
 * Reads the relay's own secrets, which are made at the first start. Several relays on one folder get the same.
 * @throws StartupError if the file can't be read or is damaged: new secrets would end every session unasked
 */
export async function loadSecrets(dataDir: string): Promise<Secrets> {
  const file = path.join(dataDir, 'secrets.json');
  let text: string;
  try {
    text = await readOrMake(file);
    // A copy from a backup may have come back readable to others.
    await chmod(file, 0o600);
  } catch (error) {
    throw new StartupError(`${file} can't be read: ${reason(error)}.`);
  }
  const parsed = SecretsFile.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new StartupError(
      `${file} is damaged. Restore it from a backup, or delete it to end every session.`,
    );
  }
  return parsed.data;
}

async function readOrMake(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  await makeDurably(file, JSON.stringify({ jwtSecret: randomSecret(), decoySecret: randomSecret() }));
  return readFile(file, 'utf8');
}

const randomSecret = () => randomBytes(32).toString('base64url');

/**
 * Makes a file unless it is there: of relays that start on one folder, all use what the first has made. Under another
 * name first, so that a crash can't leave half a file.
 */
async function makeDurably(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(unfinished, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(unfinished);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const reason = (error: unknown) => (error instanceof Error ? error.message : 'unknown reason');
