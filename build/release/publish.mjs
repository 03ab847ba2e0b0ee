// Lays the chain of releases beside the built client, where the relay serves it.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sha256 } from '../../verify/dist/chain/canonical.js';
import { releasesPath } from '../../verify/dist/chain/reading.js';
import { waictManifest } from '../../verify/dist/manifests.js';
import { readChain, releasesFolder, stateBuild } from './project.mjs';

/**
 * Verifies the chain and writes it into the built client, if its last release is what is built.
 * @returns the release, null where the repository has no chain yet
 * @throws Error if the chain's release is another one than what is built
 */
export async function publishChain(folder = releasesFolder) {
  // The service worker of each origin asks its own.
  const targets = ['app', 'keys'].map((origin) => path.join('dist', origin, releasesPath));
  for (const target of targets) rmSync(target, { recursive: true, force: true });
  const { chain, draft, steps } = await readChain(folder);
  if (chain === null && draft === null) return null;
  if (draft !== null) throw new Error('A step of the chain has too few signatures.');
  const { release } = chain;
  if (release === null) throw new Error('The chain has keys and no release yet.');
  const at = { seq: release.seq - 1, hash: release.prev };
  if ((await sha256(await stateBuild(at, release.source.commit))) !== release.hash) {
    throw new Error(`What is built is not release ${release.version} (step ${release.seq}) of the chain.`);
  }
  for (const target of targets) writeSteps(target, steps, release);
  writeWaictManifests(release);
  return release;
}

if (process.argv[1] === import.meta.filename) await publishChain();

function writeSteps(target, steps, release) {
  mkdirSync(path.join(target, 'chain'), { recursive: true });
  for (const [at, { bytes, signatures }] of steps.entries()) {
    const seq = at + 1;
    const names = [`chain/${seq}.json`, ...(seq === release.seq ? ['release.json'] : [])];
    for (const name of names) {
      writeFileSync(path.join(target, name), bytes);
      for (const [holder, signature] of Object.entries(signatures)) {
        writeFileSync(path.join(target, `${name}.${holder}.sig`), signature, 'latin1');
      }
    }
  }
}

/** The same facts for browsers that know WAICT. */
function writeWaictManifests(release) {
  for (const origin of ['app', 'keys']) {
    const { address, body } = waictManifest(release, origin);
    const file = path.join('dist', origin, address);
    const folder = path.dirname(file);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, body);
  }
}
