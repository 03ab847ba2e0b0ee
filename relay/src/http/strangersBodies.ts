import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { ApiError } from '../errors.ts';
import type { WaitingBytes } from '../realtime/waitingBytes.ts';

/** Milliseconds in which the body of a call must have come whose sender has proven nothing. */
export const strangersBodyTimeout = 20_000;

/** Bytes that a chunk takes beside what is in it: a body may come in single bytes. */
const chunkOverhead = 256;
/** Seconds after which a client may try again that was dropped. */
const retryAfter = 5;

const tooMany = () =>
  new ApiError('unavailable', 'Too many requests are half sent at the moment.', { retryAfter });
const tooSlow = () => new ApiError('malformed', 'The request body took too long to arrive.');

/** Returns whether a body is announced. */
export const announcesBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Bounds a body of which nobody knows whose it is, in time, and in memory together with all others of strangers: they could be
 * left half sent by the thousand.
 * @returns the same bytes. It fails with the ApiError to answer while the connection is still there to answer on.
 */
export function boundStrangersBody(
  source: Readable,
  response: ServerResponse,
  waiting: WaitingBytes,
): Readable {
  const fail = (error: Error) => void body.destroy(error);
  const place = waiting.enter(() => fail(tooMany()));
  const timer = setTimeout(() => fail(tooSlow()), strangersBodyTimeout);
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      place.take(chunk.length + chunkOverhead);
      done(null, chunk);
    },
  });
  body.once('close', () => {
    clearTimeout(timer);
    place.leave();
  });
  source.once('error', fail);
  // The rest, which an answer has not waited for, is let pass, so that it keeps no later request on this connection waiting.
  response.once('close', () => {
    source.unpipe(body);
    body.destroy();
    source.resume();
  });
  return source.pipe(body);
}
