// npm run release:compare: builds the client once more, in another folder, under another patch version of Node.js, on one core, in another time zone
// and language, and compares it with the one in dist, byte by byte.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeOf } from '../nodeOf.mjs';
import { differencesOf } from './differences.mjs';

/** Each is a patch of a minor version that the README names: a machine has one of them, and the other builds here. */
const patches = ['20.20.2', '20.20.1'];

if (!existsSync('dist/app/index.html')) throw new Error('Nothing is built: run npm run build first.');
const version = patches.find((patch) => `v${patch}` !== process.version);
const node = nodeOf(version);
// Only Linux can be told from outside how many cores a program may see.
const onOneCore = process.platform === 'linux' ? ['taskset', '-c', '0'] : [];

const around = mkdtempSync(path.join(tmpdir(), 'sinetti build of somebody else '));
try {
  const folder = path.join(around, 'a', 'client');
  mkdirSync(folder, { recursive: true });
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(name))) {
    cpSync(file, path.join(folder, file));
  }
  for (const packages of ['node_modules', 'relay/node_modules'].filter((name) => existsSync(name))) {
    copyPackages(packages, path.join(folder, packages));
  }
  const [command, ...words] = [...onOneCore, 'npm', 'run', '--silent', 'build:web'];
  const { status } = spawnSync(command, words, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: `${node}${path.delimiter}${process.env.PATH}`,
      HOME: around,
      TZ: 'Pacific/Auckland',
      // Turkish has letters of its own for the capital of i and the small one of I.
      LC_ALL: 'tr_TR.UTF-8',
      LANG: 'tr_TR.UTF-8',
      RAYON_NUM_THREADS: '1',
      UV_THREADPOOL_SIZE: '1',
    },
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`The other build ended with ${status}.`);
  const differences = ['app', 'keys'].flatMap((origin) =>
    differencesOf(path.join('dist', origin), path.join(folder, 'dist', origin)),
  );
  if (differences.length > 0) {
    process.stderr.write(`Two builds of these files differ:\n${differences.join('\n')}\n`);
    process.exitCode = 1;
  } else {
    process.stdout.write(
      `The same bytes by Node.js ${process.version} here and by v${version} in ${folder}, on one core, in Turkish, in Auckland.\n`,
    );
  }
} finally {
  rmSync(around, { recursive: true, force: true });
}

/** Half a gigabyte: where the system can, the copy shares the files' bytes. */
function copyPackages(from, to) {
  mkdirSync(path.dirname(to), { recursive: true });
  if (spawnSync('cp', ['-al', from, to], { stdio: 'ignore' }).status === 0) return;
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}
