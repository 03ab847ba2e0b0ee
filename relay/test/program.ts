import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const relayFolder = path.resolve(import.meta.dirname, '..');
const run = promisify(execFile);

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The relay as a process of its own. */
export interface Program {
  readonly child: ChildProcess;
  /** Its address, once it is ready. Rejects if it ends before that. */
  readonly ready: Promise<string>;
  readonly ended: Promise<Ended>;
}

export interface BuiltProgram {
  /**
   * @param environment all of it, apart from PATH; the port is any, unless it says which
   * @param diskBytes puts a disk of that size in the place of its data folder, which nobody else sees
   */
  start(environment: Readonly<Record<string, string>>, diskBytes?: number): Program;
  /** Runs `sinetti-relay` to its end. @param environment all of it, apart from PATH */
  command(
    words: readonly string[],
    environment: Readonly<Record<string, string>>,
    input?: string,
  ): Promise<Ended>;
  /** Kills what still runs. */
  killAll(): Promise<void>;
  remove(): Promise<void>;
}

/** Compiles the relay as `npm run build:relay` does, into a folder that no other test uses. */
export async function buildProgram(): Promise<BuiltProgram> {
  // Inside relay/, because Node looks for packages from where a file is.
  await mkdir(path.join(relayFolder, '.cache'), { recursive: true });
  const folder = await mkdtemp(path.join(relayFolder, '.cache', 'program-'));
  const compiler = path.resolve(relayFolder, '../node_modules/.bin/tsc');
  await run(compiler, ['-p', path.join(relayFolder, 'tsconfig.build.json'), '--outDir', folder]);
  const running = new Set<Program>();

  return {
    start(environment, diskBytes) {
      const program = startProgram(path.join(folder, 'src', 'server.js'), environment, diskBytes);
      running.add(program);
      void program.ended.then(() => running.delete(program));
      return program;
    },
    async command(words, environment, input = '') {
      const file = path.join(folder, 'src', 'operator', 'main.js');
      const env = { PATH: process.env.PATH, ...environment };
      const child = spawn(process.execPath, [file, ...words], { env });
      // A command that ends without reading it breaks the pipe.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      return endOf(child);
    },
    async killAll() {
      const left = [...running];
      for (const { child } of left) child.kill('SIGKILL');
      await Promise.all(left.map(({ ended }) => ended));
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

const ownMounts = ['--mount', '--map-root-user'];

/** Returns whether this machine lets a program have disks of its own. */
export async function mayMount(): Promise<boolean> {
  return run('unshare', [...ownMounts, 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp']).then(
    () => true,
    () => false,
  );
}

function startProgram(
  file: string,
  environment: Readonly<Record<string, string>>,
  diskBytes?: number,
): Program {
  const mounting = 'mount -t tmpfs -o size="$1" tmpfs "$DATA_DIR" && exec "$2" "$3"';
  const [program, ...words] =
    diskBytes === undefined
      ? [process.execPath, file]
      : ['unshare', ...ownMounts, 'sh', '-c', mounting, 'sh', String(diskBytes), process.execPath, file];
  const child = spawn(program, words, {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'info', PORT: '0', ...environment },
  });
  const ended = endOf(child);
  let stdout = '';
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const url = /"Sinetti is ready at (http:\/\/localhost:\d+)"}$/m.exec(stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then(({ stderr }) => reject(new Error(`ended: ${stdout}${stderr}`)));
  });
  // Programs that are meant to end are not waited for to be ready.
  ready.catch(() => undefined);
  return { child, ready, ended };
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      output[name] += chunk.toString();
    });
  }
  const [code] = await once(child, 'close');
  return { code: code as number | null, ...output };
}
