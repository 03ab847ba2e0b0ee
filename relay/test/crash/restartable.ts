import type { BuiltProgram, Ended, Program } from '../program.ts';
import { freePort } from '../servers/freePort.ts';

/** One relay process after the other, on one port. */
export interface RestartableRelay {
  readonly url: string;
  end(signal: NodeJS.Signals): Promise<Ended>;
  start(): Promise<void>;
}

/** @param environment what it is started with each time, beside its port */
export async function startRestartable(
  program: BuiltProgram,
  environment: Readonly<Record<string, string>>,
): Promise<RestartableRelay> {
  const port = String(await freePort());
  const launch = () => program.start({ PORT: port, LOG_LEVEL: 'error', RATE_LIMITS: 'off', ...environment });
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
