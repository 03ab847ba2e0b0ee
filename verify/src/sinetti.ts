#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { printable, readArguments, runCommand } from './arguments.ts';
import { canonicalText } from './chain/canonical.ts';
import type { Chain } from './chain/chain.ts';
import { Failure } from './chain/errors.ts';
import { connectOf } from './chain/expected.ts';
import { chainOf, type ReleasesReader, releasesPath } from './chain/reading.ts';
import { compareRelay, type Row } from './compare.ts';
import { createFetcher } from './fetching.ts';
import { compareFolder } from './folder.ts';
import { webcatManifest } from './manifests.ts';
import { describeOperator, type OperatorSettings } from './operator.ts';
import { rebuild } from './rebuild.ts';
import { describeRelease, newestRelease, operatorOf, releaseOf } from './relay.ts';

const usage = `sinetti verify URL [--rebuild SOURCE] [--root HASH] [--state FOLDER]
  Compares every file and header that a relay serves with its signed release.
  --rebuild SOURCE  builds the release's commit from a git repository and compares that, too
  --root HASH       the SHA-256 of the chain's first step, if not the one that this package has
  --state FOLDER    where it is remembered how far the chain was seen
sinetti verify FOLDER …
  Does so with a built client on this machine: a folder with app and keys in it.
sinetti webcat URL --origin app|keys --project URL …
  Prints the release's manifest for WEBCAT, which its own command signs.
`;

const say = (line: string) => void process.stdout.write(`${printable(line)}\n`);

await runCommand(async () => {
  const [command, ...words] = process.argv.slice(2);
  if (command === 'webcat') return printWebcat(words);
  if (command !== 'verify' || words.includes('--help')) {
    process.stdout.write(usage);
    return command === '--help' || command === 'verify' ? 0 : 2;
  }
  const { target, root, stateFolder, options } = readArguments(words, ['rebuild']);
  const isFolder = !/^https?:\/\//.test(target) && existsSync(path.join(target, 'app'));
  const { chain, operator, rows } = isFolder
    ? await verifyFolder(target, root)
    : await verifyRelay(target, root, stateFolder);
  const release = newestRelease(chain);
  say(describeRelease(chain));
  let wrong = printTable(rows);
  if (operator !== null) for (const line of describeOperator(operator)) say(line);
  if (options.rebuild !== undefined) {
    const built = await rebuild(release, options.rebuild, say);
    say('built from the source:');
    wrong += printTable(built);
  }
  say(wrong === 0 ? 'All of it is the release.' : `${wrong} are not the release's.`);
  return wrong === 0 ? 0 : 1;
});

interface Verified {
  readonly chain: Chain;
  readonly rows: readonly Row[];
  /** Null in a folder, which has none. */
  readonly operator: OperatorSettings | null;
}

async function verifyFolder(folder: string, root: string): Promise<Verified> {
  const read: ReleasesReader = (name) =>
    readFile(path.join(folder, 'app', releasesPath, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
  const chain = await chainOf(read, root, null);
  return { chain, rows: await compareFolder(newestRelease(chain), folder), operator: null };
}

async function verifyRelay(target: string, root: string, stateFolder: string): Promise<Verified> {
  const fetcher = createFetcher();
  try {
    const { chain, origins, release } = await releaseOf({ target, root, stateFolder }, fetcher);
    const { operator, rows } = await compareRelay(release, origins, fetcher);
    return { chain, operator, rows };
  } finally {
    fetcher.close();
  }
}

async function printWebcat(words: readonly string[]): Promise<number> {
  const common = readArguments(words, ['origin', 'project']);
  const { origin, project } = common.options;
  if ((origin !== 'app' && origin !== 'keys') || project === undefined) {
    throw new Failure('usage', 'Name --origin app or keys, and the address of the --project.');
  }
  const fetcher = createFetcher();
  try {
    const { origins, release } = await releaseOf(common, fetcher);
    const connect = connectOf(await operatorOf(origins.app, fetcher));
    say(canonicalText(webcatManifest(release, origin, project, { ...origins, connect })));
    return 0;
  } finally {
    fetcher.close();
  }
}

/** Prints a row for each file. Returns how many differ. */
function printTable(rows: readonly Row[]): number {
  for (const { differences, origin, path: file } of rows) {
    const what = differences.length === 0 ? 'ok  ' : 'DIFF';
    say(`${what}  ${origin.padEnd(4)}  ${file}${differences.map((each) => `\n        ${each}`).join('')}`);
  }
  return rows.filter(({ differences }) => differences.length > 0).length;
}
