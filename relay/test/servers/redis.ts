import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findRedis } from './binaries.mjs';
import { freePort } from './freePort.ts';

export interface RedisServer {
  readonly url: string;
  /** Ends it at once. It keeps nothing: after `start` it is empty. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends it, and removes everything. */
  remove(): Promise<void>;
}

/**
 * A Redis server of one's own on a free port, in memory only.
 * @param more arguments of its command line
 * @throws Error if neither Redis nor Valkey is installed
 */
export async function startRedis(more: readonly string[] = []): Promise<RedisServer> {
  const program = findRedis();
  if (program === null) throw new Error('Redis is not installed (Debian: apt-get install redis-server).');
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-redis-'));
  const port = await freePort();
  let server: ChildProcess | null = null;
  const end = async (signal: NodeJS.Signals) => {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'close');
    server.kill(signal);
    await ended;
  };
  const start = async () => {
    const settings = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      ...more,
    ];
    server = spawn(program, settings, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    await untilReady(server);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    crash: () => end('SIGKILL'),
    start,
    async remove() {
      await end('SIGKILL');
      await rm(folder, { recursive: true });
    },
  };
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stdout?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4096);
      if (log.includes('Ready to accept connections')) resolve();
    });
    server.once('close', () => reject(new Error(`Redis did not start: ${log}`)));
  });
}
