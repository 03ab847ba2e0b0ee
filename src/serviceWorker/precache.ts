import { nudgePath } from './messages.ts';

/** The files of one build, kept in the browser as they were built. Nothing else is ever kept: no answer of the API, no token. */

export interface BuildFile {
  /** From the origin's root: `/assets/…`. */
  readonly path: string;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
  /** Fetched with the version; the others when they are first asked for. */
  readonly atInstall: boolean;
}

export interface Build {
  /** Another one for any other content of any file. */
  readonly version: string;
  readonly files: readonly BuildFile[];
}

/** `unavailable`: not answered with success. `mismatch`: answered with something else than what was built. */
export class PrecacheError extends Error {
  readonly code: 'unavailable' | 'mismatch';
  readonly path: string;

  constructor(code: PrecacheError['code'], path: string) {
    super(`${code}: ${path}`);
    this.name = 'PrecacheError';
    this.code = code;
    this.path = path;
  }
}

export interface PrecacheOptions {
  readonly build: Build;
  readonly origin: string;
  readonly caches: Pick<CacheStorage, 'open' | 'keys' | 'delete'>;
  readonly fetch: typeof globalThis.fetch;
  readonly digest: (content: ArrayBuffer) => Promise<ArrayBuffer>;
  readonly onRefused: (path: string) => void;
}

const cachePrefix = 'sinetti-';
const page = '/index.html';
const atOnce = 6;
/** What the relay answers by itself, also to a navigation. */
const relayPath = /^\/(?:api|healthz|readyz|metrics|mqtt|ws)(?:\/|$)/;
/** About the answer as it came, not about the content as it is kept. */
const transferHeaders = ['content-encoding', 'content-length', 'vary'];

export class Precache {
  readonly #options: PrecacheOptions;
  readonly #files: ReadonlyMap<string, BuildFile>;
  readonly #cacheName: string;

  constructor(options: PrecacheOptions) {
    this.#options = options;
    this.#files = new Map(options.build.files.map((file) => [file.path, file]));
    this.#cacheName = `${cachePrefix}${options.build.version}`;
  }

  /** @throws PrecacheError when a file can't be had as it was built: then this version doesn't come into use */
  async install(): Promise<void> {
    const due = this.#options.build.files.filter(({ atInstall }) => atInstall);
    const fetchNext = async (): Promise<void> => {
      for (let file = due.pop(); file !== undefined; file = due.pop()) await this.#fileOf(file);
    };
    await Promise.all(Array.from({ length: atOnce }, fetchNext));
  }

  /** Removes what other versions have left. */
  async activate(): Promise<void> {
    const { caches } = this.#options;
    const old = (await caches.keys()).filter(
      (name) => name.startsWith(cachePrefix) && name !== this.#cacheName,
    );
    await Promise.all(old.map((name) => caches.delete(name)));
  }

  /** Null for what goes to the network as if this weren't here. */
  answer(request: Request): Promise<Response> | null {
    const { origin, pathname } = new URL(request.url);
    if (request.method !== 'GET' || origin !== this.#options.origin) return null;
    const file = this.#files.get(pathname);
    if (file !== undefined && file.path !== page) return this.#fileOf(file).catch(() => Response.error());
    if (request.mode !== 'navigate' || relayPath.test(pathname)) return null;
    if (pathname === nudgePath) return Promise.resolve(new Response(null, { status: 204 }));
    return this.#page(request);
  }

  /** Every route of the client is the one page. Where the browser has evicted it, the network has to help. */
  async #page(request: Request): Promise<Response> {
    const file = this.#files.get(page);
    const kept = file === undefined ? undefined : await this.#fileOf(file).catch(() => undefined);
    return kept ?? this.#options.fetch(request);
  }

  async #fileOf(file: BuildFile): Promise<Response> {
    const cache = await this.#options.caches.open(this.#cacheName);
    const kept = await cache.match(file.path);
    if (kept !== undefined) return kept;
    const fetched = await this.#fetchVerified(file);
    await cache.put(file.path, fetched.clone());
    return fetched;
  }

  async #fetchVerified({ path, sha256 }: BuildFile): Promise<Response> {
    // What the browser's own cache has may be of another build; then the relay is asked again.
    for (const cache of ['default', 'reload'] as const) {
      const response = await this.#options.fetch(path, { cache, credentials: 'omit', redirect: 'error' });
      if (!response.ok) throw new PrecacheError('unavailable', path);
      const content = await response.arrayBuffer();
      if (toHex(await this.#options.digest(content)) !== sha256) continue;
      const headers = new Headers(response.headers);
      for (const name of transferHeaders) headers.delete(name);
      return new Response(content, { headers });
    }
    this.#options.onRefused(path);
    throw new PrecacheError('mismatch', path);
  }
}

function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
