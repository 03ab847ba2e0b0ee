import { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { blobHeaders } from '#relay/contract/blobs.ts';
import { bytesType } from '#relay/contract/index.ts';
import { answered, routeAt, textOf } from '#relay/test/parts.ts';
import type { Random } from '../seams/random.ts';
import { after, worldNow } from '../seams/time.ts';
import type { AtPoint } from './points.ts';
import type { Trace } from './trace.ts';

/** The probabilities of everything that can become of a request. */
export interface Weather {
  readonly lostRequest: number;
  readonly lostAnswer: number;
  /** The request arrives, and so does a copy of it, later. */
  readonly doubled: number;
  /** An answer takes seconds. */
  readonly late: number;
}

export const fairWeather: Weather = { lostRequest: 0, lostAnswer: 0, doubled: 0, late: 0 };
export const foulWeather: Weather = { lostRequest: 0.04, lostAnswer: 0.04, doubled: 0.03, late: 0.05 };

const fastest = 2;
const slowest = 60;
const latest = 25_000;

/** Answers in the place of a relay that lies. */
export interface Liar {
  /** @param ask what the relay answers this client when it tells the truth */
  answer(
    method: string,
    url: string,
    body: unknown,
    ask: (url: string) => Promise<unknown>,
  ): Promise<unknown>;
  /** @returns the event in the place of this one; null for none */
  event(event: unknown): unknown;
  acknowledged(seq: number, topic: string): number;
}

/** One end of a connection in memory, whose bytes take their time and keep their order. */
class End extends Duplex {
  peer: End | null = null;
  readonly remoteAddress = '10.0.0.1';
  readonly #delay: () => number;
  readonly #atPoint: () => void;
  #arrival = 0;

  /** @param atPoint told of what this end sends and gets */
  constructor(delay: () => number, atPoint: () => void = () => undefined) {
    super();
    this.#delay = delay;
    this.#atPoint = atPoint;
  }

  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const copy = Buffer.from(chunk);
    this.#atPoint();
    // A tab that died at this point has sent nothing more.
    if (!this.destroyed) this.#carry(() => this.peer?.arrive(copy));
    done();
  }

  arrive(chunk: Buffer): void {
    this.#atPoint();
    if (!this.destroyed) this.push(chunk);
  }

  override _final(done: () => void): void {
    this.#carry(() => this.peer?.push(null));
    done();
  }

  override _destroy(_error: Error | null, done: (error: null) => void): void {
    this.#carry(() => this.peer?.destroy());
    done(null);
  }

  #carry(what: () => void): void {
    this.#arrival = Math.max(this.#arrival, worldNow() + this.#delay());
    after(this.#arrival - worldNow(), () => {
      if (this.peer?.destroyed === false) what();
    });
  }
}

/** The way between one tab and the relay. */
export class Line {
  readonly #app: FastifyInstance;
  readonly #random: Random;
  readonly #trace: Trace;
  readonly #name: string;
  readonly #sockets = new Set<End>();
  weather: Weather = fairWeather;
  isCut = false;
  /** The tab is gone: nobody is there for an answer. */
  isDead = false;
  liar: Liar | null = null;
  /** Told of each request that leaves, each answer that comes, and what a socket carries. */
  atPoint: AtPoint = () => undefined;

  constructor(app: FastifyInstance, random: Random, trace: Trace, name: string) {
    this.#app = app;
    this.#random = random;
    this.#trace = trace;
    this.#name = name;
  }

  readonly fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const payload = Buffer.from(await request.arrayBuffer());
    const send = () => this.#deliver(request.method, `${pathname}${search}`, headers, payload);
    this.atPoint('request');
    await this.#travel(request.signal);
    if (this.isCut || this.#random.chance(this.weather.lostRequest)) throw new TypeError('Failed to fetch');
    const answer = await send();
    this.atPoint('answer');
    if (this.#random.chance(this.weather.doubled)) after(this.#random.below(latest), () => void send());
    await this.#travel(request.signal, this.#random.chance(this.weather.late));
    if (this.isCut || this.#random.chance(this.weather.lostAnswer)) throw new TypeError('Failed to fetch');
    return answer;
  };

  /** Notes what is published. */
  published(payload: string): void {
    this.#trace.release(payload);
  }

  /** Puts a line of this tab's log into the trace. */
  note(text: string): void {
    this.#trace.note(`${this.#name} ! ${text}`);
  }

  /** A connection for a WebSocket. */
  readonly connect = (): Duplex => {
    const delay = () => fastest + this.#random.below(slowest);
    const [near, far] = [new End(delay, () => this.atPoint('socket')), new End(delay)];
    [near.peer, far.peer] = [far, near];
    near.on('error', () => undefined);
    far.on('error', () => undefined);
    if (this.isCut || this.isDead) {
      after(1, () => near.destroy(new Error('ECONNREFUSED')));
      return near;
    }
    this.#sockets.add(near);
    near.once('close', () => this.#sockets.delete(near));
    this.#app.server.emit('connection', far);
    return near;
  };

  /** The connections break; others can't be made before {@link mend}. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** The connections break, and may be made again. */
  interrupt(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  mend(): void {
    this.isCut = false;
  }

  kill(): void {
    this.isDead = true;
    this.interrupt();
  }

  async #deliver(
    method: string,
    url: string,
    headers: Record<string, string>,
    payload: Buffer,
  ): Promise<Response> {
    const route = routeAt(method, url.slice('/api'.length));
    const carried = textOf(payload, headers['content-type'] ?? null, route?.bodyParts);
    this.#trace.note(`${this.#name} > ${method} ${url}`, carried);
    this.#trace.release(carried, payload);
    const answer = await this.#app.inject({
      method: method as 'GET',
      url,
      headers: { ...headers, host: 'relay' },
      remoteAddress: '10.0.0.1',
      ...(payload.length === 0 ? {} : { payload }),
    });
    const type = String(answer.headers['content-type'] ?? 'text/plain');
    const said = textOf(answer.rawPayload, type, route?.responseParts);
    this.#trace.note(`${this.#name} < ${method} ${url} ${answer.statusCode}`, said);
    const ask = async (asked: string) => {
      const { headers: asHeaders, rawPayload } = await this.#app.inject({
        method: 'GET',
        url: asked,
        headers: { ...headers, host: 'relay' },
      });
      const parts = routeAt('GET', asked.slice('/api'.length))?.responseParts;
      return JSON.parse(textOf(rawPayload, String(asHeaders['content-type']), parts)) as unknown;
    };
    const isLie = this.liar !== null && type !== bytesType && answer.statusCode < 300 && said !== '';
    const body = isLie
      ? answered(method, url, await this.liar?.answer(method, url, JSON.parse(said), ask))
      : new Uint8Array(answer.rawPayload);
    return new Response(answer.statusCode === 204 ? null : body, {
      status: answer.statusCode,
      headers: headersOf(answer.headers, type),
    });
  }

  #travel(signal: AbortSignal, isLate = false): Promise<void> {
    const ms = isLate ? 2_000 + this.#random.below(latest) : fastest + this.#random.below(slowest);
    return new Promise((resolve, reject) => {
      const timer = after(ms, () => {
        // The promise of a tab that is gone is never settled.
        if (!this.isDead) resolve();
      });
      signal.addEventListener('abort', () => {
        timer.cancel();
        if (!this.isDead) reject(new DOMException('aborted', 'AbortError'));
      });
    });
  }
}

/** The headers that tell of an upload are beside its answer, which has no body. */
function headersOf(given: Readonly<Record<string, unknown>>, type: string): Record<string, string> {
  const told = [blobHeaders.offset, 'location'].filter((name) => given[name] !== undefined);
  return Object.fromEntries([['content-type', type], ...told.map((name) => [name, String(given[name])])]);
}
