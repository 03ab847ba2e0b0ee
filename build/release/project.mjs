// Gives the commands of releases the repository that they run in: its build, its commit and its folder of releases.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sha256 } from '../../verify/dist/chain/canonical.js';
import { chainIn, stateRelease } from '../../verify/dist/making.js';

/** The chain, as it is committed. */
export const releasesFolder = 'releases';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

/** The chain that is verified, and the step after it that isn't signed by enough yet. */
export function readChain(folder = releasesFolder) {
  return chainIn((name) =>
    readFile(path.join(folder, name)).catch((error) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    }),
  );
}

/**
 * The statement of what is built here, after a step.
 * @param commit what it was built of: the tree has to be that and nothing else, but for the folder of releases and what git ignores; by default the commit that is checked out
 */
export async function stateBuild(former, commit = git('rev-parse', 'HEAD')) {
  const others = ['--', '.', `:!${releasesFolder}`];
  const changed = git('diff', '--name-only', commit, ...others);
  // A build may take up a file that nobody has committed: a setting, a script, a picture in public/.
  const added = git('ls-files', '--others', '--exclude-standard', ...others);
  const strange = [changed, added].filter((names) => names !== '').join('\n');
  if (strange !== '') throw new Error(`Not the files of ${commit}: ${strange.split('\n').join(', ')}.`);
  if (!existsSync('dist/app/index.html')) throw new Error('Nothing is built: run npm run build first.');
  const { releaseHeaders } = await import('../../relay/dist/src/http/headers.js');
  const { factsOf } = await import('../../relay/dist/src/http/clientFacts.js');
  const facts = {
    version: JSON.parse(readFileSync('package.json', 'utf8')).version,
    source: {
      commit,
      lockfile: await sha256(readFileSync('package-lock.json')),
      node: process.version,
    },
    served: releaseHeaders(factsOf({ current: 'dist' })),
  };
  return stateRelease('dist', facts, former);
}
