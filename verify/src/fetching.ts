import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import * as zlib from 'node:zlib';
import { type Destination, headersOf } from './asChromium.ts';
import { Failure } from './chain/errors.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Without its encoding. */
  readonly content: Uint8Array;
  /** Each answer that came before this one, as early hints do (RFC 8297): the status, and the names of the headers. */
  readonly early: readonly string[];
}

export interface Fetcher {
  /**
   * Asks for an address as Chromium does; a redirect is the answer.
   * @param encoding the encodings that are taken, if not those of Chromium
   * @throws Failure `unreachable` if nobody answers in time, or with more than any file of a client has
   */
  get(url: string, destination: Destination, encoding?: string): Promise<Answer>;
  close(): void;
}

/** How long, and for how much, a relay is listened to: one that never ends gains nothing. */
export interface Patience {
  /** Milliseconds for all that is asked. */
  readonly all: number;
  /** Milliseconds for one answer. */
  readonly answer: number;
  /** Bytes of all answers, as they come. */
  readonly bytes: number;
}

/** Twenty times what the client takes on a slow line. */
const defaultPatience: Patience = { all: 20 * 60_000, answer: 2 * 60_000, bytes: 512 * 1024 * 1024 };
/** Bytes of the longest answer, with and without its encoding: ten times the largest file of the client. */
export const largestFile = 16 * 1024 * 1024;

type Decoder = (content: Uint8Array) => Uint8Array;
type Decompress = (content: Uint8Array, options: { maxOutputLength: number; info: true }) => unknown;

/**
 * Returns a decoder that takes an encoding to its last byte. Node.js passes over what follows the first frame of zstd, where browsers read on
 * (RFC 8878, section 3.1): they would run what was never compared.
 */
const wholly =
  (decompress: Decompress): Decoder =>
  (content) => {
    // The types of `info` are those of what is returned without it.
    const { buffer, engine } = decompress(content, { maxOutputLength: largestFile, info: true }) as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    if (engine.bytesWritten !== content.length) throw new Error('something follows the encoded content');
    return buffer;
  };

/** Bytes of a gzip member behind its content: a checksum and a length. */
const gzipTrailer = 8;

/** Returns the bytes of a gzip member before its content (RFC 1952, section 2.3). */
function gzipHeader(content: Uint8Array): number {
  const flags = content[3] ?? 0;
  let at = 10;
  if ((flags & 0x04) !== 0) at += 2 + ((content[at] ?? 0) | ((content[at + 1] ?? 0) << 8));
  for (const text of [0x08, 0x10]) if ((flags & text) !== 0) at = content.indexOf(0, at) + 1;
  return (flags & 0x02) === 0 ? at : at + 2;
}

/** @throws Error for more than one member, the first of which may be empty: browsers read that alone (RFC 1952 allows several) */
function ofOneMember(content: Uint8Array): Uint8Array {
  const decoded = wholly(zlib.gunzipSync)(content);
  wholly(zlib.inflateRawSync)(content.subarray(gzipHeader(content), -gzipTrailer));
  return decoded;
}

/** Node.js has it from 22.15 on; Chromium takes it, and a relay that sends it to an older one is told that it can't be read. */
const { zstdDecompressSync } = zlib as { readonly zstdDecompressSync?: Decompress };

const decoders: Readonly<Record<string, Decoder>> = {
  br: wholly(zlib.brotliDecompressSync),
  gzip: ofOneMember,
  deflate: wholly(zlib.inflateSync),
  identity: (content) => content,
  ...(zstdDecompressSync === undefined ? {} : { zstd: wholly(zstdDecompressSync) }),
};

/** Asks as Chromium would, so that a relay can't tell by the headers who is checking it. */
export function createFetcher(patience: Patience = defaultPatience): Fetcher {
  const agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: 6 }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: 6 }),
  };
  const end = AbortSignal.timeout(patience.all);
  let left = patience.bytes;

  async function read(response: IncomingMessage, early: readonly string[]): Promise<Answer> {
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of response as AsyncIterable<Buffer>) {
      length += part.length;
      left -= part.length;
      if (length > largestFile) throw new Error('the answer is too long');
      if (left < 0) throw new Error('the answers are too long together');
      parts.push(part);
    }
    const headers = Object.fromEntries(
      // One header sent twice is two rules for a browser: they are joined, which no release has.
      Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
    );
    const encoding = headers['content-encoding'] ?? 'identity';
    const decode = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
    if (decode === undefined) throw new Error(`the encoding ${encoding}, which can't be read here`);
    return { status: response.statusCode ?? 0, headers, content: decode(Buffer.concat(parts)), early };
  }

  return {
    get(url, destination, encoding) {
      const headers = headersOf(url, destination, encoding);
      return new Promise((resolve, reject) => {
        // The composed signal keeps no timer of its own once the answer is there.
        const signal = AbortSignal.any([end, AbortSignal.timeout(patience.answer)]);
        const fail = (cause: unknown) => {
          const reason = signal.aborted
            ? 'no whole answer in time'
            : cause instanceof Error
              ? cause.message
              : String(cause);
          reject(new Failure('unreachable', `${url}: ${reason}`));
        };
        const early: string[] = [];
        const request = url.startsWith('https:')
          ? httpsRequest(url, { agent: agents.https, headers, signal })
          : httpRequest(url, { agent: agents.http, headers, signal });
        request.on('error', fail);
        request.on('information', ({ headers: hints, statusCode }) => {
          early.push(`${statusCode} with ${Object.keys(hints).join(', ') || 'no header'}`);
        });
        request.on('response', (response) => {
          read(response, early).then(resolve, (error: unknown) => {
            fail(error);
            request.destroy();
          });
        });
        request.end();
      });
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
