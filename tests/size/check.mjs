// Says how heavy the scripts of the built pages are, and fails when one is heavier than it may be.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pages, readScript, readScripts, scriptsOf } from './scripts.mjs';

const dist = process.argv[2] ?? 'dist/app';
const scripts = readScripts(dist);
const kilobytes = (bytes) => (bytes / 1000).toFixed(1).padStart(7);

for (const [page, { limit }] of Object.entries(pages)) {
  const parts = scriptsOf(page, dist, scripts).map((name) => ({ name, size: scripts.get(name).size }));
  const total = parts.reduce((sum, { size }) => sum + size, 0);
  process.stdout.write(`\n${page}, KB after brotli\n`);
  for (const { name, size } of parts.sort((one, other) => other.size - one.size)) {
    if (size >= 1000) process.stdout.write(`${kilobytes(size)}  ${name}\n`);
  }
  const small = parts.filter(({ size }) => size < 1000);
  const rest = small.reduce((sum, { size }) => sum + size, 0);
  process.stdout.write(`${kilobytes(rest)}  ${small.length} smaller ones\n`);
  process.stdout.write(`${kilobytes(total)}  of at most ${limit / 1000}\n`);
  if (total > limit) {
    process.stderr.write(`The scripts of the ${page} are too heavy.\n`);
    process.exitCode = 1;
  }
}

// It has the hashes of all scripts, which no compression makes smaller (docs/decisions/import-map.md).
const document = readScript(path.join(dist, 'index.html')).size;
const largestDocument = 6500;
process.stdout.write(
  `\ndocument of the app, KB after brotli\n${kilobytes(document)}  of at most ${largestDocument / 1000}\n`,
);
if (document > largestDocument) {
  process.stderr.write('The document of the app is too heavy.\n');
  process.exitCode = 1;
}

const keysFolder = path.join(dist, '../keys');
const keys = readScripts(keysFolder);
for (const page of ['keys.html', 'storage.html']) keys.set(page, readScript(path.join(keysFolder, page)));
const heaviest = 200_000;
const inKeys = [...keys.values()].reduce((sum, { size }) => sum + size, 0);
process.stdout.write('\norigin of the keys, KB after brotli\n');
for (const [name, { size }] of keys) process.stdout.write(`${kilobytes(size)}  ${name}\n`);
process.stdout.write(
  `${kilobytes(inKeys)}  of at most ${heaviest / 1000}\n\nwhat the worker is made of, KB as written\n`,
);
const contents = JSON.parse(readFileSync(path.join(dist, '../keys-contents.json'), 'utf8'));
for (const [part, size] of Object.entries(contents)) process.stdout.write(`${kilobytes(size)}  ${part}\n`);
const allowed = ['comlink', 'crypto-core', 'idb', 'libsodium', 'workers', 'the builder'];
const strangers = Object.keys(contents).filter((part) => !allowed.includes(part));
if (inKeys > heaviest || strangers.length > 0) {
  process.stderr.write(
    `The origin of the keys is too heavy, or has what it should not: ${strangers.join(', ')}.\n`,
  );
  process.exitCode = 1;
}

// The order in which two files that import each other run depends on who asks for them, and one finds nothing in the other.
const isDone = new Set();
function refuseCycles(name, way) {
  if (way.includes(name)) throw new Error(`files import each other: ${[...way, name].join(' > ')}`);
  if (isDone.has(name)) return;
  for (const imported of scripts.get(name)?.imports ?? []) refuseCycles(imported, [...way, name]);
  isDone.add(name);
}
for (const name of scripts.keys()) refuseCycles(name, []);
