import { readFileSync } from 'node:fs';
import { decode } from '../../src/codec/reader.ts';
import { readRatchetTreeNodes } from '../../src/structs/node.ts';
import { type OwnRatchetTree, RatchetTree } from '../../src/tree/ratchetTree.ts';
import { given } from './given.mjs';
import { carried, readOrigins, readSums, sha256 } from './origins.mjs';

const origins = readOrigins(carried);

/** Reads a file of published vectors in JSON, as {@link readCarried} does. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller states the file's format
export function readVectors<T>(path: string, folder = carried): T {
  return JSON.parse(readCarried(path, folder).toString()) as T;
}

/**
 * Reads a file of published vectors.
 * @throws Error when its SHA-256 is not the one that SHA256SUMS lists
 * @param path relative to the folder, such as "mls/crypto-basics.json"
 */
export function readCarried(path: string, folder = carried): Buffer {
  const bytes = readFileSync(`${folder}/${path}`);
  const found = sha256(bytes);
  const listed = readSums(folder).get(path);
  if (found !== listed) {
    throw new Error(`${folder}/${path}: SHA-256 is ${found}, SHA256SUMS says ${listed ?? 'nothing of it'}`);
  }
  return bytes;
}

/** Reads a file of MLS vectors and reports how many it has. @throws Error for a file without a single one */
export function mlsVectors<T>(name: string, folder = 'mls'): T[] {
  if (given.name !== null) return (given.name === name ? given.cases : []) as T[];
  const path = `${folder}/${name}.json`;
  const vectors = readVectors<T[]>(path);
  if (vectors.length === 0) throw new Error(`${path}: no vector`);
  const others = countLeftOut(path, vectors);
  report(
    folder === 'mls' ? name : `${folder} ${name}`,
    vectors.length,
    others === 0 ? '' : `${others} of unsupported suites not carried`,
  );
  return vectors;
}

/** Counts the cases that the published file has beside those that are carried. */
export function countLeftOut(path: string, vectors: readonly unknown[]): number {
  return (origins.get(path)?.cases ?? vectors.length) - vectors.length;
}

/** Prints how many vectors of a file were run, and why the rest were not. */
export function report(name: string, run: number, rest: string): void {
  console.info(`${name}: ${run} run${rest === '' ? '' : `, ${rest}`}`);
}

/** Reads the tree of a vector, trusted like a stored one, since it comes without a GroupInfo to verify it against. */
export function treeOf(hex: string): OwnRatchetTree {
  return RatchetTree.fromOwnRecord(decode(fromHex(hex), readRatchetTreeNodes));
}

export function fromHex(hex: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new Error('not hexadecimal');
  return new Uint8Array(Buffer.from(hex, 'hex'));
}
