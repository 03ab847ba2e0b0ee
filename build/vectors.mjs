// Selects the published vectors that the page /prove runs, of those that crypto-core's tests run. `node build/vectors.mjs` writes them.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const carried = fileURLToPath(new URL('../crypto-core/test/vectors', import.meta.url));
export const selectedFile = fileURLToPath(new URL('../src/services/proof/vectors.json', import.meta.url));

const read = (file) => JSON.parse(readFileSync(`${carried}/${file}.json`, 'utf8'));

/** Fields of Wycheproof's cases that say what they are about. */
const forPeople = ['comment', 'flags'];

/** A case of Wycheproof with what its group has of the same for all, and without what is for people. */
function wycheproof(name, most) {
  const cases = read(`wycheproof/${name}_test`).testGroups.flatMap(({ publicKey, tagSize, tests }) =>
    tests.map((one) => ({
      ...(publicKey === undefined ? {} : { pk: publicKey.pk }),
      ...(tagSize === undefined ? {} : { tagSize }),
      ...Object.fromEntries(Object.entries(one).filter(([field]) => !forPeople.includes(field))),
    })),
  );
  // From all over the file, since its cases are in an order of kinds; of a kind the long ones are the same as the short ones.
  const short = cases.filter((one) => JSON.stringify(one).length < 800);
  const step = short.length / most;
  return Array.from({ length: most }, (_, at) => short[Math.floor(at * step)]);
}

/** The cases that are smallest, in their order. */
function smallest(file, most) {
  const cases = read(file);
  const size = (one) => JSON.stringify(one).length;
  const limit = cases.map(size).toSorted((one, other) => one - other)[Math.min(most, cases.length) - 1];
  return cases.filter((one) => size(one) <= limit).slice(0, most);
}

/** By the format that crypto-core runs them in: where they are from, in the words of SOURCES.md, and the cases. */
export function selectVectors() {
  const c2sp = 'C2SP/wycheproof';
  const mls = 'mlswg/mls-implementations';
  return [
    { format: 'x25519', source: c2sp, cases: wycheproof('x25519', 40) },
    { format: 'ed25519', source: c2sp, cases: wycheproof('ed25519', 32) },
    { format: 'chacha20-poly1305', source: c2sp, cases: wycheproof('chacha20_poly1305', 22) },
    { format: 'xchacha20-poly1305', source: c2sp, cases: wycheproof('xchacha20_poly1305', 20) },
    { format: 'hmac-sha256', source: c2sp, cases: wycheproof('hmac_sha256', 24) },
    { format: 'hkdf-sha256', source: c2sp, cases: wycheproof('hkdf_sha256', 24) },
    {
      format: 'x-wing',
      source: 'dconnolly/draft-connolly-cfrg-xwing-kem',
      cases: read('xwing/test-vectors').slice(0, 2),
    },
    { format: 'hpke', source: 'hpkewg/hpke-pq', cases: read('hpke-pq/test-vectors') },
    { format: 'crypto-basics', source: mls, cases: read('mls/crypto-basics') },
    { format: 'deserialization', source: mls, cases: read('mls/deserialization') },
    { format: 'tree-math', source: mls, cases: smallest('mls/tree-math', 8) },
    { format: 'tree-validation', source: mls, cases: smallest('mls/tree-validation', 4) },
    { format: 'key-schedule', source: mls, cases: read('mls/key-schedule') },
    { format: 'psk-secret', source: mls, cases: smallest('mls/psk_secret', 6) },
    { format: 'transcript-hashes', source: mls, cases: read('mls/transcript-hashes') },
    { format: 'secret-tree', source: mls, cases: smallest('mls/secret-tree', 2) },
    { format: 'message-protection', source: mls, cases: read('mls/message-protection') },
    { format: 'welcome', source: mls, cases: read('mls/welcome') },
    {
      format: 'passive-client',
      source: mls,
      cases: [
        ...smallest('mls/passive-client-handling-commit', 2),
        ...smallest('mls-interop/welcome_join', 3),
      ],
    },
  ];
}

/** As the file has them. */
export const written = () => `${JSON.stringify(selectVectors())}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(selectedFile, written());
