// Fetches the published vectors from their pinned commits, cuts them anew and compares them with those that are carried
// in test/vectors, byte by byte; --write puts them in their place.
// VECTORS_MIRROR names an address or a folder that has <owner>/<name>/<commit>/<path>.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { carried, cutOrigins, differences, readOrigins } from './origins.mjs';

const mirror = process.env.VECTORS_MIRROR || 'https://raw.githubusercontent.com';

/** No published file comes near it. */
const maxBytes = 256 * 1024 * 1024;

async function readOrigin(place) {
  if (!/^https?:/i.test(mirror)) {
    const folder = mirror.startsWith('file:') ? fileURLToPath(mirror) : mirror;
    const file = resolve(folder, place);
    const found = await stat(file);
    if (!found.isFile() || found.size > maxBytes)
      throw new Error(`${file} is not a file of up to ${maxBytes} bytes`);
    return readFile(file);
  }
  const url = `${mirror}/${place}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch((error) => {
    throw new Error(`${url}: ${error.cause?.message ?? error.message}`);
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const parts = [];
  let length = 0;
  for await (const part of answer.body) {
    length += part.length;
    if (length > maxBytes) throw new Error(`${url} is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function write(files) {
  for (const [name, bytes] of files) {
    const place = `${carried}/${name}`;
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, bytes);
  }
}

try {
  const { files, problems } = await cutOrigins(carried, readOrigin);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const different = differences(carried, files);
  for (const [name, { keep, cases }] of readOrigins(carried)) {
    const what = keep === undefined ? 'whole' : `${JSON.stringify(keep)} of ${cases} cases`;
    process.stdout.write(`${different.includes(name) ? 'differs' : 'same'}  ${name}, ${what}\n`);
  }
  if (different.length > 0 && process.argv.includes('--write')) {
    await write(files);
    process.stdout.write(`Renewed: ${different.join(', ')}\n`);
  } else if (different.length > 0) {
    throw new Error(`Carried otherwise than their origins give: ${different.join(', ')}`);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
