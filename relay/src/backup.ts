import { inspect } from 'node:util';
import { readConfig } from './config.ts';
import { backUpDataFolder } from './db/sqlite/sqliteBackup.ts';
import { StartupError } from './errors.ts';

// node relay/dist/src/backup.js <new folder>: copies the data folder of a relay on SQLite, which may be running.

process.umask(0o077);

try {
  const [target] = process.argv.slice(2);
  if (target === undefined)
    throw new StartupError('Name the folder to make, e.g. /var/backups/sinetti/monday.');
  const { dataDir, databaseUrl } = readConfig(process.env);
  if (databaseUrl !== null) throw new StartupError('The database is PostgreSQL: back it up with pg_dump.');
  await backUpDataFolder(dataDir, target);
} catch (error) {
  process.stderr.write(`${error instanceof StartupError ? error.message : inspect(error)}\n`);
  process.exit(1);
}
