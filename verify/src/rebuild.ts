import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sha256 } from './chain/canonical.ts';
import { Failure } from './chain/errors.ts';
import type { ReleaseStatement } from './chain/statement.ts';
import type { Row } from './compare.ts';
import { compareFolder } from './folder.ts';

const run = promisify(execFile);
/** Bytes of what a build prints. */
const maxBuffer = 64 * 1024 * 1024;

/** The variables of this process that fetching needs: the way to the network, and who signs its certificates. */
const forNetwork = [
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'npm_config_registry',
];

/**
 * Builds the commit of a release from its source, with the packages of its lock file, and compares what comes out. The
 * source's own build scripts run on this machine, as they do for whoever makes a release; those of the packages don't. They
 * get an environment of their own, and an empty home: no token of the reader's, no setting of git or npm. They run as the
 * reader all the same, and can read what the reader can.
 * @param source an address or a folder that `git clone` takes
 * @throws Failure `different` if the source has another lock file, or can't be built
 */
export async function rebuild(
  release: ReleaseStatement,
  source: string,
  say: (sentence: string) => void,
): Promise<Row[]> {
  const around = await mkdtemp(path.join(tmpdir(), 'sinetti-rebuild-'));
  const [folder, home] = [path.join(around, 'source'), path.join(around, 'home')];
  await Promise.all([folder, home].map((each) => mkdir(each)));
  const { PATH } = process.env;
  const alone = {
    ...(PATH === undefined ? {} : { PATH }),
    HOME: home,
    TMPDIR: home,
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    npm_config_userconfig: path.join(home, '.npmrc'),
    npm_config_cache: path.join(home, 'npm'),
    npm_config_update_notifier: 'false',
  };
  const network = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => forNetwork.includes(name)),
  );
  const fetching = { ...alone, ...network };
  const { commit, lockfile, node } = release.source;
  const step = async (env: NodeJS.ProcessEnv, program: string, ...args: string[]): Promise<void> => {
    say(`${program} ${args.join(' ')}`);
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
    await step(fetching, 'git', 'clone', '--quiet', '--no-checkout', ...checked, '--', whole(source), folder);
    await step(fetching, 'git', 'checkout', '--quiet', '--detach', commit);
    if ((await sha256(await readFile(path.join(folder, 'package-lock.json')))) !== lockfile) {
      throw new Failure('different', 'The source has another package-lock.json than the release says.');
    }
    await step(fetching, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
    await step(alone, 'npm', 'run', '--ignore-scripts', 'build:web');
    return await compareFolder(release, path.join(folder, 'dist'));
  } finally {
    await rm(around, { recursive: true, force: true });
  }
}

/** A folder by its whole path: git runs in another one. */
function whole(source: string): string {
  return existsSync(source) ? path.resolve(source) : source;
}
