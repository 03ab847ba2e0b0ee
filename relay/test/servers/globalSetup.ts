import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the PostgreSQL server that the tests of this project share. */
    postgresUrl: string;
  }
}

/** One server for all test files; each relay gets a database of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide('postgresUrl', server.url('postgres'));
  return () => server.remove();
}
