import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'libsql';

const run = promisify(execFile);

const root = join(import.meta.dirname, '..', '..', '..');

/** A build of the relay, and what is to be done about it afterwards. */
interface Build {
  readonly program: string;
  readonly remove: () => Promise<void>;
}

const built: Build = { program: join(root, 'relay/dist/src/server.js'), remove: () => Promise.resolve() };

/** The product as `npm start` runs it, on a free port and a data folder of its own. */
export class RunningRelay {
  readonly url: string;
  readonly dataDir: string;
  readonly #process: ChildProcess;
  readonly #output: string[];
  readonly #ended: Promise<unknown>;
  readonly #build: Build;

  private constructor(url: string, dataDir: string, process: ChildProcess, output: string[], build: Build) {
    this.url = url;
    this.dataDir = dataDir;
    this.#process = process;
    this.#output = output;
    this.#build = build;
    this.#ended = new Promise((resolve) => process.once('exit', resolve));
  }

  static async start(
    environment: Readonly<Record<string, string>> = {},
    build: Build = built,
  ): Promise<RunningRelay> {
    const dataDir = await mkdtemp(join(tmpdir(), 'sinetti-e2e-'));
    const child = spawn(process.execPath, [build.program], {
      env: { ...process.env, PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'info', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const onData = (chunk: Buffer) => {
        output.push(chunk.toString('utf8'));
        const address = /http:\/\/localhost:\d+/.exec(output.join(''))?.[0];
        if (address !== undefined) resolve(address);
      };
      child.stdout.on('data', onData);
      child.stderr.on('data', onData);
      child.once('exit', (code) => {
        reject(new Error(`the relay ended with ${code}:\n${output.join('')}`));
      });
    });
    return new RunningRelay(url, dataDir, child, output, build);
  }

  /** Everything it has printed. */
  log(): string {
    return this.#output.join('');
  }

  /** Reads or edits its database while it runs, as whoever has the machine can. */
  inDatabase<T>(edit: (db: Database.Database) => T): T {
    const db = new Database(join(this.dataDir, 'relay.db'));
    try {
      // The relay may be writing.
      db.exec('pragma busy_timeout = 30000');
      return edit(db);
    } finally {
      db.close();
    }
  }

  /** Runs `sinetti-relay` beside it. @returns what it answers @throws Error unless it has been done */
  async operate<T>(...words: readonly string[]): Promise<T> {
    const program = join(root, 'relay/bin/sinetti-relay.mjs');
    const env = { ...process.env, DATA_DIR: this.dataDir, PORT: new URL(this.url).port };
    const { stdout } = await run(process.execPath, [program, ...words, '--json'], { env });
    return JSON.parse(stdout) as T;
  }

  /** Stopping it twice is harmless. */
  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#ended;
    await rm(this.dataDir, { recursive: true, force: true });
    await this.#build.remove();
  }
}
