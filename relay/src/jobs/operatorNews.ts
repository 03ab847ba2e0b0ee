import type { FastifyBaseLogger } from 'fastify';
import type { Db } from '../db/tables.ts';
import type { Hub } from '../realtime/hub.ts';
import { tellNews } from '../realtime/operatorNews.ts';
import { takeNews } from '../repositories/operatorNews.ts';

/** Milliseconds between two looks. Calls need none of them: the rows decide about these. */
const interval = 1000;

export interface OperatorNewsJob {
  /** Looks now, and again and again. */
  start(): void;
  /** Resolves when the look under way, if any, has ended. */
  close(): Promise<void>;
}

/**
 * Tells open sockets what `sinetti-relay` has done to the database beside the relay: that a session has ended, that a list
 * has changed. Of relays that share work, one takes the news and tells all.
 */
export function createOperatorNewsJob({
  db,
  hub,
  log,
}: {
  readonly db: Db;
  readonly hub: Hub;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}): OperatorNewsJob {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let isClosed = false;
  let hasFailed = false;

  async function look(): Promise<void> {
    try {
      for (const news of await takeNews(db)) tell(news);
      hasFailed = false;
    } catch (error) {
      // A database that is away is away for many looks.
      if (!hasFailed) log.warn({ err: error }, "the operator's command can't be heard");
      hasFailed = true;
    }
    if (!isClosed) timer = setTimeout(start, interval).unref();
  }

  /** Tells each by itself: they are taken, and a socket that is not told of the next one would stay open. */
  function tell(news: string): void {
    try {
      tellNews(hub, news);
    } catch (error) {
      log.warn({ err: error }, "news of the operator's command that this version doesn't know");
    }
  }

  function start(): void {
    current = look();
  }

  return {
    start,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await current;
    },
  };
}
