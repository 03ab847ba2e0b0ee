import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY } from '../../src/bytes.ts';
import { verifyGroupInfo, welcomeGroupInfo } from '../../src/group/groupInfo.ts';
import { signLeaf } from '../../src/group/ownLeaf.ts';
import { byReference, byValue } from '../../src/group/proposalList.ts';
import { memberLeaf } from '../../src/group/state.ts';
import { verifyRatchetTree } from '../../src/group/verifyRatchetTree.ts';
import { type CipherSuiteId, createCommit, processCommit, ready } from '../../src/index.ts';
import { toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNode } from '../../src/structs/leafNode.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { dhkemX25519, xwing } from '../../src/suite/kem.ts';
import { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { rootHash } from '../../src/tree/treeHash.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { anyone, anything, type Conversation, device, groupOf, SUITES } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { forgeCommit, forgeKeyPackage, privateMessageOf } from './forge.ts';

const env = testEnv('keys');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

/** The u-coordinates of small order that fit into 255 bits, in hexadecimal as they are sent. */
const SMALL_ORDER = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
].flatMap((hex) => {
  const point = new Uint8Array(Buffer.from(hex, 'hex'));
  const withTopBit = point.slice();
  withTopBit[31] = (withTopBit[31] ?? 0) | 0x80;
  return [point, withTopBit];
});

/** Sets a 12-bit coefficient of an ML-KEM-768 public key. */
function withCoefficient(publicKey: Uint8Array, index: number, value: number): Uint8Array {
  const key = publicKey.slice();
  const at = 3 * (index >> 1);
  const [low = 0, middle = 0, high = 0] = key.subarray(at, at + 3);
  if (index % 2 === 0) key.set([value & 0xff, (middle & 0xf0) | (value >> 8), high], at);
  else key.set([low, (middle & 0x0f) | ((value & 0x0f) << 4), value >> 4], at);
  return key;
}

/** Keys that no path can be encrypted to, with what is wrong with them. */
function unusableKeys(suiteId: CipherSuiteId): [string, Uint8Array][] {
  const points = SMALL_ORDER.map((point, at): [string, Uint8Array] => [`point of small order ${at}`, point]);
  if (suiteId === 0x0003) return [['too short', new Uint8Array(5).fill(9)], ['empty', EMPTY], ...points];
  const { publicKey } = xwing.generateKeyPair(env);
  const withPoint = points.map(([what, point]): [string, Uint8Array] => {
    const key = publicKey.slice();
    key.set(point, 1184);
    return [what, key];
  });
  const coefficients = [0, 1, 766, 767].flatMap((at) =>
    [3329, 4095].map((value): [string, Uint8Array] => [
      `coefficient ${at} is ${value}`,
      withCoefficient(publicKey, at, value),
    ]),
  );
  return [['too short', publicKey.subarray(1)], ...withPoint, ...coefficients];
}

describe.each(SUITES)('a key of suite %i that nobody can encrypt to', (suiteId) => {
  const kem = suiteId === 0x0003 ? dhkemX25519 : xwing;

  const ofFour = (): Conversation => groupOf(4, suiteId, env);

  it('is told without encrypting to it, and no usable key is taken for one', () => {
    for (const [what, key] of unusableKeys(suiteId)) {
      expect([what, kem.isPublicKey(key), codeOf(() => kem.encap(key, env))]).toEqual([
        what,
        false,
        'malformed',
      ]);
    }
    const honest = Array.from({ length: 50 }, () => kem.generateKeyPair(env).publicKey);
    const edge =
      suiteId === 0x0003 ? [] : [0, 767].map((at) => withCoefficient(honest[0] ?? EMPTY, at, 3328));
    for (const key of [...honest, ...edge]) {
      expect([kem.isPublicKey(key), codeOf(() => kem.encap(key, env))]).toEqual([true, 'none']);
    }
  });

  it('LEAF-11: does not enter by a new leaf, at the committer or at a receiver', () => {
    const conversation = ofFour();
    for (const [, encryptionKey] of unusableKeys(suiteId)) {
      const bytes = forgeKeyPackage(device('x', env), suiteId, env, { leaf: { encryptionKey } });
      const own = () => createCommit(conversation.at(0).group, { ...hooks, adds: [bytes] }, env);
      expect(refusalOf(own)).toContain('invalid-leaf: LEAF-11: encryption key of a new member');
      const message = decodeMlsMessage(bytes);
      if (message.wireFormat !== 'key-package') throw new Error('no key package');
      const add = { type: 'add', keyPackage: message.keyPackage } as const;
      const forgery = { proposals: [byValue(add)], applied: [add], withPath: false };
      const commit = forgeCommit(conversation.at(1).group, forgery, env);
      expect(refusalOf(() => processCommit(conversation.at(0).group, commit, hooks))).toContain(
        'invalid-leaf: LEAF-11: encryption key of a new member',
      );
    }
    const signatureKey = new Uint8Array(31);
    const bytes = forgeKeyPackage(device('x', env), suiteId, env, { leaf: { signatureKey } });
    expect(
      refusalOf(() => createCommit(conversation.at(0).group, { ...hooks, adds: [bytes] }, env)),
    ).toContain('invalid-leaf: LEAF-11: signature key');
  });

  it('LEAF-11: does not enter by an Update that is proposed, at whoever commits it or processes the commit', () => {
    const conversation = ofFour();
    const [alice, bob, carol] = [0, 1, 2].map((at) => conversation.at(at).group);
    if (alice === undefined || bob === undefined || carol === undefined) throw new Error('no group');
    const position = { groupId: carol.context.groupId, leafIndex: carol.ownLeaf };
    const leafOf = (encryptionKey: Uint8Array): LeafNode =>
      signLeaf(
        carol.suite,
        { ...memberLeaf(carol.tree, carol.ownLeaf), encryptionKey, source: { type: 'update' } },
        position,
        carol.signaturePrivateKey,
      );
    const outcomes = (encryptionKey: Uint8Array): string[] => {
      const proposal = { type: 'update', leafNode: leafOf(encryptionKey) } as const;
      const { stored } = privateMessageOf(carol, { type: 'proposal', proposal }, null, env);
      if (stored === null) throw new Error('no proposal');
      const proposals = [stored];
      const commit = forgeCommit(bob, { proposals: proposals.map(byReference) }, env);
      return [
        refusalOf(() => createCommit(alice, { ...hooks, proposals }, env)),
        refusalOf(() => processCommit(alice, commit, { ...hooks, proposals })),
      ];
    };
    for (const [what, key] of unusableKeys(suiteId)) {
      for (const outcome of outcomes(key)) {
        expect([what, outcome]).toEqual([
          what,
          expect.stringContaining('invalid-leaf: LEAF-11: encryption key of leaf 2 (proposal '),
        ]);
      }
    }
    const [own, received] = outcomes(carol.suite.kem.generateKeyPair(env).publicKey);
    expect(own).toBe('none');
    // The forged path was made for the tree without the Update, so that only the tag tells.
    expect(received).not.toContain('LEAF-11');
  });

  it('LEAF-11: does not enter by the leaf of a committer, which the error names', () => {
    const conversation = ofFour();
    const [, unusable = EMPTY] = unusableKeys(suiteId)[2] ?? [];
    const commit = forgeCommit(
      conversation.at(1).group,
      { path: (path) => ({ ...path, leafNode: { ...path.leafNode, encryptionKey: unusable } }) },
      env,
    );
    expect(refusalOf(() => processCommit(conversation.at(0).group, commit, hooks))).toContain(
      'invalid-leaf: LEAF-11: encryption key of leaf 1',
    );
  });

  it('PATH-05: does not enter by a step of a path, which the error names', () => {
    for (const [, encryptionKey] of unusableKeys(suiteId)) {
      const conversation = ofFour();
      const commit = forgeCommit(
        conversation.at(1).group,
        {
          path: (path) => ({
            ...path,
            nodes: path.nodes.map((node, at) => (at === 1 ? { ...node, encryptionKey } : node)),
          }),
        },
        env,
      );
      expect(refusalOf(() => processCommit(conversation.at(0).group, commit, hooks))).toContain(
        'invalid-commit: PATH-05: key of node 3',
      );
    }
  });

  it('KP-04: does not enter as an init key', () => {
    for (const [, initKey] of unusableKeys(suiteId)) {
      const bytes = forgeKeyPackage(device('x', env), suiteId, env, { package: { initKey } });
      expect(refusalOf(() => createCommit(ofFour().at(0).group, { ...hooks, adds: [bytes] }, env))).toContain(
        'invalid-key-package: KP-04',
      );
    }
  });

  it('TREE-07: does not enter by a tree that is joined, of whose nodes the error names the one', () => {
    const { group } = ofFour().at(0);
    for (const [, encryptionKey] of unusableKeys(suiteId)) {
      const tree = group.tree.clone();
      const parent = tree.parent(toNodeIndex(3));
      if (parent === null) throw new Error('a blank node');
      tree.setParent(toNodeIndex(3), { ...parent, encryptionKey });
      const received = RatchetTree.fromNodes(tree.toNodes());
      const context = { ...group.context, treeHash: rootHash(group.suite, received) };
      const info = verifyGroupInfo(group.suite, welcomeGroupInfo({ ...group, context }), received);
      expect(
        refusalOf(() => verifyRatchetTree(group.suite, received, info, { memberCheck: anyone })),
      ).toContain('invalid-tree: TREE-07: key of node 3');
    }
  });
});
