import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, utf8 } from '../../src/bytes.ts';
import { type LeafIndex, toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNode } from '../../src/structs/leafNode.ts';
import type { Node } from '../../src/structs/node.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { nodeCount } from '../../src/tree/math.ts';
import { verifyParentHashes } from '../../src/tree/parentHash.ts';
import { RatchetTree, type UnverifiedRatchetTree } from '../../src/tree/ratchetTree.ts';
import { originalTreeHash, rootHash, treeHash } from '../../src/tree/treeHash.ts';
import { createPath } from '../../src/tree/treekem.ts';
import { testEnv } from '../testEnv.ts';

const suite = getSuite(0x0003);

beforeAll(ready);

let made = 0;

function leafNamed(name: string): LeafNode {
  return {
    encryptionKey: utf8(`encryption key ${name}`),
    signatureKey: utf8(`signature key ${name}`),
    credential: { type: 'basic', identity: utf8(name) },
    capabilities: { versions: [1], cipherSuites: [3], extensions: [], proposals: [], credentials: [1] },
    source: { type: 'key-package', lifetime: { notBefore: 0n, notAfter: 1n } },
    extensions: [],
    signature: EMPTY,
  };
}

function freshLeaf(): LeafNode {
  return leafNamed(`${made++}`);
}

function withoutCache(tree: RatchetTree): UnverifiedRatchetTree {
  return RatchetTree.fromNodes(tree.toNodes());
}

describe('a ratchet tree', () => {
  it('keeps unmerged leaves ascending when a leaf is added before one of them', () => {
    const leaf = (): Node => ({ type: 'leaf', leaf: freshLeaf() });
    const parent = { encryptionKey: utf8('key'), parentHash: EMPTY, unmergedLeaves: [toLeafIndex(2)] };
    const nodes = [leaf(), null, null, { type: 'parent', parent } as const, leaf(), null, leaf()];
    const tree = RatchetTree.fromOwnRecord(nodes).clone();
    expect(tree.addLeaf(freshLeaf())).toBe(1);
    expect(tree.parent(toNodeIndex(3))?.unmergedLeaves).toEqual([1, 2]);
    tree.addLeaf(freshLeaf());
    expect(tree.leafCount).toBe(8);
  });

  it('hashes from its cache what it would hash without it, and keeps valid parent hashes, through any changes', () => {
    const env = testEnv('tree');
    const draw = (below: number): number => (env.random(1)[0] ?? 0) % below;
    let tree = RatchetTree.ofLeaf(freshLeaf());
    for (let step = 0; step < 300; step += 1) {
      const before = rootHash(suite, tree);
      const next = tree.clone();
      const members = [...next.members()].map(({ leafIndex }) => leafIndex);
      const some = members[draw(members.length)] as LeafIndex;
      const kind = draw(5);
      if (kind <= 1) next.addLeaf(freshLeaf());
      else if (kind === 2 && members.length > 1) {
        next.removeLeaf(some);
        next.truncate();
      } else if (kind === 3) next.updateLeaf(some, freshLeaf());
      else {
        const makeLeaf = (encryptionKey: Uint8Array, parentHash: Uint8Array): LeafNode => ({
          ...freshLeaf(),
          encryptionKey,
          source: { type: 'commit', parentHash },
        });
        createPath(suite, next, some, makeLeaf, env);
      }
      const fresh = withoutCache(next);
      for (let node = 0; node < nodeCount(next.leafCount); node += 1) {
        const index = toNodeIndex(node);
        expect(treeHash(suite, next, index)).toEqual(treeHash(suite, fresh, index));
      }
      verifyParentHashes(suite, next);
      // Neither the contents nor the cache of the tree that was cloned has moved.
      expect(rootHash(suite, tree)).toEqual(before);
      expect(rootHash(suite, withoutCache(tree))).toEqual(before);
      tree = next;
    }
    expect(tree.leafCount).toBeGreaterThan(8);
  });

  it('gives a new leaf the leftmost blank place, and doubles when there is none', () => {
    const tree = RatchetTree.ofLeaf(freshLeaf());
    expect([1, 2, 3].map(() => tree.addLeaf(freshLeaf()))).toEqual([1, 2, 3]);
    expect(tree.leafCount).toBe(4);
    tree.removeLeaf(1 as LeafIndex);
    expect(tree.addLeaf(freshLeaf())).toBe(1);
    expect(tree.addLeaf(freshLeaf())).toBe(4);
    expect(tree.leafCount).toBe(8);
  });

  it('halves until its right half holds a leaf', () => {
    const tree = RatchetTree.ofLeaf(freshLeaf());
    for (let count = 1; count < 9; count += 1) tree.addLeaf(freshLeaf());
    expect(tree.leafCount).toBe(16);
    for (let leaf = 8; leaf > 1; leaf -= 1) tree.removeLeaf(leaf as LeafIndex);
    tree.truncate();
    expect(tree.leafCount).toBe(2);
    tree.removeLeaf(1 as LeafIndex);
    tree.truncate();
    expect(tree.leafCount).toBe(1);
    expect(tree.toNodes()).toHaveLength(1);
  });

  it('hashes the original tree as the one without the unmerged leaves', () => {
    const env = testEnv('original');
    const tree = RatchetTree.ofLeaf(freshLeaf());
    for (let count = 1; count < 7; count += 1) tree.addLeaf(freshLeaf());
    const makeLeaf = (encryptionKey: Uint8Array, parentHash: Uint8Array): LeafNode => ({
      ...freshLeaf(),
      encryptionKey,
      source: { type: 'commit', parentHash },
    });
    for (const leaf of [0, 4, 6]) createPath(suite, tree, leaf as LeafIndex, makeLeaf, env);
    const right = toNodeIndex(11);
    const before = treeHash(suite, tree, right);
    const added = tree.addLeaf(freshLeaf());
    expect(added).toBe(7);
    expect(tree.parent(right)?.unmergedLeaves).toEqual([7]);
    expect(treeHash(suite, tree, right)).not.toEqual(before);
    expect(originalTreeHash(suite, tree, right, [added])).toEqual(before);
  });

  it('verifies parent hashes of nodes that leave different leaves out of one subtree', () => {
    const env = testEnv('nested');
    const tree = RatchetTree.ofLeaf(freshLeaf());
    for (let count = 1; count < 16; count += 1) tree.addLeaf(freshLeaf());
    for (const leaf of [13, 14]) tree.removeLeaf(leaf as LeafIndex);
    const makeLeaf = (encryptionKey: Uint8Array, parentHash: Uint8Array): LeafNode => ({
      ...freshLeaf(),
      encryptionKey,
      source: { type: 'commit', parentHash },
    });
    for (const [committer, added] of [
      [8, 13],
      [0, 14],
    ] as const) {
      createPath(suite, tree, committer as LeafIndex, makeLeaf, env);
      expect(tree.addLeaf(freshLeaf())).toBe(added);
    }
    expect(tree.parent(toNodeIndex(23))?.unmergedLeaves).toEqual([13, 14]);
    expect(tree.parent(toNodeIndex(15))?.unmergedLeaves).toEqual([14]);
    verifyParentHashes(suite, withoutCache(tree));
  });
});
