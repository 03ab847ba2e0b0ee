import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Where the published test vectors may be: named by the environment, beside the checkout, or fetched into a cache. */
function vectorsDirectory(): string {
  const candidates = [process.env['VECTORS_DIR'], `${root}../shared/vectors`, `${root}.cache/vectors`];
  for (const candidate of candidates) {
    if (candidate !== undefined && existsSync(`${candidate}/mls`)) return candidate;
  }
  throw new Error(
    `The published test vectors were not found in any of: ${candidates.filter(Boolean).join(', ')}. ` +
      'Run "npm run vectors:fetch", or set VECTORS_DIR.',
  );
}

/**
 * One file of published vectors.
 * @param path relative to the vectors directory, such as "mls/crypto-basics.json"
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller states the file's format
export function readVectors<T>(path: string): T {
  return JSON.parse(readFileSync(`${vectorsDirectory()}/${path}`, 'utf8')) as T;
}

export const SUPPORTED_SUITES: readonly number[] = [0x0003, 0x004d];

/**
 * The MLS vectors of the suites this implementation speaks. The others are counted and printed, never silently
 * dropped, and a file without a single vector to run is an error.
 */
export function supportedVectors<T extends { cipher_suite: number }>(name: string): T[] {
  const all = readVectors<T[]>(`mls/${name}.json`);
  const run = all.filter((vector) => SUPPORTED_SUITES.includes(vector.cipher_suite));
  const others = all.filter((vector) => !SUPPORTED_SUITES.includes(vector.cipher_suite));
  report(
    name,
    run.length,
    others.length === 0 ? '' : `${others.length} of unsupported suites ${suiteList(others)}`,
  );
  if (run.length === 0) throw new Error(`${name}: no vector of a supported suite`);
  return run;
}

/** Prints how many vectors of a file were run, and why the rest were not. */
export function report(name: string, run: number, rest: string): void {
  console.info(`${name}: ${run} run${rest === '' ? '' : `, ${rest}`}`);
}

function suiteList(vectors: readonly { cipher_suite: number }[]): string {
  return [...new Set(vectors.map((vector) => vector.cipher_suite))].sort((a, b) => a - b).join(',');
}

export function fromHex(hex: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new Error('not hexadecimal');
  return new Uint8Array(Buffer.from(hex, 'hex'));
}
