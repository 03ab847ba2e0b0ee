/** Messages that are dear to refuse: of anybody, and of a member who knows the keys of the epoch. */

import { decodeRemovalGrounds } from '../../src/account/index.ts';
import { EMPTY } from '../../src/bytes.ts';
import type { Env } from '../../src/env.ts';
import { byValue } from '../../src/group/proposalList.ts';
import {
  type CipherSuiteId,
  type CryptoErrorCode,
  decodeKeyPackage,
  decryptApplication,
  type Group,
  joinByWelcome,
  processCommit,
  processProposal,
} from '../../src/index.ts';
import type { Commit, ProposalOrRef } from '../../src/structs/commit.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import type { UnverifiedKeyPackage } from '../../src/structs/keyPackage.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { anyone, anything, Conversation, device, keyPackageOf } from '../scenario/world.ts';
import { privateMessageOf } from '../tamper/forge.ts';
import { numbered, repeated, Stranger, vectorOf } from './strangers.ts';
import { type Attack, MEGABYTES } from './trees.ts';

const ENCRYPTED = { kemOutput: EMPTY, ciphertext: EMPTY };
const TAG = new Uint8Array(32);

function many<T>(count: number, item: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => item(at));
}

/** Attacks by what anybody can send to a device. */
export function messageAttacks(suiteId: CipherSuiteId, env: Env): Attack[] {
  const reader = device('reader', env);
  const bundle = keyPackageOf(reader, suiteId, env);
  const stranger = new Stranger(suiteId, env);
  const { keyPackage } = decodedKeyPackage(bundle.bytes);
  const attack = (
    name: string,
    code: CryptoErrorCode,
    bytes: Uint8Array,
    receive: (bytes: Uint8Array) => unknown,
  ): Attack => ({ name: `${name}, suite ${suiteId}`, bytes, code, receive: () => receive(bytes) });
  const packaged = (change: Partial<UnverifiedKeyPackage>): Uint8Array =>
    encodeMlsMessage({ wireFormat: 'key-package', keyPackage: { ...keyPackage, ...change } });
  const welcome = (bytes: Uint8Array) =>
    joinByWelcome(bytes, bundle, reader.signatureKey, { memberCheck: anyone });
  const welcomeOf = (secrets: number, encryptedGroupInfo: Uint8Array): Uint8Array =>
    encodeMlsMessage({
      wireFormat: 'welcome',
      welcome: {
        cipherSuite: suiteId,
        secrets: many(secrets, () => ({ newMember: EMPTY, encryptedGroupSecrets: ENCRYPTED })),
        encryptedGroupInfo,
      },
    });
  return [
    attack('a welcome for half a million clients', 'unsupported', welcomeOf(500_000, EMPTY), welcome),
    attack(
      'a welcome with a group info of two megabytes',
      'missing-key',
      welcomeOf(1, new Uint8Array(MEGABYTES)),
      welcome,
    ),
    attack(
      'a key package with extensions without end',
      'unsupported',
      packaged({ extensions: many(MEGABYTES / 3, (at) => ({ type: at & 0xffff, data: EMPTY })) }),
      decodeKeyPackage,
    ),
    attack(
      'a key package with capabilities without end',
      'unsupported',
      packaged({
        leafNode: stranger.leaf(1, {
          capabilities: { ...stranger.capabilities, proposals: many(MEGABYTES / 2, () => 0) },
        }),
      }),
      decodeKeyPackage,
    ),
  ];
}

function decodedKeyPackage(bytes: Uint8Array): { keyPackage: UnverifiedKeyPackage } {
  const message = decodeMlsMessage(bytes);
  if (message.wireFormat !== 'key-package') throw new Error('no key package');
  return message;
}

/** Attacks by a member: each message is signed and sealed properly, and wrong. */
export function memberAttacks(suiteId: CipherSuiteId, env: Env): Attack[] {
  const conversation = new Conversation(suiteId, env);
  conversation.add(conversation.at(0), [device('mallory', env)]);
  const [alice, mallory] = [conversation.at(0), conversation.at(1)];
  const stranger = new Stranger(suiteId, env);
  const receiveCommit = (group: Group, bytes: Uint8Array) =>
    processCommit(group, bytes, { memberCheck: anyone, policy: anything });
  const commit = (name: string, code: CryptoErrorCode, change: Partial<Commit>): Attack => {
    const content = { type: 'commit', commit: { proposals: [], path: null, ...change } } as const;
    const { bytes } = privateMessageOf(mallory.group, content, TAG, env);
    const { group } = alice;
    return {
      name: `${name}, suite ${suiteId}`,
      bytes,
      code,
      receive: () => receiveCommit(group, bytes),
    };
  };
  const proposals = (list: ProposalOrRef[]): Partial<Commit> => ({ proposals: list });
  const newcomer = keyPackageOf(device('newcomer', env), suiteId, env);
  const addable = Math.min(2048, Math.floor(MEGABYTES / newcomer.bytes.length));
  const { keyPackage } = decodedKeyPackage(newcomer.bytes);
  const psk = (pskId: Uint8Array) =>
    byValue({ type: 'psk', psk: { type: 'external', pskId, nonce: new Uint8Array(32) } });
  const leafNode = stranger.leaf(99);
  const path = (nodes: number, ciphertexts: number) => ({
    leafNode,
    nodes: many(nodes, (at) => ({
      encryptionKey: numbered(stranger.suite.kem.Npk, at),
      encryptedPathSecret: many(ciphertexts, () => ENCRYPTED),
    })),
  });
  const application = privateMessageOf(
    mallory.group,
    { type: 'application', data: new Uint8Array(MEGABYTES) },
    null,
    env,
  ).bytes;
  const broken = application.slice();
  broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
  const proposal = privateMessageOf(
    mallory.group,
    {
      type: 'proposal',
      proposal: {
        type: 'group-context-extensions',
        extensions: many(700_000, (at) => ({ type: at & 0xffff, data: EMPTY })),
      },
    },
    null,
    env,
  ).bytes;
  const grounds = vectorOf(repeated(Uint8Array.of(0), MEGABYTES));
  const { group } = alice;
  return [
    commit(
      'removals without end',
      'unsupported',
      proposals(many(290_000, (at) => byValue({ type: 'remove', removed: toLeafIndex(at) }))),
    ),
    commit('as many removals as are read', 'invalid-proposal', {
      ...proposals(many(2048, (at) => byValue({ type: 'remove', removed: toLeafIndex(at + 2) }))),
      path: path(1, 0),
    }),
    commit(
      'references without end',
      'unsupported',
      proposals(many(60_000, (at) => ({ type: 'reference', reference: numbered(32, at) }))),
    ),
    commit(
      'a reference of two megabytes',
      'missing-proposal',
      proposals([{ type: 'reference', reference: new Uint8Array(MEGABYTES) }]),
    ),
    commit(
      'two PSKs with ids of a megabyte',
      'invalid-proposal',
      proposals(many(2, () => psk(new Uint8Array(MEGABYTES / 2)))),
    ),
    commit('PSKs whose ids differ in their last bytes', 'missing-psk', {
      ...proposals(many(1500, (at) => psk(numbered(1300, at)))),
      path: null,
    }),
    commit(
      'key packages whose leaves nobody signed',
      'bad-signature',
      proposals(
        many(addable, (at) =>
          byValue({
            type: 'add',
            keyPackage: { ...keyPackage, initKey: numbered(stranger.suite.kem.Npk, at) },
          }),
        ),
      ),
    ),
    commit('a path of a million ciphertexts', 'unsupported', { path: path(1, MEGABYTES / 2) }),
    commit('a path without end', 'unsupported', {
      path: path(Math.floor(MEGABYTES / (stranger.suite.kem.Npk + 3)), 0),
    }),
    commit('as many ciphertexts as are read', 'bad-signature', { path: path(12, 4096) }),
    {
      name: `an application message of two megabytes, broken, suite ${suiteId}`,
      bytes: broken,
      code: 'decrypt-failed',
      receive: () => decryptApplication(group, broken),
    },
    {
      name: `a proposal of extensions without end, suite ${suiteId}`,
      bytes: proposal,
      code: 'unsupported',
      receive: () => processProposal(group, proposal),
    },
    {
      name: `grounds of a removal without end, suite ${suiteId}`,
      bytes: grounds,
      code: 'unsupported',
      receive: () => decodeRemovalGrounds(grounds),
    },
  ];
}
