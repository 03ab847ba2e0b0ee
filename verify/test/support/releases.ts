import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { factsOf } from '../../../relay/src/http/clientFacts.ts';
import { releaseHeaders } from '../../../relay/src/http/headers.ts';

import { sha256 } from '../../src/chain/canonical.ts';
import { type Chain, type SignedStep, verifyChain } from '../../src/chain/chain.ts';
import { releasesPath } from '../../src/chain/reading.ts';
import type { Row } from '../../src/compare.ts';
import { stateKeys, stateRelease } from '../../src/making.ts';
import { waictManifest } from '../../src/manifests.ts';
import { type Holder, newHolder, type SignOptions } from './keys.ts';

export type Holders = Readonly<Record<string, Holder>>;

/** Makes keys for people. */
export function holders(...names: readonly string[]): Holders {
  return Object.fromEntries(names.map((name) => [name, newHolder()]));
}

/** Returns the lines by which the commands are told of keys. */
export const keyLines = (people: Holders): string =>
  Object.entries(people)
    .map(([name, { line }]) => `${name} ${line} ${name}@example.org\n`)
    .join('');

/** Signs a step by people who hold keys. */
export function signed(bytes: Uint8Array, people: Holders, options: SignOptions = {}): SignedStep {
  const signatures = Object.entries(people).map(([name, holder]) => [name, holder.sign(bytes, options)]);
  return { bytes, signatures: Object.fromEntries(signatures) as Record<string, string> };
}

/** The first eight bytes of WebAssembly and some more, as the build writes them. */
const wasmText = `@!3-A@@@${'A'.repeat(20)}`;

/** A small client with a file of each kind, written as a build lays it out. */
export const clientFiles: Readonly<Record<string, string>> = {
  'app/index.html':
    '<!doctype html><title>Sinetti</title><script type="importmap">{"integrity":{}}</script><iframe id="keys" src="/keys"></iframe><script type="module" src="/assets/index-B2x_4f.js"></script>',
  'app/manifest.webmanifest': '{\n  "name": "%productName%",\n  "short_name": "%productName%"\n}\n',
  'app/favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'app/icon-180.png': 'PNG',
  'app/robots.txt': 'User-agent: *\n',
  'app/assets/index-B2x_4f.js': 'page();',
  'app/assets/index-Cc_33d.css': 'body {}',
  'app/assets/inter-latin-Dd44_e.woff2': 'wOF2',
  'app/assets/chats-Ee55_f.webp': 'WEBP',
  'app/service-worker.js': 'keep();',
  'keys/keys.html': '<!doctype html><title>Keys</title><script type="module">frame();</script>',
  'keys/storage.html': '<!doctype html><title>Storage</title><script type="module">storage();</script>',
  'keys/assets/keys-B2x_4f.css': 'form {}',
  'keys/assets/crypto.worker-Aa1-b_2.js': `run(${JSON.stringify(wasmText)})`,
  'keys/service-worker.js': 'keepKeys();',
};

/** Writes a client with its compressed copies. */
export async function writeClient(folder: string, files = clientFiles): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeBuilt(folder, name, content);
}

/** Writes one file of a client, with its compressed copy if its kind has one. */
export async function writeBuilt(folder: string, name: string, content: string): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  const isCompressed = /\.(?:html|js|css|svg)$/.test(name) && !name.endsWith('service-worker.js');
  if (isCompressed) await writeFile(`${file}.br`, brotliCompressSync(content));
}

/** The settings of an operator who has said nothing. */
export { defaultOperator } from '../../../relay/contract/operator.ts';

/** Returns a line for each way in which a file is not the release's. */
export const told = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ differences, origin, path: file }) =>
    differences.map((each) => `${origin}${file}: ${each}`),
  );

export const source = {
  commit: 'c0ffee'.padEnd(40, '0'),
  lockfile: await sha256('lock file'),
  node: 'v20.20.2',
};

/** States what is built in a folder, with the headers of this repository's relay. */
export function stated(
  folder: string,
  former: Parameters<typeof stateRelease>[2],
  facts: { version?: string; source?: typeof source } = {},
): Promise<Uint8Array> {
  const served = releaseHeaders(factsOf({ current: folder }));
  return stateRelease(folder, { version: '1.0.0', source, served, ...facts }, former);
}

/** A chain with its steps, as a folder of releases keeps them. */
export interface SignedChain {
  readonly root: string;
  readonly steps: readonly SignedStep[];
  readonly chain: Chain;
}

/** Makes a chain: the keys of these people, then a release of what is built in a folder. */
export async function firstRelease(
  folder: string,
  people: Holders,
  facts: Parameters<typeof stated>[2] = {},
): Promise<SignedChain> {
  const keys = signed(stateKeys(keyLines(people), 2, null), people);
  const root = await sha256(keys.bytes);
  const release = signed(await stated(folder, await verifyChain([keys], root), facts), people);
  const steps = [keys, release];
  return { root, steps, chain: await verifyChain(steps, root) };
}

/** Lays a chain beside a built client, as `npm run release` does. */
export async function publish(folder: string, { chain, steps }: SignedChain): Promise<void> {
  for (const origin of ['app', 'keys'] as const) {
    await publishAt(path.join(folder, origin, releasesPath), chain, steps);
    if (chain.release === null) continue;
    const { address, body } = waictManifest(chain.release, origin);
    const file = path.join(folder, origin, address);
    await rm(path.dirname(file), { recursive: true, force: true });
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, body);
  }
}

async function publishAt(target: string, chain: Chain, steps: readonly SignedStep[]): Promise<void> {
  await mkdir(path.join(target, 'chain'), { recursive: true });
  for (const [at, { bytes, signatures }] of steps.entries()) {
    const names = [`chain/${at + 1}.json`, ...(at + 1 === chain.release?.seq ? ['release.json'] : [])];
    for (const name of names) {
      await writeFile(path.join(target, name), bytes);
      for (const [holder, signature] of Object.entries(signatures)) {
        await writeFile(path.join(target, `${name}.${holder}.sig`), signature);
      }
    }
  }
}
