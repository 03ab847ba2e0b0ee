import { type ChildProcess, execFile, spawn } from 'node:child_process';
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
  /** @param environment all of it, apart from PATH; the port is any, unless it says which */
  start(environment: Readonly<Record<string, string>>): Program;
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
    start(environment) {
      const program = startProgram(path.join(folder, 'src', 'server.js'), environment);
      running.add(program);
      void program.ended.then(() => running.delete(program));
      return program;
    },
    async killAll() {
      const left = [...running];
      for (const { child } of left) child.kill('SIGKILL');
      await Promise.all(left.map(({ ended }) => ended));
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

function startProgram(file: string, environment: Readonly<Record<string, string>>): Program {
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'info', PORT: '0', ...environment },
  });
  const output = { stdout: '', stderr: '' };
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
      const url = /"Sinetti is ready at (http:\/\/localhost:\d+)"}$/m.exec(output.stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`ended: ${output.stdout}${output.stderr}`)));
  });
  // Programs that are meant to end are not waited for to be ready.
  ready.catch(() => undefined);
  return { child, ready, ended };
}
