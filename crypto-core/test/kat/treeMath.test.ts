import { describe, expect, it } from 'vitest';
import { toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import {
  directPath,
  fullLeafCount,
  isInSubtree,
  isLeaf,
  leftOf,
  nodeCount,
  nodeOfLeaf,
  parentOf,
  rightOf,
  rootOf,
  siblingOf,
} from '../../src/tree/math.ts';
import { mlsVectors } from './vectors.ts';

interface Vector {
  n_leaves: number;
  n_nodes: number;
  root: number;
  left: (number | null)[];
  right: (number | null)[];
  parent: (number | null)[];
  sibling: (number | null)[];
}

describe.each(mlsVectors<Vector>('tree-math'))('tree-math, $n_leaves leaves', (vector) => {
  const nodes = Array.from({ length: vector.n_nodes }, (_, index) => toNodeIndex(index));

  it('has the published size and root', () => {
    expect(nodeCount(vector.n_leaves)).toBe(vector.n_nodes);
    expect(rootOf(vector.n_leaves)).toBe(vector.root);
  });

  it('has the published children, parent and sibling at every node', () => {
    const root = rootOf(vector.n_leaves);
    expect(nodes.map((node) => (isLeaf(node) ? null : leftOf(node)))).toEqual(vector.left);
    expect(nodes.map((node) => (isLeaf(node) ? null : rightOf(node)))).toEqual(vector.right);
    expect(nodes.map((node) => (node === root ? null : parentOf(node)))).toEqual(vector.parent);
    expect(nodes.map((node) => (node === root ? null : siblingOf(node)))).toEqual(vector.sibling);
  });
});

describe('tree math beyond the vectors', () => {
  it('has each leaf below its direct path, and below nothing else', () => {
    for (let leaf = 0; leaf < 8; leaf += 1) {
      const index = toLeafIndex(leaf);
      const above = Array.from({ length: 15 }, (_, node) => toNodeIndex(node)).filter((node) =>
        isInSubtree(index, node),
      );
      expect(above).toEqual([nodeOfLeaf(index), ...directPath(index, 8)].toSorted((a, b) => a - b));
    }
  });

  it('rounds leaf counts up to powers of two', () => {
    expect([1, 2, 3, 4, 5, 1000].map(fullLeafCount)).toEqual([1, 2, 4, 4, 8, 1024]);
  });
});
