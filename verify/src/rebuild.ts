import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sha256 } from './canonical.ts';
import type { Row } from './compare.ts';
import { Failure } from './errors.ts';
import { compareFolder } from './folder.ts';
import type { ReleaseStatement } from './statement.ts';

const run = promisify(execFile);
/** Bytes of what a build prints. */
const maxBuffer = 64 * 1024 * 1024;

/**
 * Builds the commit of a release from its source, with the packages of its lock file, and compares what comes out. The
 * source's own build scripts run on this machine, as they do for whoever makes a release; those of the packages don't.
 * @param source an address or a folder that `git clone` takes
 * @throws Failure `different` if the source has another lock file, or can't be built
 */
export async function rebuild(
  release: ReleaseStatement,
  source: string,
  say: (sentence: string) => void,
): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-rebuild-'));
  const { commit, lockfile, node } = release.source;
  const step = async (program: string, ...args: string[]): Promise<void> => {
    say(`${program} ${args.join(' ')}`);
    const env = { ...process.env, NODE_ENV: '' };
    await run(program, args, { cwd: folder, maxBuffer, env }).catch((error: Error & { stderr?: string }) => {
      const reason = error.stderr?.trim().split('\n').slice(-5).join('\n') ?? error.message;
      throw new Failure('different', `${program} ${args[0] ?? ''} failed: ${reason}`);
    });
  };
  try {
    if (node !== process.version) {
      say(
        `The release was built by Node.js ${node}; this is ${process.version}, which may write other bytes.`,
      );
    }
    // Git would take over a folder's objects without looking whether they are what their names say.
    const checked = ['--no-local', '-c', 'transfer.fsckObjects=true'];
    await step('git', 'clone', '--quiet', '--no-checkout', ...checked, '--', whole(source), folder);
    await step('git', 'checkout', '--quiet', '--detach', commit);
    if (sha256(await readFile(path.join(folder, 'package-lock.json'))) !== lockfile) {
      throw new Failure('different', 'The source has another package-lock.json than the release says.');
    }
    await step('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
    await step('npm', 'run', 'build:web');
    return await compareFolder(release, path.join(folder, 'dist'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A folder by its whole path: git runs in another one. */
function whole(source: string): string {
  return existsSync(source) ? path.resolve(source) : source;
}
