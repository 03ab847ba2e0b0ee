import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findPostgres } from './binaries.mjs';
import { freePort } from './freePort.ts';

const run = promisify(execFile);

export interface PostgresServer {
  /** The URL of a database on this server. */
  url(database: string): string;
  /** Ends the server at once, as a power cut would; what was committed must be there after `start`. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends it, and removes everything. */
  remove(): Promise<void>;
}

export interface PostgresServerOptions {
  /** True if commits wait for the disk, as they do in production. */
  readonly durable?: boolean;
  /** The URL of a database of another server, whose standby this one is to be. */
  readonly standbyOf?: string;
  /** Lines for postgresql.conf, e.g. `max_wal_size = 4GB`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * A PostgreSQL server of one's own on a free port, empty.
 * @throws Error if PostgreSQL isn't installed
 */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres();
  if (programs === null) throw new Error('PostgreSQL is not installed (Debian: apt-get install postgresql).');
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-postgres-'));
  const account = await serverAccount();
  if (account !== null) await chown(folder, account.uid, account.gid);
  const port = await freePort();
  const data = path.join(folder, 'data');
  const url = (database: string) => `postgresql://sinetti@127.0.0.1:${port}/${database}`;
  const as = { ...account, cwd: folder };
  const { standbyOf } = options;
  if (standbyOf === undefined) {
    const account = ['-U', 'sinetti', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
    await run(path.join(programs, 'initdb'), ['-D', data, ...account, '--no-sync'], as);
  } else {
    const copy = ['-d', standbyOf, '-D', data, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
    await run(path.join(programs, 'pg_basebackup'), copy, as);
  }

  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    max_connections: '200',
    fsync: options.durable === true ? 'on' : 'off',
    ...options.settings,
  };
  const settingArguments = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let server: ChildProcess | null = null;
  const end = async (signal: NodeJS.Signals) => {
    if (server === null || server.exitCode !== null) return;
    const ended = once(server, 'close');
    server.kill(signal);
    await ended;
  };
  const start = async () => {
    server = spawn(path.join(programs, 'postgres'), ['-D', data, ...settingArguments], {
      ...as,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await untilReady(server, url('postgres'));
  };
  await start();
  return {
    url,
    // An immediate shutdown: nothing is finished or written, and the next start recovers from the log.
    crash: () => end('SIGQUIT'),
    start,
    async remove() {
      await end('SIGINT');
      await rm(folder, { recursive: true });
    },
  };
}

/** PostgreSQL refuses to run as root; its package has made an account for it. */
async function serverAccount(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

async function untilReady(server: ChildProcess, url: string): Promise<void> {
  let log = '';
  server.stderr?.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4096);
  });
  while (server.exitCode === null && server.signalCode === null) {
    const client = new Client(url);
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`PostgreSQL did not start: ${log}`);
}

/** Makes a database unless it is there: a copy of a template to which nobody is connected, or an empty one. */
export async function createDatabase(serverUrl: string, name: string, template?: string): Promise<void> {
  await administer(serverUrl, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount !== 0) return;
    const source = template === undefined ? '' : ` template ${client.escapeIdentifier(template)}`;
    await client.query(`create database ${client.escapeIdentifier(name)}${source}`);
  });
}

export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await administer(serverUrl, async (client) => {
    await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
  });
}

async function administer(serverUrl: string, task: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client(serverUrl);
  await client.connect();
  try {
    await task(client);
  } finally {
    await client.end();
  }
}
