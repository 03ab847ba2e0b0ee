import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { WebClient } from './webCopies.ts';

/** The facts of a built client that its headers name. */
export interface ClientFacts {
  /** Hash sources (CSP 3, section 2.3.1) of all that each page has inline: the app's import map, and the scripts of those of the keys. */
  readonly inline: Readonly<Record<'page' | 'frame' | 'storage', readonly string[]>>;
  /** Addresses of the manifests for WAICT by their origin; null for a client of no release. */
  readonly manifests: Readonly<Record<'app' | 'keys', string | null>>;
}

/** The pages at the origin of the keys by their address, which at the app's leads there. */
export const keysPages = { '/keys': 'keys.html', '/storage': 'storage.html' };

/** The folder of manifests for WAICT, each of which is named by its hash. */
export const waictPath = '/.well-known/waict/manifests';

/** Reads the facts of a built client; of none there are none. */
export function factsOf(web: Pick<WebClient, 'current'> | null): ClientFacts {
  const inlineIn = (file: string) => (web === null ? [] : hashesIn(path.join(web.current, file)));
  const manifestIn = (part: string) => (web === null ? null : manifestOf(path.join(web.current, part)));
  return {
    inline: {
      page: inlineIn('app/index.html'),
      frame: inlineIn(`keys/${keysPages['/keys']}`),
      storage: inlineIn(`keys/${keysPages['/storage']}`),
    },
    manifests: { app: manifestIn('app'), keys: manifestIn('keys') },
  };
}

function hashesIn(page: string): string[] {
  const scripts = readFileSync(page, 'utf8').matchAll(
    /<script type="(?:module|importmap)">(.*?)<\/script>/gs,
  );
  return [...scripts].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}

/** A release lays one manifest there (build/release/publish.mjs). */
function manifestOf(folder: string): string | null {
  const manifests = path.join(folder, waictPath);
  const names = existsSync(manifests) ? readdirSync(manifests) : [];
  const [name = '', ...others] = names.filter((each) => /^[\w-]{22}$/.test(each));
  return name === '' || others.length > 0 ? null : `${waictPath}/${name}`;
}
