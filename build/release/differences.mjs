import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Compares two folders byte by byte.
 * @returns a line for each file that only one has, or that is another from some offset on
 */
export function differencesOf(one, other) {
  const [ofOne, ofOther] = [one, other].map(filesBelow);
  const names = [...new Set([...ofOne, ...ofOther])].sort();
  return names.flatMap((name) => {
    if (!ofOther.has(name)) return [`${name}: only in ${one}`];
    if (!ofOne.has(name)) return [`${name}: only in ${other}`];
    const [first, second] = [one, other].map((folder) => readFileSync(path.join(folder, name)));
    if (first.equals(second)) return [];
    const shorter = Math.min(first.length, second.length);
    let offset = 0;
    while (offset < shorter && first[offset] === second[offset]) offset += 1;
    return [
      `${name}: another from byte ${offset} on (${first.length} and ${second.length} bytes): ${excerpt(first, offset)} and ${excerpt(second, offset)}`,
    ];
  });
}

function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return new Set(files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))));
}

function excerpt(bytes, offset) {
  return JSON.stringify(bytes.subarray(offset, offset + 24).toString('latin1'));
}
