import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Gets a version of Node.js from the package registry, once.
 * @param version one to three numbers, such as 26 or 20.20.1
 * @returns the folder with its `node`
 * @throws Error if what is there is another version, or nothing could be fetched
 */
export function nodeOf(version) {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  // The registry's `node` package picks this one by a script of its own; asked for by name, it needs none.
  const name = `node-${platform}-${process.arch}`;
  const folder = path.resolve('.cache', `node-${version}`);
  const bin = path.join(folder, 'node_modules', name, 'bin');
  if (!existsSync(bin)) {
    const words = [
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--no-audit',
      '--no-fund',
      `${name}@${version}`,
    ];
    const { status } = spawnSync('npm', words, { stdio: 'inherit', shell: platform === 'win' });
    if (status !== 0) throw new Error(`npm ${words.join(' ')} ended with ${status}`);
  }
  const { stdout } = spawnSync(path.join(bin, 'node'), ['--version'], { encoding: 'utf8' });
  if (!`${stdout.trim()}.`.startsWith(`v${version}.`)) {
    throw new Error(`${bin} holds Node ${stdout.trim()}: remove ${folder} and try again`);
  }
  return bin;
}
