// Signs the step that waits for signatures, once it is what this machine has built, too. ssh-keygen does it: it knows keys on
// disks, in agents and on security keys.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { sha256 } from '../../verify/dist/chain/canonical.js';
import { isSignedBy, parseSigningKey, releaseNamespace } from '../../verify/dist/chain/sshsig.js';
import { parseStatement } from '../../verify/dist/chain/statement.js';
import { allowedSigners, describeKeys } from '../../verify/dist/making.js';
import { readChain, releasesFolder, stateBuild } from './project.mjs';

const { values } = parseArgs({
  options: {
    /** The key's file, or that of its public half if an agent has it. */
    key: { type: 'string' },
    /** The name by which the chain knows the key. */
    name: { type: 'string' },
    releases: { type: 'string', default: releasesFolder },
  },
});
const { key, name, releases } = values;
if (key === undefined || name === undefined) throw new Error('Name the key: --key FILE --name HOLDER');

const { chain, draft } = await readChain(releases);
if (draft === null) {
  throw new Error('No step waits for signatures: write one with node build/release/state.mjs.');
}
const statement = parseStatement(draft);
const seq = (chain?.seq ?? 0) + 1;
if (statement.type === 'sinetti-release') {
  const built = await stateBuild(chain, statement.source.commit);
  if ((await sha256(built)) !== (await sha256(draft))) {
    throw new Error(
      'This machine has built something else than the step says: find out why before you sign.',
    );
  }
}
const keys = { ...(statement.type === 'sinetti-release-keys' ? statement.keys : {}), ...chain?.keys.keys };
const line = keys[name];
if (line === undefined) throw new Error(`The chain has no key of ${name}.`);

const what =
  statement.type === 'sinetti-release'
    ? `release ${statement.version} of commit ${statement.source.commit}`
    : `keys of ${Object.keys(statement.keys).join(', ')}, of which ${statement.threshold} sign`;
process.stdout.write(`Step ${seq}: ${what}\nSHA-256 ${await sha256(draft)}\n`);
if (statement.type === 'sinetti-release-keys') {
  const lines = describeKeys(chain?.keys ?? null, statement);
  process.stdout.write(
    `${lines.join('\n')}\nCompare each new fingerprint with what its holder has told you.\n`,
  );
}
// A key without a passphrase in an agent would sign before anybody has read that.
if (process.stdin.isTTY) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Sign it? Type yes: ');
  terminal.close();
  if (answer.trim() !== 'yes') throw new Error('Not signed.');
}

const folder = mkdtempSync(path.join(tmpdir(), 'sinetti-sign-'));
try {
  const file = path.join(folder, 'statement');
  writeFileSync(file, draft);
  execFileSync('ssh-keygen', ['-Y', 'sign', '-n', releaseNamespace, '-f', key, file], {
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  const signature = readFileSync(`${file}.sig`, 'latin1');
  if (!(await isSignedBy(parseSigningKey(line), draft, signature))) {
    throw new Error(`${key} is not the key that the chain has of ${name}.`);
  }
  const target = path.join(releases, `${seq}.json.${name}.sig`);
  writeFileSync(target, signature);
  process.stdout.write(`${target}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const { chain: signed, draft: waiting } = await readChain(releases);
if (waiting === null) {
  writeFileSync(path.join(releases, 'allowed_signers'), allowedSigners(signed.keys));
  process.stdout.write('It has enough signatures.\n');
}
