// Writes the next step of the chain into the folder of releases, to be signed: the release that is built here, or other keys.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sha256 } from '../../verify/dist/chain/canonical.js';
import { stateKeys } from '../../verify/dist/making.js';
import { readChain, releasesFolder, stateBuild } from './project.mjs';

const { values } = parseArgs({
  options: {
    /** A file with a line for each key: the holder's name, then the public key as ssh-keygen writes it. */
    keys: { type: 'string' },
    threshold: { type: 'string', default: '2' },
    releases: { type: 'string', default: releasesFolder },
  },
});

const { chain, draft } = await readChain(values.releases);
const bytes =
  values.keys === undefined
    ? await stateBuild(chain)
    : stateKeys(readFileSync(values.keys, 'utf8'), Number(values.threshold), chain);
const file = path.join(values.releases, `${(chain?.seq ?? 0) + 1}.json`);
if (draft !== null && (await sha256(draft)) !== (await sha256(bytes))) {
  throw new Error(
    `${file} says something else, and waits for signatures: sign it, or delete it with those that it has.`,
  );
}
mkdirSync(values.releases, { recursive: true });
writeFileSync(file, bytes);
process.stdout.write(`${file}\nSHA-256 ${await sha256(bytes)}\n`);
