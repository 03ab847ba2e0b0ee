// The files that test/vectors carries, and the published files they were cut from.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const carried = fileURLToPath(new URL('../vectors', import.meta.url));

/** Reads the origin of each carried file, by the file's name. */
export function readOrigins(folder) {
  const sources = JSON.parse(readFileSync(`${folder}/origins.json`, 'utf8'));
  return new Map(
    sources.flatMap(({ files, folder: of, repository, commit, path, keep }) =>
      Object.entries(files).map(([file, { sha256: sum, carried: cutSum, cases }]) => [
        `${of}/${file}`,
        { place: `${repository}/${commit}/${path}${file}`, sum, cutSum, keep, cases },
      ]),
    ),
  );
}

/** Reads the SHA-256 of each carried file, by the file's name. */
export function readSums(folder) {
  const lines = readFileSync(`${folder}/SHA256SUMS`, 'utf8').trim().split('\n');
  return new Map(lines.map((line) => line.split('  ')).map(([sum, name]) => [name, sum]));
}

export function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Keeps the cases that have the given values. Without values the file stays as it is, byte for byte. */
export function cut(bytes, keep) {
  if (keep === undefined) return bytes;
  const fields = Object.entries(keep);
  const cases = JSON.parse(bytes.toString());
  const kept = cases.filter((one) => fields.every(([field, value]) => one[field] === value));
  return Buffer.from(JSON.stringify(kept));
}

/**
 * Cuts each origin anew.
 * @param readOrigin gives the bytes at a place such as "owner/name/commit/path"
 * @returns the files as they should be carried, with their sums; an origin that isn't the pinned one is a problem
 */
export async function cutOrigins(folder, readOrigin) {
  const files = new Map();
  const problems = [];
  for (const [name, { place, sum, keep, cases }] of readOrigins(folder)) {
    const origin = await readOrigin(place);
    const found = sha256(origin);
    if (found !== sum) problems.push(`${place}: SHA-256 is ${found}, origins.json says ${sum}`);
    else if (keep !== undefined && JSON.parse(origin.toString()).length !== cases) {
      problems.push(`${place}: does not hold the ${cases} cases that origins.json says`);
    } else files.set(name, cut(origin, keep));
  }
  const sums = [...files].map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
  files.set('SHA256SUMS', Buffer.from(sums.join('')));
  return { files, problems };
}

/** Lists the names of the files that are carried with other bytes, or not at all. */
export function differences(folder, files) {
  return [...files].filter(([name, bytes]) => !isCarried(`${folder}/${name}`, bytes)).map(([name]) => name);
}

function isCarried(path, bytes) {
  try {
    return readFileSync(path).equals(bytes);
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}
