import { pathToFileURL } from 'node:url';
import { keptAtLeast } from '../../src/jobs/retention.ts';
import type { BuiltProgram, Ended, Program } from '../program.ts';
import { freePort } from '../servers/freePort.ts';

/** One relay process after the other, on one port. */
export interface RestartableRelay {
  readonly url: string;
  end(signal: NodeJS.Signals): Promise<Ended>;
  start(): Promise<void>;
}

const clockAhead = pathToFileURL(`${import.meta.dirname}/clockAhead.mjs`).href;

/**
 * Each start finds the clock as much later as an entry is kept in any case: the job of retention, which begins with the
 * relay, then has all to delete that both people of a chat had acknowledged before, and the next crash meets it at work.
 * @param environment what it is started with each time, beside its port and clock
 */
export async function startRestartable(
  program: BuiltProgram,
  environment: Readonly<Record<string, string>>,
): Promise<RestartableRelay> {
  const port = String(await freePort());
  let starts = 0;
  const launch = () => {
    const clock = { NODE_OPTIONS: `--import ${clockAhead}`, CLOCK_AHEAD: String(starts * keptAtLeast) };
    starts += 1;
    return program.start({ PORT: port, LOG_LEVEL: 'error', RATE_LIMITS: 'off', ...clock, ...environment });
  };
  let current: Program = launch();
  await current.ready;
  return {
    url: `http://127.0.0.1:${port}`,
    async end(signal) {
      current.child.kill(signal);
      return current.ended;
    },
    async start() {
      current = launch();
      await current.ready;
    },
  };
}
