import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);
export const root = path.join(import.meta.dirname, '../..');

/** The package that `npm pack` makes of crypto-core, as somebody has it who has nothing else of this repository. */
export interface Packed {
  /** To be deleted in the end. */
  readonly folder: string;
  /** A folder whose package depends on the packed one, with the example of its README in `example.mjs`. */
  readonly app: string;
  /** Paths in the tarball. */
  readonly files: readonly string[];
  /** The example of the README, as it stands there. */
  readonly example: string;
}

/** The example prints this. */
export const greeting = 'Hello, Bob.';

export async function installPacked(): Promise<Packed> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sinetti-package-'));
  const app = path.join(folder, 'app');
  await mkdir(app);
  const ours = await pack(path.join(root, 'crypto-core'), folder);
  // The registry is asked for nothing: libsodium is packed from what is installed here.
  const wrappers = await pack(path.join(root, 'node_modules/libsodium-wrappers'), folder);
  const sodium = await pack(path.join(root, 'node_modules/libsodium-sumo'), folder);
  const manifest = {
    private: true,
    type: 'module',
    dependencies: {
      '@sinetti/crypto-core': `file:../${ours.name}`,
      'libsodium-wrappers': `file:../${wrappers.name}`,
      'libsodium-sumo': `file:../${sodium.name}`,
    },
    overrides: { 'libsodium-wrappers': '$libsodium-wrappers', 'libsodium-sumo': '$libsodium-sumo' },
  };
  await writeFile(path.join(app, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: app });
  const example = await exampleIn(app);
  await writeFile(path.join(app, 'example.mjs'), example);
  return { folder, app, files: ours.files, example };
}

/** Packs a folder with npm. @returns the tarball's name and the paths in it */
async function pack(
  source: string,
  destination: string,
): Promise<{ readonly name: string; readonly files: readonly string[] }> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination, source], {
    cwd: root,
  });
  // The build, which npm runs first, prints its own lines before the list.
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [
    { filename: string; files: { path: string }[] },
  ];
  return { name: filename, files: files.map((file) => file.path) };
}

async function exampleIn(app: string): Promise<string> {
  const readme = await readFile(path.join(app, 'node_modules/@sinetti/crypto-core/README.md'), 'utf8');
  const [, code] = /## Example\n\n```js\n([\s\S]*?)```/.exec(readme) ?? [];
  if (code === undefined) throw new Error('the README has no example');
  return code;
}
