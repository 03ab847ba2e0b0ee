// Fills .cache/vectors with the published test vectors, from pinned commits, checking each file's SHA-256.
// VECTORS_MIRROR names another place that serves <owner>/<name>/<commit>/<path>.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const mirror = process.env.VECTORS_MIRROR ?? 'https://raw.githubusercontent.com';
const target = fileURLToPath(new URL('../../../.cache/vectors/', import.meta.url));

const sources = {
  mls: ['mlswg/mls-implementations/cfd450286d1bfd9cd2519b95c80f9771f94a5b1a', 'test-vectors/'],
  wycheproof: ['C2SP/wycheproof/dac1dd4729fd1f8dd9e1e9f3dce51d783da6c166', 'testvectors_v1/'],
  xwing: ['dconnolly/draft-connolly-cfrg-xwing-kem/9b6ce9e614811dba8d46841052f3883cbc4c1a65', 'spec/'],
  'hpke-pq': ['hpkewg/hpke-pq/74dafaa65f79a5eaa210af7ba967e5425a21d05b', ''],
};

async function fetchOne(sha256, name) {
  const [folder, file] = name.split('/');
  const [repository, path] = sources[folder];
  const url = new URL(`${mirror}/${repository}/${path}${file}`);
  const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  if (!answer.ok) throw new Error(`${url.href} answered ${answer.status}`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256) throw new Error(`${name}: SHA-256 is ${found}, expected ${sha256}`);
  const place = join(target, name);
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, bytes);
  process.stdout.write(`${name}\n`);
}

const sums = await readFile(new URL('SHA256SUMS', import.meta.url), 'utf8');
try {
  for (const line of sums.trim().split('\n')) {
    const [sha256, name] = line.split(/\s+/);
    await fetchOne(sha256, name);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
