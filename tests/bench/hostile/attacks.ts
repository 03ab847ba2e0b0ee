// Measures how long it takes to refuse what was made to be dear. A program of its own: attacks.js <rounds> prints JSON.
import { createHash } from 'node:crypto';
import { CryptoError, DEFAULT_LIMITS, ready } from '../../../crypto-core/src/index.ts';
import { sha256 } from '../../../crypto-core/src/suite/sodium.ts';
import { type Dear, dearCommit, dearTrees } from '../../../crypto-core/test/hostile/dear.ts';
import { memberAttacks, messageAttacks } from '../../../crypto-core/test/hostile/messages.ts';
import { treeAttacks } from '../../../crypto-core/test/hostile/trees.ts';
import { SUITES } from '../../../crypto-core/test/scenario/world.ts';
import { testEnv } from '../../../crypto-core/test/testEnv.ts';

const rounds = Number(process.argv[2]);
const dearLeaves = [1024, 4096];

/** @returns milliseconds of processor time, all threads together, and the code of the refusal or null */
function time(call: () => unknown): { readonly ms: number; readonly code: string | null } {
  const start = process.cpuUsage();
  let code = null;
  try {
    call();
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    code = error.code;
  }
  const { user, system } = process.cpuUsage(start);
  return { ms: (user + system) / 1000, code };
}

function measure(name: string, bytes: Uint8Array, receive: () => unknown) {
  const [refused, read]: [number[], number[]] = [[], []];
  let code = null;
  for (let round = 0; round < rounds; round += 1) {
    read.push(time(() => sha256(bytes)).ms);
    const answer = time(receive);
    refused.push(answer.ms);
    code = answer.code;
  }
  return {
    name,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    code,
    refused,
    read,
  };
}

function nobody(): never {
  throw new CryptoError('invalid-credential', 'nobody is accepted');
}

await ready();
const env = testEnv('hostile bench');
const attacks = SUITES.flatMap((suite) =>
  [treeAttacks, messageAttacks, memberAttacks].flatMap((make) =>
    make(suite, env).map(({ name, bytes, receive }) => measure(name, bytes, receive)),
  ),
);

function measureDear({ name, honest, hostile, receive, primitives }: Dear) {
  return {
    ...measure(name, hostile, () => receive(hostile)),
    joined: measure(name, honest, () => receive(honest)).refused,
    unknownSigner: measure(name, hostile, () => receive(hostile, nobody)).refused,
    primitives: measure(name, honest, primitives).refused,
  };
}

const dear = [
  ...dearLeaves.flatMap((leaves) =>
    SUITES.flatMap((suite) => dearTrees(suite, leaves, env).map(measureDear)),
  ),
  ...SUITES.map((suite) => measureDear(dearCommit(suite, DEFAULT_LIMITS.proposals, env))),
];
process.stdout.write(JSON.stringify({ attacks, dear }));
