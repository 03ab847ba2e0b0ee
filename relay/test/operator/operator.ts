import { runCommand } from '../../src/operator/run.ts';
import type { TestRelay } from '../helpers.ts';

export interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `sinetti-relay` with these settings, as a line of the shell. */
export async function run(
  environment: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<Ran> {
  const said = { out: '', err: '' };
  const status = await runCommand(words, {
    environment,
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
  });
  return { status, ...said };
}

/** Runs it beside a relay, and reads what it answers as JSON. @throws Error unless it has been done */
export async function done<T = unknown>(
  { environment }: Pick<TestRelay, 'environment'>,
  ...words: readonly string[]
): Promise<T> {
  const { status, out, err } = await run(environment, ...words, '--json');
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${err}`);
  return JSON.parse(out) as T;
}
