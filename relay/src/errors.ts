import type { ErrorBody, QuotaOf } from '../contract/index.ts';
import { type ServedErrorCode, servedErrorStatus } from '../contract/served.ts';
import { errorCode } from './errorCode.ts';

export type ErrorExtra = Pick<ErrorBody, 'epoch' | 'version' | 'copied' | 'quota' | 'retryAfter'>;

/** A refusal that the caller may see. Everything else that is thrown is a defect and answers `internal`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ServedErrorCode;
  readonly extra: ErrorExtra;

  /** @param detail a sentence for a person, free of personal data */
  constructor(code: ServedErrorCode, detail: string, extra: ErrorExtra = {}) {
    super(detail);
    this.code = code;
    this.extra = extra;
  }

  /** HTTP status. */
  get status(): (typeof servedErrorStatus)[ServedErrorCode] {
    return servedErrorStatus[this.code];
  }

  toBody(): Omit<ErrorBody, 'code'> & { readonly code: ServedErrorCode } {
    return { detail: this.message, code: this.code, ...this.extra };
  }
}

/** @param detail says what is full, and when it frees */
export const quotaReached = (quota: QuotaOf, detail: string) => new ApiError('quota', detail, { quota });

/**
 * A problem that the operator must mend before the relay can run: printed as one sentence, without a stack.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** Seconds after which a client may try again where the relay is being restarted. */
const restartSeconds = 5;

export const restarting = () =>
  new ApiError('unavailable', 'The server is restarting.', { retryAfter: restartSeconds });

export const notWritable = (dataDir: string) =>
  new StartupError(
    `The data folder ${dataDir} can't be written to. Give it, with all that is in it, to the account that runs the relay, or set DATA_DIR to another folder.`,
  );

/** SQLite's code, PostgreSQL's SQLSTATE disk_full, and the file system's. */
const storageFullCodes: ReadonlySet<string | null> = new Set(['SQLITE_FULL', '53100', 'ENOSPC', 'EDQUOT']);

/**
 * The database can't serve this now and may again later: the network's codes, and SQLSTATE codes (PostgreSQL manual,
 * appendix A) for what it says of its connections, shutting down, starting up, being a standby, and locks.
 */
const unavailableCodes: ReadonlySet<string | null> = new Set(
  [
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
    ['08000', '08001', '08003', '08004', '08006', '57P01', '57P02', '57P03', '57P05'],
    ['25006', '40001', '40P01', '53300', '55P03', '57014'],
  ].flat(),
);
/** SQLite's, with the extensions of each: a read-only file, a failing disk, a file that someone else holds. */
const sqliteUnavailable = /^SQLITE_(READONLY|IOERR|CANTOPEN|BUSY|LOCKED)/;
/** Messages of errors that the driver of PostgreSQL gives no code. */
const lostConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/**
 * Turns anything thrown while serving a request into the error to answer. A full disk is `storage-full`, a
 * database that is away `unavailable`; whatever is not known is `internal`, and its message stays inside.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = errorCode(error);
  if (storageFullCodes.has(code)) return new ApiError('storage-full', 'The server has no space left.');
  const isLost = error instanceof Error && lostConnection.test(error.message);
  if (isLost || unavailableCodes.has(code) || sqliteUnavailable.test(code ?? '')) {
    return new ApiError('unavailable', "The server's database can't be used at the moment.");
  }
  return new ApiError('internal', 'Something went wrong on the server.');
}

/** Returns whether a thrown value carries this `code`, as Node's, SQLite's and Fastify's errors do. */
export function hasCode(error: unknown, code: string): boolean {
  return errorCode(error) === code;
}
