// npm run vectors -- FILE…: runs files in the formats of the MLS working group's test vectors, whatever they are called.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import { takeTests } from '../mutate/shim.mjs';
import { given } from './given.mjs';

/** Each format with fields that no other has, and the test of the carried file in that format. */
const formats = [
  { name: 'crypto-basics', fields: ['ref_hash', 'derive_tree_secret'], test: 'cryptoBasics' },
  { name: 'deserialization', fields: ['vlbytes_header'], test: 'deserialization' },
  { name: 'key-schedule', fields: ['initial_init_secret'], test: 'keySchedule' },
  { name: 'message-protection', fields: ['proposal_priv', 'membership_key'], test: 'messageProtection' },
  { name: 'messages', fields: ['mls_welcome', 'private_message'], test: 'messages' },
  { name: 'passive-client-welcome', fields: ['initial_epoch_authenticator'], test: 'passiveClient' },
  { name: 'psk_secret', fields: ['psks', 'psk_secret'], test: 'keySchedule' },
  { name: 'secret-tree', fields: ['sender_data', 'leaves'], test: 'secretTree' },
  { name: 'transcript-hashes', fields: ['interim_transcript_hash_before'], test: 'keySchedule' },
  { name: 'tree-math', fields: ['n_leaves'], test: 'treeMath' },
  {
    name: 'tree-operations',
    fields: ['tree_before', 'tree_after'],
    test: 'treeOperations',
    suites: [1, 2, 3],
  },
  { name: 'tree-validation', fields: ['resolutions'], test: 'treeValidation' },
  { name: 'treekem', fields: ['update_paths'], test: 'treekem' },
  { name: 'welcome', fields: ['signer_pub', 'welcome'], test: 'welcome' },
];
/** A suite of another hash or KEM than ours is left out; a tree operation takes nothing of a suite but SHA-256. */
const implemented = [0x0003, 0x004d, 0xf04d];

const folder = fileURLToPath(new URL('.', import.meta.url));
/** Modules of which the test takes the ones that this program has: what stands in for vitest, and the cases. */
const shared = new Map([
  ['vitest', new URL('../mutate/shim.mjs', import.meta.url).href],
  ['./given.mjs', new URL('given.mjs', import.meta.url).href],
]);

function formatOf(first) {
  return formats.find(({ fields }) => fields.every((field) => Object.hasOwn(Object(first), field)));
}

/** Builds a test so that it takes its cases from `given`. @returns its address, to be imported once for each case */
async function buildTest(name, outDir) {
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'shared',
        enforce: 'pre',
        resolveId: (source) => (shared.has(source) ? { id: shared.get(source), external: 'absolute' } : null),
        transform: (code, id) => ({
          code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
          map: null,
        }),
      },
    ],
    build: {
      ssr: join(folder, `${name}.test.ts`),
      outDir,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: {
        external: [/^libsodium/, /^node:/],
        output: { entryFileNames: `${name}.mjs`, codeSplitting: false },
      },
    },
  });
  return pathToFileURL(join(outDir, `${name}.mjs`)).href;
}

/** Runs the tests of one case. @returns a line for each that failed */
async function failuresOf(module, name, vector, count) {
  Object.assign(given, { name, cases: [vector] });
  /** @type {string[]} */
  const failures = [];
  try {
    // A module reads its cases when it is loaded.
    await import(`${module}?run=${count}`);
    const { tests, before } = takeTests();
    for (const hook of before) await hook();
    if (tests.length === 0) failures.push('nothing was tested');
    for (const { title, body } of tests) {
      try {
        await body();
      } catch (error) {
        failures.push([title, error.message].join(': '));
      }
    }
  } catch (error) {
    takeTests();
    failures.push(error.message);
  }
  return failures;
}

async function main(files) {
  const scratch = await mkdtemp(fileURLToPath(new URL('../../../node_modules/.vectors-', import.meta.url)));
  const say = (line) => process.stdout.write(`${line}\n`);
  const total = { passed: 0, failed: 0 };
  const built = new Map();
  let count = 0;
  // The tests report how many cases they have, which would be one each time.
  console.info = () => undefined;
  try {
    for (const file of files) {
      const sum = { passed: 0, failed: 0, leftOut: 0 };
      try {
        const content = JSON.parse(await readFile(file, 'utf8'));
        const cases = Array.isArray(content) ? content : [content];
        const format = formatOf(cases[0]);
        if (format === undefined) throw new Error('in no format of the working group');
        const { name, test, suites = implemented } = format;
        if (!built.has(test)) built.set(test, await buildTest(test, scratch));
        for (const [index, vector] of cases.entries()) {
          if ('cipher_suite' in vector && !suites.includes(vector.cipher_suite)) {
            sum.leftOut += 1;
            continue;
          }
          count += 1;
          const failures = await failuresOf(built.get(test), name, vector, count);
          sum[failures.length === 0 ? 'passed' : 'failed'] += 1;
          for (const failure of failures) say(`${file}: case ${index}: ${failure}`);
        }
        const leftOut = sum.leftOut === 0 ? '' : `, ${sum.leftOut} of other suites left out`;
        say(`${file} (${name}): ${sum.passed} passed, ${sum.failed} failed${leftOut}`);
      } catch (error) {
        sum.failed += 1;
        say(`${file}: ${error.message}`);
      }
      total.passed += sum.passed;
      total.failed += sum.failed;
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  say(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
}

await main(process.argv.slice(2));
