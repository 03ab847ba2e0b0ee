// Finds what a built page loads: the scripts that its entry imports, and those that it asks for before one sees it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';

/**
 * By page: the chunks that are imported while it is drawn for the first time, by name, beside the entry; and the most
 * that all scripts of it may weigh, in bytes after brotli. The origin of the keys is counted by check.mjs.
 */
export const pages = {
  landing: { chunks: ['LandingPage', 'visitors'], limit: 100_000 },
  dashboard: {
    chunks: ['visitors', 'members', 'client', 'session'],
    limit: 250_000,
  },
};

/** Chunks of which there is one in each language: a page loads one of them, and the heaviest is counted. */
export const perLanguage = ['visitors', 'members'];

export function readScripts(dist) {
  const assets = path.join(dist, 'assets');
  const names = readdirSync(assets).filter((name) => name.endsWith('.js'));
  return new Map(names.map((name) => [name, readScript(path.join(assets, name))]));
}

/** Size in bytes after brotli, and imports, of a script or of a page that has one in it. */
export function readScript(file) {
  const code = readFileSync(file, 'utf8');
  const imports = [...code.matchAll(/(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)].map(
    ([, name]) => name,
  );
  return { size: brotliCompressSync(code).length, imports };
}

/** Names of the scripts of a page. @throws when a chunk that it should load isn't there */
export function scriptsOf(page, dist, scripts) {
  const html = readFileSync(path.join(dist, 'index.html'), 'utf8');
  const entries = [...html.matchAll(/<script type="module"[^>]* src="\/assets\/([^"]+)"/g)].map(
    ([, name]) => name,
  );
  if (entries.length === 0) throw new Error('index.html has no entry');
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const imported of scripts.get(name)?.imports ?? []) add(imported);
  };
  for (const entry of entries) add(entry);
  for (const chunk of pages[page].chunks) {
    const files = [...scripts.keys()].filter((name) => chunkName(name) === chunk);
    if (files.length === 0) throw new Error(`no chunk is called ${chunk}: which one has taken its place?`);
    const heaviestFirst = files.sort((one, other) => scripts.get(other).size - scripts.get(one).size);
    for (const file of perLanguage.includes(chunk) ? heaviestFirst.slice(0, 1) : files) add(file);
  }
  return [...found];
}

export function chunkName(file) {
  return file.replace(/-[\w-]{8}\.js$/, '');
}
