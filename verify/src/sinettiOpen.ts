#!/usr/bin/env node
import { printable, readArguments, runCommand } from './arguments.ts';
import { Failure } from './chain/errors.ts';
import { createFetcher } from './fetching.ts';
import { fetchRelease } from './open/files.ts';
import { serveRelease } from './open/serve.ts';
import { describeOperator } from './operator.ts';
import { describeRelease, operatorOf, relayOrigin, releaseOf } from './relay.ts';
import { portOf } from './seen.ts';

const usage = `sinetti-open URL [--port PORT] [--root HASH] [--state FOLDER]
  Checks the release that a relay serves and opens it on this machine, so that no page of the relay runs.
  --port PORT     the app's; the keys have the one after it. Keep to one: what a browser stores belongs to it
  --root HASH     the SHA-256 of the chain's first step, if not the one that this package has
  --state FOLDER  where it is remembered how far the chain was seen
`;

await runCommand(async () => {
  const words = process.argv.slice(2);
  if (words.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const common = readArguments(words, ['port']);
  const relay = relayOrigin(common.target);
  const port = await portOf(common.stateFolder, relay, portIn(common.options.port));
  const fetcher = createFetcher();
  try {
    const { chain, origins, release } = await releaseOf(common, fetcher);
    const operator = await operatorOf(relay, fetcher);
    const files = await fetchRelease(release, origins, operator, fetcher);
    const served = await serveRelease({ release, files, operator, relay, port });
    process.stdout.write(`${describeRelease(chain)}: ${files.size} files are as signed.\n`);
    for (const line of describeOperator(operator)) process.stdout.write(`${printable(line)}\n`);
    process.stdout.write(`Open ${served.origins.app}/ and leave this running.\n`);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void served.close());
  } finally {
    fetcher.close();
  }
  return 0;
});

function portIn(text: string | undefined): number | null {
  if (text === undefined) return null;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1024 || port > 65_534) {
    throw new Failure('usage', 'A port is a number from 1024 to 65534.');
  }
  return port;
}
