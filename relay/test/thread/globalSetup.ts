import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the compiled program of SQLite's thread. */
    threadEntry: string;
  }
}

const relayFolder = path.resolve(import.meta.dirname, '../..');

/** A thread is a program that Node itself starts, and so has to be compiled. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Inside relay/, because Node looks for packages from where a file is.
  await mkdir(path.join(relayFolder, '.cache'), { recursive: true });
  const folder = await mkdtemp(path.join(relayFolder, '.cache', 'thread-'));
  await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: path.join(relayFolder, 'src/messaging/append/thread.ts'),
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: 'thread.js' } },
    },
  });
  project.provide('threadEntry', path.join(folder, 'thread.js'));
  return () => rm(folder, { recursive: true });
}
