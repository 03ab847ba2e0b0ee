import { copyFile, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import Database from 'libsql';
import { StartupError } from '../../errors.ts';

/**
 * Copies a data folder as it is at one moment, while a relay runs on it or not. The copy is a data folder itself: with
 * everything that was acknowledged before this was called, and nothing half done.
 * @param target a folder that is not there yet
 * @throws StartupError if there is nothing to copy, or the target is there
 */
export async function backUpDataFolder(dataDir: string, target: string): Promise<void> {
  const file = path.join(dataDir, 'relay.db');
  // Opening would make an empty one.
  if (!(await exists(file))) throw new StartupError(`There is no relay.db in ${dataDir}. Set DATA_DIR.`);
  if (await exists(target)) throw new StartupError(`${target} is there already. Name a folder that is not.`);
  await mkdir(target, { recursive: true, mode: 0o700 });
  const database = new Database(file);
  try {
    // A relay at work has the file to itself for a moment now and then, as when it takes in its write-ahead log.
    database.pragma('busy_timeout = 10000');
    // The form that gives space back, which a large file of before gets by this alone.
    database.pragma('auto_vacuum = INCREMENTAL');
    // One read transaction, which keeps no writer waiting; what was deleted is not in the copy.
    database.prepare('vacuum into ?').run(path.join(target, 'relay.db'));
  } finally {
    database.close();
  }
  await copyFile(path.join(dataDir, 'secrets.json'), path.join(target, 'secrets.json'));
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
