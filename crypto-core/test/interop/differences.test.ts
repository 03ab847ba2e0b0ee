/** Compares what we accept and refuse with ts-mls: of mutated messages, and of what a member forges and signs. */
import { describe, expect, it } from 'vitest';
import { EMPTY, toHex, utf8 } from '../../src/bytes.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { type Group, processCommit } from '../../src/index.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import type { UpdatePath } from '../../src/structs/updatePath.ts';
import { codeOf } from '../codeOf.ts';
import { generator, mutateBytes } from '../mutations.ts';
import { type Device, device } from '../scenario/world.ts';
import {
  type CommitForgery,
  flip,
  forgeCommit,
  forgeKeyPackage,
  type KeyPackageForgery,
} from '../tamper/forge.ts';
import { testEnv } from '../testEnv.ts';
import { hooks, Ours, ourGroup, Theirs, withDevices } from './devices.ts';
import * as peer from './peer.ts';

const SUITE = 0x0003;
const SEED = 20_261_123;
const env = testEnv('differences', Date.now());

withDevices();

/** Returns whether the peer decodes bytes whole, and writes the same bytes again. */
function peerDecodes(bytes: Uint8Array): boolean {
  try {
    const decoded = peer.decodeMlsMessage(bytes, 0);
    return decoded !== undefined && toHex(peer.encodeMlsMessage(decoded[0])) === toHex(bytes);
  } catch {
    return false;
  }
}

function weDecode(bytes: Uint8Array): boolean {
  let encoded: Uint8Array = EMPTY;
  const code = codeOf(() => {
    // A copy is encoded, because a commit that was read keeps its bytes.
    encoded = encodeMlsMessage(structuredClone(decodeMlsMessage(bytes)));
  });
  return code === 'none' && toHex(encoded) === toHex(bytes);
}

/** RFC 9420 section 13 has unknown versions ignored; ts-mls doesn't decode a list of capabilities that has one. */
function listsUnknownVersion(bytes: Uint8Array): boolean {
  const message = decodeMlsMessage(bytes);
  const leaves = [];
  if (message.wireFormat === 'key-package') leaves.push(message.keyPackage.leafNode);
  if (message.wireFormat === 'public-message') {
    const { content } = message.publicMessage.content;
    if (content.type === 'commit' && content.commit.path !== null) leaves.push(content.commit.path.leafNode);
  }
  return leaves.some(({ capabilities }) => capabilities.versions.some((version) => version !== 1));
}

describe('of mutated messages', () => {
  it(`both decode the same ones, but for unknown versions (seed ${SEED})`, async () => {
    const { ours, theirs } = await ourGroup();
    const bundle = new Ours('third').keyPackage();
    const created = ours.commit({ adds: [bundle.bytes] });
    await theirs.process(created.commit);
    const theirKeyPackage = await new Theirs('fourth').keyPackage();
    const { commit } = await theirs.commit([], true);
    const messages = [
      bundle.bytes,
      theirKeyPackage,
      created.commit,
      created.groupInfo,
      commit,
      ours.say('text'),
    ];
    const below = generator(SEED);
    const unexplained: string[] = [];
    let decoded = 0;
    for (let round = 0; round < 3000; round += 1) {
      const mutated = mutateBytes(messages[round % messages.length] ?? EMPTY, below);
      const [we, they] = [weDecode(mutated), peerDecodes(mutated)];
      if (we) decoded += 1;
      if (we !== they && !(we && listsUnknownVersion(mutated))) unexplained.push(toHex(mutated));
    }
    expect(unexplained).toEqual([]);
    expect(decoded).toBeGreaterThan(500);
  });

  it(`both refuse each commit, and read what was not changed afterwards (seed ${SEED})`, async () => {
    const { ours, theirs } = await ourGroup();
    const witness = new Theirs('witness');
    const created = ours.commit({ adds: [await witness.keyPackage()] });
    await theirs.process(created.commit);
    await witness.join(created.welcome!);
    const { commit } = await theirs.commit([], true);
    const below = generator(SEED);
    const before = witness.state;
    for (let round = 0; round < 100; round += 1) {
      const mutated = mutateBytes(commit, below);
      if (toHex(mutated) === toHex(commit)) continue;
      const they = await witness.process(mutated).then(
        () => 'accepted',
        () => 'refused',
      );
      const we = codeOf(() => processCommit(ours.group!, mutated, hooks)) === 'none' ? 'accepted' : 'refused';
      witness.state = before;
      expect([we, they]).toEqual(['refused', 'refused']);
    }
    ours.process(commit);
    await witness.process(commit);
    expect(witness.fingerprint()).toBe(ours.fingerprint());
  });
});

function added(forgery: KeyPackageForgery, owner: Device = device('newcomer', env)): CommitForgery {
  const message = decodeMlsMessage(forgeKeyPackage(owner, SUITE, env, forgery));
  if (message.wireFormat !== 'key-package') throw new Error('no key package');
  const add: Proposal = { type: 'add', keyPackage: message.keyPackage };
  return { proposals: [byValue(add)], applied: [add], withPath: false };
}

function proposed(...proposals: Proposal[]): CommitForgery {
  return { proposals: proposals.map(byValue) };
}

function pathed(change: (path: UpdatePath) => UpdatePath): CommitForgery {
  return { path: change };
}

const remove = (leaf: number): Proposal => ({ type: 'remove', removed: toLeafIndex(leaf) });
const extensions = (type: number): Proposal => ({
  type: 'group-context-extensions',
  extensions: [{ type, data: EMPTY }],
});
const known = { versions: [1], cipherSuites: [SUITE], extensions: [], proposals: [], credentials: [1] };
const now = BigInt(Math.floor(env.now() / 1000));
const lifetime = (notBefore: bigint, notAfter: bigint): KeyPackageForgery => ({
  leaf: { source: { type: 'key-package', lifetime: { notBefore, notAfter } } },
});

type Forged = readonly [what: string, forge: (bob: Group, carol: Device) => CommitForgery];

const agreed: readonly (readonly ['accepted' | 'refused', ...Forged])[] = [
  ['accepted', 'a newcomer whose lifetime is over', () => added(lifetime(now - 9n, now - 1n))],
  ['refused', 'a member added again', (_, carol) => added({}, carol)],
  [
    'refused',
    'a newcomer of another protocol version',
    () => added({ leaf: { capabilities: { ...known, versions: [2] } } }),
  ],
  [
    'refused',
    'a newcomer with the source of an update',
    () => added({ leaf: { source: { type: 'update' } } }),
  ],
  [
    'refused',
    'a path with a key that nobody can encrypt to',
    () =>
      pathed((path) => ({
        ...path,
        nodes: path.nodes.map((node) => ({ ...node, encryptionKey: new Uint8Array(32) })),
      })),
  ],
  ['accepted', 'an honest commit', () => ({})],
  ['accepted', 'an honest newcomer', () => added({})],
  ['refused', 'a newcomer with an unsigned leaf', () => added({ breakLeafSignature: true })],
  ['refused', 'a newcomer with an unsigned key package', () => added({ breakSignature: true })],
  ['refused', 'a newcomer of another suite', () => added({ package: { cipherSuite: 0x0001 } })],
  [
    'refused',
    'a newcomer with the init key as its encryption key',
    () => added({ initKeyIsEncryptionKey: true }),
  ],
  [
    'refused',
    'a newcomer with an extension that it does not list',
    () => added({ leaf: { extensions: [{ type: 0xf00d, data: EMPTY }] } }),
  ],
  ['refused', 'a removal of the committer', () => proposed(remove(1))],
  ['refused', 'a removal of a blank leaf', () => proposed(remove(3))],
  ['refused', 'two removals of one leaf', () => proposed(remove(2), remove(2))],
  ['refused', 'two changes of the extensions', () => proposed(extensions(1), extensions(1))],
  ['refused', 'an extension of the group that nobody supports', () => proposed(extensions(0xf00d))],
  ['refused', 'an external init of a member', () => proposed({ type: 'external-init', kemOutput: EMPTY })],
  [
    'refused',
    'a PSK with a short nonce',
    () => proposed({ type: 'psk', psk: { type: 'external', pskId: utf8('psk'), nonce: EMPTY } }),
  ],
  [
    'refused',
    'an unsigned leaf in a path',
    () =>
      pathed((path) => ({
        ...path,
        leafNode: { ...path.leafNode, signature: flip(path.leafNode.signature) },
      })),
  ],
  [
    'refused',
    'a path without its first node',
    () => pathed((path) => ({ ...path, nodes: path.nodes.slice(1) })),
  ],
  [
    'refused',
    'a path with another key than its leaf signed',
    () =>
      pathed((path) => ({
        ...path,
        nodes: path.nodes.map((node) => ({ ...node, encryptionKey: flip(node.encryptionKey) })),
      })),
  ],
  ['refused', 'a wrong confirmation tag', () => ({ confirmationTag: flip })],
  ['refused', 'no path where one is needed', () => ({ withPath: false })],
];

/** The cases in which the two answer otherwise, and why ours is right. */
const differing: readonly (readonly [ours: string, theirs: string, why: string, ...Forged])[] = [
  [
    'refused',
    'accepted',
    'a later path could not be encrypted to it (5.1.1)',
    'a newcomer with an unusable encryption key',
    () => added({ leaf: { encryptionKey: new Uint8Array(32) } }),
  ],
  [
    'refused',
    'accepted',
    'no Welcome could be encrypted to it (5.1.1)',
    'a newcomer with an unusable init key',
    () => added({ package: { initKey: new Uint8Array(32) } }),
  ],
  [
    'refused',
    'accepted',
    'a leaf lists the suites that its client supports (7.2)',
    'a newcomer that does not list the suite',
    () => added({ leaf: { capabilities: { ...known, cipherSuites: [1] } } }),
  ],
  [
    'refused',
    'accepted',
    'a leaf lists its own credential type (7.3)',
    'a newcomer that does not list basic credentials',
    () => added({ leaf: { capabilities: { ...known, credentials: [2] } } }),
  ],
];

describe('of what a member forges', () => {
  async function answers(forge: Forged[1]): Promise<[string, string]> {
    const [alice, bob, carol] = [new Ours('alice'), new Ours('bob'), new Theirs('carol')];
    alice.create();
    const bundle = bob.keyPackage();
    const created = alice.commit({ adds: [bundle.bytes, await carol.keyPackage()] });
    bob.join(created.welcome!, bundle);
    await carol.join(created.welcome!);
    const carolAsDevice: Device = {
      name: 'carol',
      credential: bob.credential,
      signatureKey: bob.signatureKey,
      leaf: {},
    };
    const commit = forgeCommit(bob.group!, forge(bob.group!, carolAsDevice), env);
    const we = codeOf(() => processCommit(alice.group!, commit, hooks)) === 'none' ? 'accepted' : 'refused';
    const they = await carol.process(commit).then(
      () => 'accepted',
      () => 'refused',
    );
    return [we, they];
  }

  it.each(agreed)('both have %s %s', async (answer, _, forge) => {
    expect(await answers(forge)).toEqual([answer, answer]);
  });

  it.each(differing)(
    'we have %s and ts-mls has %s, because %s: %s',
    async (ours, theirs, _why, _what, forge) => {
      expect(await answers(forge)).toEqual([ours, theirs]);
    },
  );
});
