// Makes the release archive of what `npm run build` has built: the client, the relay, the packages that it needs, and Node.js
// itself, so that a bare Debian needs nothing else. The same files make the same archive, byte by byte.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { productionPackages } from './packages.mjs';
import { publishChain } from './publish.mjs';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/release' },
    /** Leaves Node.js out: the machine has its own. */
    'without-node': { type: 'boolean', default: false },
  },
});
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { version } = read('relay/package.json');
const name = `sinetti-${version}-linux-${process.arch}${values['without-node'] ? '-without-node' : ''}`;

for (const built of ['dist/app/index.html', 'dist/keys/keys.html', 'relay/dist/src/server.js']) {
  if (!existsSync(built)) throw new Error(`There is no ${built}: run npm run build first.`);
}

const stated = await publishChain();
const about =
  stated === null
    ? 'There is no chain of releases here: nobody can check this archive.'
    : `Signed: step ${stated.seq}.`;
process.stderr.write(`${about}\n`);

const folder = mkdtempSync(path.join(tmpdir(), 'sinetti-release-'));
const root = path.join(folder, name);
const take = (from, to = from) => cpSync(from, path.join(root, to), { recursive: true, dereference: true });
try {
  for (const part of ['dist/app', 'dist/keys', 'relay/dist', 'relay/bin', 'relay/deploy']) take(part);
  for (const page of ['README', 'DATA', 'LIMITS', 'METRICS', 'HEADERS', 'SCALE']) take(`relay/${page}.md`);
  take('docs');
  for (const file of ['LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'relay/package.json']) take(file);
  take('relay/deploy/install.sh', 'install.sh');
  chmodSync(path.join(root, 'install.sh'), 0o755);
  const lock = read('package-lock.json');
  for (const place of productionPackages(lock, 'relay', existsSync)) {
    cpSync(place, path.join(root, place), { recursive: true, filter: isNeeded });
  }
  if (!values['without-node']) {
    mkdirSync(path.join(root, 'node/bin'), { recursive: true });
    take(process.execPath, 'node/bin/node');
    // Beside the executable as nodejs.org packs it, or where Debian's packages put it.
    const licence = [path.join(process.execPath, '../../LICENSE'), '/usr/share/doc/nodejs/LICENSE'].find(
      existsSync,
    );
    if (licence === undefined)
      throw new Error('There is no LICENSE of Node.js: take the archive of nodejs.org.');
    take(licence, 'node/LICENSE');
  }
  mkdirSync(values.out, { recursive: true });
  const archive = path.join(values.out, `${name}.tar.gz`);
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w'];
  const time = `--mtime=@${process.env.SOURCE_DATE_EPOCH ?? '0'}`;
  execFileSync('tar', ['--sort=name', ...owner, time, '-I', 'gzip -n9', '-cf', archive, '-C', folder, name]);
  const hash = createHash('sha256').update(readFileSync(archive)).digest('hex');
  writeFileSync(`${archive}.sha256`, `${hash}  ${name}.tar.gz\n`);
  process.stdout.write(`${archive}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Packages bring their tests, types and sources along, which no relay reads. */
function isNeeded(file) {
  return !/(?:\.d\.[cm]?ts|\.[cm]?ts|\.map|\.md)$|\/(?:test|tests|docs|examples?|\.github|benchmarks?)$/i.test(
    file,
  );
}
