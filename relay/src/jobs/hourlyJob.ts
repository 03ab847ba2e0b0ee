import type { FastifyBaseLogger } from 'fastify';

const hour = 60 * 60 * 1000;

/** Work that is due again and again. */
export interface HourlyJob {
  /** Does what is due now. A run that is asked for during another one follows it. */
  run(): Promise<void>;
  /** Runs at once and every hour from now on; failures are logged and tried again. */
  start(): void;
  /** Resolves when the run under way, if any, has ended. */
  close(): Promise<void>;
}

export interface HourlyJobOptions {
  readonly task: () => Promise<void>;
  /** Ends a task that would take long, when the job is closed. */
  readonly stop?: () => void;
  /** The line of the log for a run that failed. */
  readonly failure: string;
  readonly log: Pick<FastifyBaseLogger, 'error'>;
}

export function createHourlyJob({ task, stop, failure, log }: HourlyJobOptions): HourlyJob {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();

  const run = () => {
    const next = current.then(task);
    current = next.catch(() => undefined);
    return next;
  };
  const runLogged = () => {
    run().catch((error: unknown) => log.error({ err: error }, failure));
  };

  return {
    run,
    start() {
      runLogged();
      timer = setInterval(runLogged, hour).unref();
    },
    async close() {
      clearInterval(timer);
      stop?.();
      await current;
    },
  };
}
