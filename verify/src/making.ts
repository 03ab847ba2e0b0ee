import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { canonicalBytes, type Json, sha256 } from './chain/canonical.ts';
import { type Chain, type SignedStep, verifyChain } from './chain/chain.ts';
import { Failure } from './chain/errors.ts';
import { parseSigningKey } from './chain/sshsig.ts';
import {
  type KeysStatement,
  type Origin,
  type PolicyName,
  parseStatement,
  type ReleaseStatement,
} from './chain/statement.ts';
import { filesIn } from './folder.ts';

/** The facts of a release beside its files. */
export interface ReleaseFacts {
  readonly version: string;
  readonly source: ReleaseStatement['source'];
  /** The headers that the relay of this release sends (`releaseHeaders` of the relay). */
  readonly served: Pick<ReleaseStatement, 'headers' | 'documents' | 'caching' | 'policies'>;
}

/** The step before, which a new one names; null for the first. */
export type Former = { readonly seq: number; readonly hash: string } | null;

const cryptoWorker = /^\/assets\/crypto\.worker-[\w-]+\.js$/;

/**
 * Makes the statement of a built client: the same bytes for the same files, wherever they were built.
 * @param folder with `app` and `keys` in it
 * @throws Failure `malformed` if the built worker holds no WebAssembly that can be found, or a header doesn't fit into a statement
 */
export async function stateRelease(folder: string, facts: ReleaseFacts, former: Former): Promise<Uint8Array> {
  if (former === null) throw new Failure('chain', 'The first step of a chain names its keys.');
  const files = await filesIn(folder);
  const worker = Object.keys(files.keys).find((name) => cryptoWorker.test(name));
  if (worker === undefined) throw new Failure('malformed', 'There is no worker of the keys in this build.');
  const script = await readFile(path.join(folder, 'keys', worker), 'utf8');
  const policyOf: Record<Origin, Record<string, PolicyName>> = {
    app: { '/service-worker.js': 'workers.app' },
    keys: {
      '/service-worker.js': 'workers.keys',
      '/storage.html': 'storage',
      [worker]: 'workers.crypto',
    },
  };
  const statement: ReleaseStatement = {
    type: 'sinetti-release',
    version: facts.version,
    seq: former.seq + 1,
    prev: former.hash,
    source: facts.source,
    files,
    wasm: [await sha256(wasmIn(script))],
    policyOf,
    ...facts.served,
  };
  return checked(statement as unknown as Json);
}

/**
 * Makes the statement of keys.
 * @param lines one key a line: the holder's name, and the public key as OpenSSH writes it, with or without its comment
 */
export function stateKeys(lines: string, threshold: number, former: Former): Uint8Array {
  const keys = lines
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([name = '']) => name !== '' && !name.startsWith('#'))
    .map(([name = '', type = '', blob = '']): [string, string] => [name, `${type} ${blob}`]);
  const statement: KeysStatement = {
    type: 'sinetti-release-keys',
    seq: former === null ? 1 : former.seq + 1,
    prev: former?.hash ?? null,
    threshold,
    keys: Object.fromEntries(keys),
  };
  if (keys.length !== Object.keys(statement.keys).length)
    throw new Failure('malformed', 'A name is there twice.');
  return checked(statement as unknown as Json);
}

function checked(statement: Json): Uint8Array {
  const bytes = canonicalBytes(statement);
  parseStatement(bytes);
  return bytes;
}

/** Returns a line for each key that is in force before or after a step of keys: its fingerprint, its holder, and whether it comes or goes. */
export function describeKeys(former: KeysStatement | null, next: KeysStatement): string[] {
  const before = former?.keys ?? {};
  const stateOf = (name: string) => (!(name in next.keys) ? 'goes' : name in before ? 'stays' : 'NEW');
  return Object.entries({ ...before, ...next.keys }).map(
    ([name, key]) => `${stateOf(name).padEnd(5)}  ${fingerprintOf(key)}  ${name}`,
  );
}

/**
 * Returns a key's fingerprint as `ssh-keygen -l` writes it, to be compared with what its holder says by another way.
 * @throws Failure `malformed`
 */
export function fingerprintOf(line: string): string {
  const hash = createHash('sha256').update(parseSigningKey(line).blob).digest('base64');
  return `SHA256:${hash.replace(/=+$/, '')}`;
}

/** Returns the lines by which `ssh-keygen -Y verify` knows the keys in force. */
export function allowedSigners({ keys }: KeysStatement): string {
  return Object.entries(keys)
    .map(([name, key]) => `${name} namespaces="sinetti-release" ${key}\n`)
    .join('');
}

/** A module's first eight bytes, as the build writes them into the text of the worker: each with one bit flipped. */
const flippedMagic = '@!3-A@@@';

/** Takes the WebAssembly out of the worker's script, into which the build has put it as a text (build/wasmAsText.ts). */
function wasmIn(script: string): Uint8Array {
  const start = script.indexOf(flippedMagic);
  const quote = script[start - 1] ?? '';
  let end = start;
  while (end < script.length && script[end] !== quote) end += script[end] === '\\' ? 2 : 1;
  if (start < 1 || !/["'`]/.test(quote) || script.includes(flippedMagic, end)) {
    throw new Failure('malformed', 'The WebAssembly of the worker is not where the build puts it.');
  }
  const text = String(runInNewContext(script.slice(start - 1, end + 1)));
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0) ^ 0x40);
  const begin = Buffer.from(bytes.subarray(0, 8)).toString('latin1');
  if (begin !== '\0asm\u0001\0\0\0') throw new Failure('malformed', 'The worker holds no WebAssembly.');
  return bytes;
}

/**
 * Verifies the chain that a folder of releases holds: `1.json`, `1.json.anna.sig` and so on.
 * @param read a file of the folder, null for one that isn't there
 * @returns null for a folder without a step; the chain up to the last step that is signed by enough, and the one after it, if there is one
 */
export async function chainIn(read: (name: string) => Promise<Uint8Array | null>): Promise<{
  readonly chain: Chain | null;
  readonly steps: readonly SignedStep[];
  readonly draft: Uint8Array | null;
}> {
  const steps: SignedStep[] = [];
  const holders = new Set<string>();
  for (let seq = 1; ; seq += 1) {
    const bytes = await read(`${seq}.json`);
    if (bytes === null) break;
    const statement = parseStatement(bytes);
    if (statement.type === 'sinetti-release-keys')
      for (const name of Object.keys(statement.keys)) holders.add(name);
    const signatures: Record<string, string> = {};
    for (const name of holders) {
      const armored = await read(`${seq}.json.${name}.sig`);
      if (armored !== null) signatures[name] = Buffer.from(armored).toString('latin1');
    }
    steps.push({ bytes, signatures });
  }
  const [first] = steps;
  if (first === undefined) return { chain: null, steps, draft: null };
  const root = await sha256(first.bytes);
  try {
    return { chain: await verifyChain(steps, root), steps, draft: null };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'signature') throw error;
    const signed = steps.slice(0, -1);
    const chain = signed.length === 0 ? null : await verifyChain(signed, root);
    return { chain, steps: signed, draft: steps.at(-1)?.bytes ?? null };
  }
}
