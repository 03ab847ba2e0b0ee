// Says how heavy the scripts of the built pages are, and fails when one is heavier than it may be.
import { pages, readScripts, scriptsOf } from './scripts.mjs';

const dist = process.argv[2] ?? 'dist';
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

// Which of two files that import each other runs first depends on who asks for them, and the other finds nothing there.
const isDone = new Set();
function refuseCycles(name, path) {
  if (path.includes(name)) throw new Error(`files import each other: ${[...path, name].join(' > ')}`);
  if (isDone.has(name)) return;
  for (const imported of scripts.get(name)?.imports ?? []) refuseCycles(imported, [...path, name]);
  isDone.add(name);
}
for (const name of scripts.keys()) refuseCycles(name, []);
