/** The files of one build, kept in the browser as they were built. Nothing else is ever kept: no answer of the API, no token. */
import { toBase64 } from '../../verify/src/chain/canonical.ts';

export interface BuildFile {
  /** From the origin's root: `/assets/…`. */
  readonly path: string;
  /** The hash of the content, in hexadecimal. */
  readonly sha256: string;
  /** Fetched with the version; the others when they are first asked for. */
  readonly atInstall: boolean;
}

export interface Build {
  /** Another one for any other content of any file. */
  readonly version: string;
  readonly files: readonly BuildFile[];
}

/** `unavailable`: not answered with success. `mismatch`: answered with something else than what was built, or for. */
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

/** The operator's settings, as the relay has them in `/operator.js` (relay/src/http/static.ts). */
export interface OperatorSettings {
  readonly keysOrigin: string;
  /** The headers of the files by their origin and kind. */
  readonly headers: {
    readonly app: { readonly page: Readonly<Record<string, string>> };
    readonly keys: Readonly<Record<'page' | 'worker', Readonly<Record<string, string>>>>;
  };
  /** The settings that the app's page asks for at `/operator.json`, and reads by its schema. */
  readonly operator?: unknown;
}

export interface PrecacheOptions {
  readonly build: Build;
  /** The file that answers navigations, and which of them it answers. */
  readonly page: {
    readonly file: string;
    readonly answers: (pathname: string) => boolean;
    /** Returns whether the page begins by asking for a file, which is read and checked while the page is being loaded. */
    readonly beginsWith?: (path: string) => boolean;
    /** Puts into the page what the operator decides. */
    readonly filled?: (page: string) => string;
  };
  /** The headers of a file: neither a cache nor a server has a say in them. */
  readonly headersOf: (path: string) => Readonly<Record<string, string>>;
  readonly origin: string;
  readonly caches: Pick<CacheStorage, 'open' | 'keys' | 'delete'>;
  readonly fetch: typeof globalThis.fetch;
  readonly digest: (content: ArrayBuffer) => Promise<ArrayBuffer>;
  readonly onRefused: (path: string) => void;
  /** Tells if a release is held on to: the network then has no say where a file is gone. */
  readonly isPinned: () => Promise<boolean>;
}

/**
 * As the relay says of names that hold a hash of the content: a page that loads again takes them from its own memory, where
 * they are as they were answered.
 */
const hashedName = 'public, max-age=31536000, immutable';
const cachePrefix = 'sinetti-';
/** All that pages have inline. */
const inlineScript = /<script type="(?:module|importmap)">(.*?)<\/script>/gs;
const atOnce = 6;
const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  ogg: 'audio/ogg',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  wav: 'audio/wav',
  webmanifest: 'application/manifest+json',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

export class Precache {
  readonly #options: PrecacheOptions;
  readonly #files: ReadonlyMap<string, BuildFile>;
  readonly #cacheName: string;
  /** Files that the page which is being loaded will ask for, each for one answer. */
  readonly #ahead = new Map<string, Promise<Response>>();

  constructor(options: PrecacheOptions) {
    this.#options = options;
    this.#files = new Map(options.build.files.map((file) => [file.path, file]));
    this.#cacheName = `${cachePrefix}${options.build.version}`;
  }

  /** @throws PrecacheError when a file can't be had as it was built: then this version doesn't come into use */
  async install(): Promise<void> {
    const due = this.#options.build.files.filter(({ atInstall }) => atInstall);
    const fetchNext = async (): Promise<void> => {
      for (let file = due.pop(); file !== undefined; file = due.pop())
        await this.#fileOf(file, (path, answer) => this.#keep(path, answer));
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
    const { page } = this.#options;
    const file = this.#files.get(pathname);
    // As it was built: what the operator decides is put into the page for navigations alone.
    if (file !== undefined && (file.path !== page.file || request.mode !== 'navigate')) {
      const answer = this.#ahead.get(pathname) ?? this.#fileOf(file);
      this.#ahead.delete(pathname);
      return answer.catch(() => Response.error());
    }
    if (request.mode !== 'navigate' || !page.answers(pathname)) return null;
    this.#lookAhead();
    return this.#page(request);
  }

  #lookAhead(): void {
    for (const file of this.#files.values()) {
      if (this.#options.page.beginsWith?.(file.path) !== true) continue;
      const answer = this.#fileOf(file);
      // Told of where it is asked for.
      answer.catch(() => undefined);
      this.#ahead.set(file.path, answer);
    }
  }

  /** The network has to help when the browser has evicted the page. */
  async #page(request: Request): Promise<Response> {
    const { file: path, filled } = this.#options.page;
    const file = this.#files.get(path);
    let isOther = false;
    const kept =
      file === undefined
        ? undefined
        : await this.#fileOf(file).catch((error: unknown) => {
            isOther = error instanceof PrecacheError && error.code === 'mismatch';
            return undefined;
          });
    if (kept === undefined && (await this.#options.isPinned())) return lost(isOther);
    if (kept === undefined) return this.#options.fetch(request);
    return filled === undefined ? kept : new Response(filled(await kept.text()), { headers: kept.headers });
  }

  /**
   * @param keep of what had to be fetched. A browser whose storage is full, or fails, gets its answer all the same, except that a version
   * is not installed that can't be kept
   */
  async #fileOf(
    file: BuildFile,
    keep = (path: string, answer: Response) => this.#keep(path, answer).catch(() => undefined),
  ): Promise<Response> {
    const kept = await this.#keptOf(file).catch(() => undefined);
    if (kept !== undefined) return kept;
    const fetched = await this.#fetchVerified(file);
    if (file.path === this.#options.page.file) await this.#requireAdmitted(fetched);
    const answer = new Response(fetched, { headers: this.#headersOf(file) });
    await keep(file.path, answer.clone());
    return answer;
  }

  async #keptOf(file: BuildFile): Promise<Response | undefined> {
    const cache = await this.#options.caches.open(this.#cacheName);
    const kept = await cache.match(file.path);
    // Every script of this origin can write to the cache: what comes from there is trusted no more than the network.
    return kept !== undefined && (await this.#isAsKept(kept, file)) ? kept : undefined;
  }

  async #keep(path: string, answer: Response): Promise<void> {
    const cache = await this.#options.caches.open(this.#cacheName);
    await cache.put(path, answer);
  }

  #headersOf({ path }: BuildFile): Record<string, string> {
    const type = contentTypes[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    const caching = path.startsWith('/assets/') ? { 'cache-control': hashedName } : {};
    return { ...this.#options.headersOf(path), ...caching, 'content-type': type };
  }

  /** Such an answer is given as it is: the browser has compiled scripts beside those of its cache, not beside copies. */
  async #isAsKept(kept: Response, file: BuildFile): Promise<boolean> {
    if (kept.status !== 200 || kept.redirected) return false;
    const expected = new Headers(this.#headersOf(file));
    const hasOurs = [...expected].every(([name, value]) => kept.headers.get(name) === value);
    const hasOthers = [...kept.headers].some(([name]) => !expected.has(name));
    return hasOurs && !hasOthers && (await this.#isAsBuilt(await kept.clone().arrayBuffer(), file));
  }

  async #isAsBuilt(content: ArrayBuffer, { sha256 }: BuildFile): Promise<boolean> {
    return toHex(await this.#options.digest(content)) === sha256;
  }

  /**
   * Relays behind one address may differ for a moment: by the settings of another version the page would run nothing, and nobody
   * could leave it.
   * @throws PrecacheError `mismatch` unless the policy admits what the page has inline
   */
  async #requireAdmitted(page: ArrayBuffer): Promise<void> {
    const {
      digest,
      headersOf,
      page: { file },
    } = this.#options;
    const { 'content-security-policy': policy = '' } = headersOf(file);
    // A page without a policy runs all that it has.
    if (policy === '') return;
    for (const [, script = ''] of new TextDecoder().decode(page).matchAll(inlineScript)) {
      const hash = new Uint8Array(await digest(new TextEncoder().encode(script).buffer));
      if (!policy.includes(`'sha256-${toBase64(hash)}'`)) throw new PrecacheError('mismatch', file);
    }
  }

  async #fetchVerified(file: BuildFile): Promise<ArrayBuffer> {
    const { path } = file;
    // The browser's own cache may have a file of another build; then the relay is asked again.
    for (const cache of ['default', 'reload'] as const) {
      const response = await this.#options.fetch(path, { cache, credentials: 'omit', redirect: 'error' });
      if (!response.ok) throw new PrecacheError('unavailable', path);
      const content = await response.arrayBuffer();
      if (await this.#isAsBuilt(content, file)) return content;
    }
    this.#options.onRefused(path);
    throw new PrecacheError('mismatch', path);
  }
}

/** In the place of a page that this browser has lost: the next step is the person's. @param isOther true if the relay has answered with another one */
function lost(isOther: boolean): Response {
  const text = isOther
    ? 'This browser has lost the app, and the server has another version than the one you agreed to. To begin anew here, clear the data of this site.'
    : 'This browser has lost the app, and the server does not give it now. Try again later: nothing else of yours is lost.';
  return new Response(text, { status: 503, headers: { 'content-type': contentTypes.txt ?? '' } });
}

function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
