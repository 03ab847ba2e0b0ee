import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Failure } from './errors.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Without its encoding. */
  readonly content: Uint8Array;
}

/** How a browser asks for something: each kind with the headers that it has then. */
export type Destination = 'document' | 'iframe' | 'script' | 'style' | 'worker' | 'serviceworker' | 'empty';

export interface Fetcher {
  /**
   * Asks for an address; a redirect is the answer.
   * @throws Failure `unreachable` if nobody answers, or with more than any file of a client has
   */
  get(url: string, destination?: Destination, encoding?: string): Promise<Answer>;
  close(): void;
}

const browserEncodings = 'gzip, deflate, br';
const userAgent =
  'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
/** Bytes of the longest answer, with and without its encoding: ten times the largest file of the client. */
export const largestFile = 16 * 1024 * 1024;
/** Milliseconds without a byte. */
const silence = 30_000;

/** @throws Error for more than one member: browsers read the first alone (RFC 1952 allows several) */
function ofOneMember(content: Uint8Array): Uint8Array {
  const decoded = gunzipSync(content, { maxOutputLength: largestFile });
  // The last four bytes are the length of what their own member holds.
  const length = Buffer.from(content).readUInt32LE(content.length - 4);
  if (length !== decoded.length) throw new Error('the gzip encoding has several members');
  return decoded;
}

const decoders: Readonly<Record<string, (content: Uint8Array) => Uint8Array>> = {
  br: (content) => brotliDecompressSync(content, { maxOutputLength: largestFile }),
  gzip: ofOneMember,
  deflate: (content) => inflateSync(content, { maxOutputLength: largestFile }),
  identity: (content) => content,
};

/** Asks as a browser would, so that a relay can't tell by the headers who is checking it. */
export function createFetcher(): Fetcher {
  const agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: 6 }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: 6 }),
  };

  return {
    get(url, destination = 'empty', encoding = browserEncodings) {
      const isSecure = url.startsWith('https:');
      const isNavigation = destination === 'document' || destination === 'iframe';
      const headers = {
        accept: isNavigation ? 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' : '*/*',
        'accept-encoding': encoding,
        'accept-language': 'en-US,en;q=0.9',
        'sec-fetch-dest': destination,
        'sec-fetch-mode': isNavigation ? 'navigate' : destination === 'empty' ? 'cors' : 'no-cors',
        'sec-fetch-site': destination === 'document' ? 'none' : 'same-origin',
        ...(isNavigation ? { 'upgrade-insecure-requests': '1' } : {}),
        'user-agent': userAgent,
      };
      return new Promise((resolve, reject) => {
        const fail = (cause: unknown) => {
          const reason = cause instanceof Error ? cause.message : String(cause);
          reject(new Failure('unreachable', `${url}: ${reason}`));
        };
        const request = isSecure
          ? httpsRequest(url, { agent: agents.https, headers })
          : httpRequest(url, { agent: agents.http, headers });
        request.setTimeout(silence, () => request.destroy(new Error('no answer')));
        request.on('error', fail);
        request.on('response', (response) => {
          read(response).then(resolve, (error: unknown) => {
            request.destroy();
            fail(error);
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

async function read(response: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > largestFile) throw new Error('the answer is too long');
    parts.push(part);
  }
  const headers = Object.fromEntries(
    // One header sent twice is two rules for a browser: they are joined, which no release has.
    Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
  );
  const encoding = headers['content-encoding'] ?? 'identity';
  const decode = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decode === undefined) throw new Error(`the encoding ${encoding}, which was not asked for`);
  return { status: response.statusCode ?? 0, headers, content: decode(Buffer.concat(parts)) };
}
