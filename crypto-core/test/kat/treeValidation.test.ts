import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { toNodeIndex } from '../../src/structs/indices.ts';
import { leafNodeTBS } from '../../src/structs/leafNode.ts';
import { verifyWithLabel } from '../../src/suite/labels.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { verifyParentHashes } from '../../src/tree/parentHash.ts';
import { treeHash } from '../../src/tree/treeHash.ts';
import { fromHex, mlsVectors, treeOf } from './vectors.ts';

interface Vector {
  cipher_suite: number;
  tree: string;
  group_id: string;
  tree_hashes: string[];
  resolutions: number[][];
}

beforeAll(ready);

const vectors = mlsVectors<Vector>('tree-validation').map((vector, index) => ({ index, vector }));

describe.each(vectors)('tree-validation $index', ({ vector }) => {
  const suite = getSuite(vector.cipher_suite);
  const tree = treeOf(vector.tree);

  it('has the published resolution and tree hash at every node', () => {
    expect(vector.resolutions.map((_, node) => tree.resolution(toNodeIndex(node)))).toEqual(
      vector.resolutions,
    );
    expect(vector.tree_hashes.map((_, node) => toHex(treeHash(suite, tree, toNodeIndex(node))))).toEqual(
      vector.tree_hashes,
    );
  });

  it('has valid parent hashes and leaf signatures', () => {
    verifyParentHashes(suite, tree);
    const groupId = fromHex(vector.group_id);
    for (const { leafIndex, leaf } of tree.members()) {
      const content = leafNodeTBS(leaf, { groupId, leafIndex });
      expect(verifyWithLabel(suite, leaf.signatureKey, 'LeafNodeTBS', content, leaf.signature)).toBe(true);
    }
  });

  it('TREE-02: is refused once a parent key is changed', () => {
    for (const [index, node] of tree.entries()) {
      if (node.type !== 'parent') continue;
      const encryptionKey = node.parent.encryptionKey.map((byte) => byte ^ 1);
      const forged = treeOf(vector.tree);
      forged.setParent(index, { ...node.parent, encryptionKey });
      expect(() => verifyParentHashes(suite, forged)).toThrow('TREE-02');
    }
  });
});
