import {
  BlobErrorBody,
  BlobId,
  BlobStorage,
  blobErrorStatus,
  blobHeaders,
  blobPath,
  blobsPath,
  tusVersion,
  uploadType,
} from '@sinetti/relay/contract/blobs';
import type { Clock } from '../lib/clock.ts';
import { readErrorAnswer } from './errorAnswer.ts';
import { ApiError, NetworkError } from './errors.ts';

type OwnCode = keyof typeof blobErrorStatus;

declare module '../lib/errorCode.ts' {
  interface FailureCodes {
    readonly blobs: OwnCode;
  }
}

/** The relay has refused a call of files by a code that no other call has. */
export class BlobError extends Error {
  readonly code: OwnCode;

  constructor(code: OwnCode) {
    super(code);
    this.name = 'BlobError';
    this.code = code;
  }
}

/** Returns whether a failure says that the relay has no such upload or file, or has it no more. */
export function isGoneBlob(error: unknown): boolean {
  return error instanceof BlobError
    ? error.code === 'gone'
    : error instanceof ApiError && error.status === 404;
}

/** Milliseconds for a request with its answer: the relay cuts off what takes longer. */
const requestTimeoutMs = 120_000;

export interface BlobsOptions {
  /** Origin of the API without `/api`; empty for the page's own. */
  readonly host: string;
  readonly token: () => string | null;
  readonly clock: Clock;
  readonly fetch?: typeof globalThis.fetch;
}

/** Sealed files at the relay. Failures are those of {@link Http.call}. */
export interface Blobs {
  storage(): Promise<BlobStorage>;
  /** Begins an upload of so many bytes. @returns its id */
  create(length: number): Promise<string>;
  /** The bytes of an upload that the relay has. */
  offset(id: string): Promise<number>;
  /** Appends bytes to an upload. @returns how many the relay has then */
  append(id: string, offset: number, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<number>;
  /** Ends an own upload, or deletes an own file. */
  remove(id: string): Promise<void>;
  /** Bytes of a file, from one position to before another. */
  read(id: string, from: number, to: number): Promise<ArrayBuffer>;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal | undefined;
}

/** Speaks tus 1.0 (relay/contract/blobs.ts), whose calls are no routes of the contract: their bodies are bytes, their answers headers. */
export function createBlobs({ clock, host, token, ...options }: BlobsOptions): Blobs {
  const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);

  /** Reads the answer within the deadline. */
  async function ask<T>(
    { body, headers, method, path, signal }: Asked,
    read: (answer: Response) => Promise<T> | T,
  ): Promise<T> {
    const bearer = token();
    if (bearer === null) throw new ApiError({ status: 401, code: 'unauthenticated', detail: null });
    const deadline = new AbortController();
    const timer = clock.after(requestTimeoutMs, () => deadline.abort());
    const signals = signal === undefined ? [deadline.signal] : [deadline.signal, signal];
    try {
      const answer = await fetch(`${host}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${bearer}`, ...headers },
        signal: AbortSignal.any(signals),
        cache: 'no-store',
        credentials: 'omit',
        ...(body === undefined ? {} : { body }),
      });
      if (!answer.ok) throw refusal(answer.status, await answer.json().catch(() => undefined));
      return await read(answer);
    } catch (cause) {
      if (cause instanceof ApiError || cause instanceof BlobError) throw cause;
      throw new NetworkError(deadline.signal.aborted ? 'timeout' : 'unreachable', undefined, { cause });
    } finally {
      timer.cancel();
    }
  }

  const resumable = { [blobHeaders.resumable]: tusVersion };

  return {
    storage: () =>
      ask({ method: 'GET', path: blobsPath }, async (answer) =>
        parsed(BlobStorage.safeParse(await answer.json()), answer),
      ),

    create: (length) =>
      ask(
        { method: 'POST', path: blobsPath, headers: { ...resumable, [blobHeaders.length]: String(length) } },
        (answer) => parsed(BlobId.safeParse(answer.headers.get('location')?.split('/').at(-1)), answer),
      ),

    offset: (id) => ask({ method: 'HEAD', path: blobPath(id), headers: resumable }, offsetOf),

    append: (id, offset, body, signal) =>
      ask(
        {
          method: 'PATCH',
          path: blobPath(id),
          headers: { ...resumable, [blobHeaders.offset]: String(offset), 'content-type': uploadType },
          body,
          signal,
        },
        offsetOf,
      ),

    remove: (id) => ask({ method: 'DELETE', path: blobPath(id), headers: resumable }, () => undefined),

    read: (id, from, to) =>
      ask({ method: 'GET', path: blobPath(id), headers: { range: `bytes=${from}-${to - 1}` } }, (answer) =>
        answer.arrayBuffer(),
      ),
  };
}

/** @param body undefined for none, as an answer to HEAD has */
function refusal(status: number, body: unknown): ApiError | BlobError {
  const own = (Object.keys(blobErrorStatus) as OwnCode[]).find((code) => {
    const said = BlobErrorBody.safeParse(body);
    return said.success ? said.data.code === code : blobErrorStatus[code] === status;
  });
  return own === undefined ? readErrorAnswer(status, body) : new BlobError(own);
}

function offsetOf(answer: Response): number {
  const text = answer.headers.get(blobHeaders.offset) ?? '';
  return parsed({ success: /^\d{1,15}$/.test(text), data: Number(text) }, answer);
}

function parsed<T>(
  result: { readonly success: boolean; readonly data?: T | undefined },
  { status }: Response,
): T {
  if (!result.success || result.data === undefined)
    throw new ApiError({ status, code: 'invalid-response', detail: null });
  return result.data;
}
