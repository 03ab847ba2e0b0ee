import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import * as zlib from 'node:zlib';
import { type Destination, headersOf } from './asChromium.ts';
import { Failure } from './errors.ts';

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

/** @throws Error for more than one member: browsers read the first alone (RFC 1952 allows several) */
function ofOneMember(content: Uint8Array): Uint8Array {
  const decoded = zlib.gunzipSync(content, { maxOutputLength: largestFile });
  // The last four bytes are the length of what their own member holds.
  const length = Buffer.from(content).readUInt32LE(content.length - 4);
  if (length !== decoded.length) throw new Error('the gzip encoding has several members');
  return decoded;
}

type Decoder = (content: Uint8Array) => Uint8Array;

/** Node.js has it from 22.15 on; Chromium takes it, and a relay that sends it to an older one is told that it can't be read. */
const { zstdDecompressSync } = zlib as {
  readonly zstdDecompressSync?: (content: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
};

const decoders: Readonly<Record<string, Decoder>> = {
  br: (content) => zlib.brotliDecompressSync(content, { maxOutputLength: largestFile }),
  gzip: ofOneMember,
  deflate: (content) => zlib.inflateSync(content, { maxOutputLength: largestFile }),
  identity: (content) => content,
  ...(zstdDecompressSync === undefined
    ? {}
    : { zstd: (content: Uint8Array) => zstdDecompressSync(content, { maxOutputLength: largestFile }) }),
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
