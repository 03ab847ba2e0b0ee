/**
 * Measures what ts-mls takes for the same: tsMls.js <json> prints a line of JSON for each figure as soon as it is there,
 * because a size may be more than it manages.
 */

import { joinGroup } from 'ts-mls/clientState.js';
import { createCommit as createPeerCommit } from 'ts-mls/createCommit.js';
import { getCiphersuiteFromName } from 'ts-mls/crypto/ciphersuite.js';
import { getCiphersuiteImpl } from 'ts-mls/crypto/getCiphersuiteImpl.js';
import { defaultCapabilities } from 'ts-mls/defaultCapabilities.js';
import { acceptAll } from 'ts-mls/incomingMessageAction.js';
import { generateKeyPackage } from 'ts-mls/keyPackage.js';
import { decodeMlsMessage, encodeMlsMessage, type MLSMessage } from 'ts-mls/message.js';
import { processMessage } from 'ts-mls/processMessages.js';
import { emptyPskIndex } from 'ts-mls/pskIndex.js';
import { EMPTY, utf8 } from '../../../crypto-core/src/bytes.ts';
import { NO_LIMITS } from '../../../crypto-core/src/codec/limits.ts';
import { createCommit, ready } from '../../../crypto-core/src/index.ts';
import { anyone, anything } from '../../../crypto-core/test/scenario/world.ts';
import { testEnv } from '../../../crypto-core/test/testEnv.ts';
import { leastOfAsync } from './least.ts';
import { madeGroup } from './madeGroup.ts';

interface Options {
  readonly members: number;
  readonly filled: boolean;
  readonly rounds: number;
}

const { members, filled, rounds } = JSON.parse(process.argv[2] ?? '') as Options;
// ts-mls judges lifetimes by the clock of the machine.
const env = testEnv('commits', Date.now());
const hooks = { memberCheck: anyone, policy: anything, limits: NO_LIMITS };

function say(figures: Record<string, number>): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

function decoded(bytes: Uint8Array): MLSMessage {
  const [message] = decodeMlsMessage(bytes, 0) ?? [];
  if (message === undefined) throw new Error('ts-mls could not decode it');
  return message;
}

await ready();
const suite = await getCiphersuiteImpl(
  getCiphersuiteFromName('MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519'),
);
const [sender] = madeGroup(0x0003, members - 1, filled, env);
const now = BigInt(Math.floor(env.now() / 1000));
const { publicPackage, privatePackage } = await generateKeyPackage(
  { credentialType: 'basic', identity: utf8('a member') },
  defaultCapabilities(),
  { notBefore: now - 3600n, notAfter: now + 86_400n },
  [],
  suite,
);
const keyPackage = encodeMlsMessage({
  version: 'mls10',
  wireformat: 'mls_key_package',
  keyPackage: publicPackage,
});
const added = createCommit(sender, { ...hooks, adds: [keyPackage] }, env);

async function join() {
  const message = decoded(added.welcome ?? EMPTY);
  if (message.wireformat !== 'mls_welcome') throw new Error(message.wireformat);
  return joinGroup(message.welcome, publicPackage, privatePackage, emptyPskIndex, suite);
}

say({ join: await leastOfAsync(1, join) });
const state = await join();
const { commit } = createCommit(added.pending, { ...hooks, forcePath: true }, env);
const processing = await leastOfAsync(rounds, async () => {
  const message = decoded(commit);
  if (message.wireformat !== 'mls_private_message') throw new Error(message.wireformat);
  const result = await processMessage(message, state, emptyPskIndex, acceptAll, suite);
  if (result.kind !== 'newState') throw new Error(result.kind);
});
say({ process: processing });
say({
  create: await leastOfAsync(rounds, async () =>
    encodeMlsMessage((await createPeerCommit({ state, cipherSuite: suite }, {})).commit),
  ),
});
