import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ServedErrorCode } from '../../contract/served.ts';
import { diskSpace } from '../diskSpace.ts';
import { ApiError } from '../errors.ts';
import type { QuotaName } from '../rateLimits/quotas.ts';
import { relayVersion } from '../version.ts';

/** The kinds of entry that one acknowledged call stores. */
export type StoredKind = 'message' | 'commit';

/** The kinds of things that are deleted when they have been kept long enough. */
export type KeptKind = 'entry' | 'welcome' | 'copy' | 'file' | 'upload' | 'stray';

/**
 * The metrics for the operator, which say nothing of anybody: no label holds an id, a name or an address.
 * Each relay has a registry of its own, so that several in one process (tests) don't count together.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly #requests = new Histogram({
    name: 'sinetti_http_request_duration_seconds',
    help: 'Requests answered, by route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [this.registry],
  });
  readonly #stored = new Histogram({
    name: 'sinetti_store_duration_seconds',
    help: 'Messages and commits acknowledged by REST and MQTT: the time until they were durable.',
    labelNames: ['kind'] as const,
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
    registers: [this.registry],
  });
  readonly #refused = new Counter({
    name: 'sinetti_store_refused_total',
    help: 'Messages and commits refused by REST and MQTT, by error code.',
    labelNames: ['kind', 'code'] as const,
    registers: [this.registry],
  });
  readonly #limited = new Counter({
    name: 'sinetti_rate_limited_total',
    help: 'Requests, packets and sockets refused because a limit was reached.',
    labelNames: ['limit'] as const,
    registers: [this.registry],
  });
  readonly #quotasRefused = new Counter({
    name: 'sinetti_quota_refused_total',
    help: 'Calls and packets refused because one person would leave more than the relay keeps of one, by what there is too much of.',
    labelNames: ['quota'] as const,
    registers: [this.registry],
  });
  /** Refusals that were counted: one of a message passes two places that count. */
  readonly #countedRefusals = new WeakSet<ApiError>();
  readonly #emptied = new Counter({
    name: 'sinetti_retention_deleted_total',
    help: 'Entries whose content was deleted, Welcomes, sealed copies and files, because nobody needed them or they were too old.',
    labelNames: ['kind'] as const,
    registers: [this.registry],
  });
  readonly #transferred = new Counter({
    name: 'sinetti_file_bytes_total',
    help: 'Bytes of files that people sent and read.',
    labelNames: ['direction'] as const,
    registers: [this.registry],
  });
  readonly #storedFileBytes = new Gauge({
    name: 'sinetti_stored_file_bytes',
    help: 'The size of the files that are kept, unfinished ones with all that they announce, as of the last hourly look.',
    registers: [this.registry],
  });
  readonly #mails = new Counter({
    name: 'sinetti_mails_total',
    help: 'Mails to people about their account: sent, failed at the mail server, or dropped before it was asked.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  });
  readonly #sockets = new Gauge({
    name: 'sinetti_open_sockets',
    help: 'Open WebSockets, by path.',
    labelNames: ['path'] as const,
    registers: [this.registry],
  });
  readonly #waiting = new Gauge({
    name: 'sinetti_waiting_bytes',
    help: 'Bytes on sockets that nobody has logged in on, and of calls by nobody in particular, that have begun to come.',
    registers: [this.registry],
    collect: (): void => this.#waiting.set(this.#readWaiting()),
  });
  #readWaiting: () => number = () => 0;
  readonly #redis = new Gauge({
    name: 'sinetti_redis_up',
    help: '1 while this relay works with others through Redis, 0 while it goes on by itself or has none.',
    registers: [this.registry],
  });

  readonly #databaseBytes = new Gauge({
    name: 'sinetti_database_bytes',
    help: 'The size of the database, with its indexes.',
    registers: [this.registry],
    collect: () => void this.#readDatabaseSize(),
  });
  #readDatabaseSize: () => Promise<void> = async () => undefined;
  readonly #free = new Gauge({
    name: 'sinetti_free_bytes',
    help: 'Free bytes on the disks of the data folder and of the folder of files.',
    labelNames: ['place'] as const,
    registers: [this.registry],
    collect: () => this.#readFree(),
  });
  #readFree: () => Promise<void> = async () => undefined;

  constructor() {
    new Gauge({
      name: 'sinetti_info',
      help: '1, with the version of this relay.',
      labelNames: ['version'] as const,
      registers: [this.registry],
    }).set({ version: relayVersion }, 1);
  }

  /** @param route the pattern, not the address */
  requestServed(request: { method: string; route: string; status: number; seconds: number }): void {
    const { method, route, status, seconds } = request;
    this.#requests.observe({ method, route, status: String(status) }, seconds);
  }

  stored(kind: StoredKind, seconds: number): void {
    this.#stored.observe({ kind }, seconds);
  }

  refused(kind: StoredKind, code: ServedErrorCode): void {
    this.#refused.inc({ kind, code });
  }

  /** Counts a refusal once, if it is one for a quota; it may be told of more than once. */
  quotaRefused(error: unknown): void {
    if (!(error instanceof ApiError) || error.code !== 'quota' || this.#countedRefusals.has(error)) return;
    this.#countedRefusals.add(error);
    this.#quotasRefused.inc({ quota: error.extra.quota ?? 'none' });
  }

  limited(limit: QuotaName): void {
    this.#limited.inc({ limit });
  }

  emptied(kind: KeptKind, count: number): void {
    this.#emptied.inc({ kind }, count);
  }

  transferred(direction: 'received' | 'sent', bytes: number): void {
    this.#transferred.inc({ direction }, bytes);
  }

  /** @param bytes of all files, as the disk counts them */
  filesStored(bytes: number): void {
    this.#storedFileBytes.set(bytes);
  }

  mailed(outcome: 'sent' | 'failed' | 'dropped'): void {
    this.#mails.inc({ outcome });
  }

  socketOpened(path: string): void {
    this.#sockets.inc({ path });
  }

  socketClosed(path: string): void {
    this.#sockets.dec({ path });
  }

  /**
   * Reads the size of the database now, and anew whenever the metrics are asked for, who get the one before: a database that
   * doesn't answer keeps no other number back.
   * @param size answers bytes
   */
  watchDatabase(size: () => Promise<number>): Promise<void> {
    let reading: Promise<void> | null = null;
    this.#readDatabaseSize = () => {
      reading ??= size()
        .then(
          (bytes) => this.#databaseBytes.set(bytes),
          () => undefined,
        )
        .finally(() => {
          reading = null;
        });
      return reading;
    };
    return this.#readDatabaseSize();
  }

  /** @param read answers the bytes that strangers have sent and that wait */
  watchWaiting(read: () => number): void {
    this.#readWaiting = read;
  }

  /** @param folders by the place that they are; one that can't be read has no number */
  watchDisks(folders: Readonly<Record<'data' | 'files', string>>): void {
    this.#readFree = async () => {
      this.#free.reset();
      for (const [place, folder] of Object.entries(folders)) {
        const disk = await diskSpace(folder).catch(() => null);
        if (disk !== null) this.#free.set({ place }, disk.free);
      }
    };
  }

  redisReached(isReached: boolean): void {
    this.#redis.set(isReached ? 1 : 0);
  }
}
