import { describe, expect, it } from 'vitest';
import { toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import {
  commonAncestor,
  directPath,
  fullLeafCount,
  isLeaf,
  leftOf,
  nodeCount,
  parentOf,
  rightOf,
  rootOf,
  siblingOf,
} from '../../src/tree/math.ts';
import { readVectors, report } from './vectors.ts';

interface Vector {
  n_leaves: number;
  n_nodes: number;
  root: number;
  left: (number | null)[];
  right: (number | null)[];
  parent: (number | null)[];
  sibling: (number | null)[];
}

const vectors = readVectors<Vector[]>('mls/tree-math.json');
report('tree-math', vectors.length, '');

describe.each(vectors)('tree-math, $n_leaves leaves', (vector) => {
  const nodes = Array.from({ length: vector.n_nodes }, (_, index) => toNodeIndex(index));

  it('sizes and root', () => {
    expect(nodeCount(vector.n_leaves)).toBe(vector.n_nodes);
    expect(rootOf(vector.n_leaves)).toBe(vector.root);
  });

  it('children, parent and sibling of every node', () => {
    const root = rootOf(vector.n_leaves);
    expect(nodes.map((node) => (isLeaf(node) ? null : leftOf(node)))).toEqual(vector.left);
    expect(nodes.map((node) => (isLeaf(node) ? null : rightOf(node)))).toEqual(vector.right);
    expect(nodes.map((node) => (node === root ? null : parentOf(node)))).toEqual(vector.parent);
    expect(nodes.map((node) => (node === root ? null : siblingOf(node)))).toEqual(vector.sibling);
  });
});

describe('tree math beyond the vectors', () => {
  it('finds the lowest common ancestor that two direct paths share', () => {
    for (let a = 0; a < 8; a += 1) {
      for (let b = 0; b < 8; b += 1) {
        if (a === b) continue;
        const shared = directPath(toLeafIndex(b), 8);
        const expected = directPath(toLeafIndex(a), 8).find((node) => shared.includes(node));
        expect(commonAncestor(toLeafIndex(a), toLeafIndex(b))).toBe(expected);
      }
    }
  });

  it('rounds leaf counts up to powers of two', () => {
    expect([1, 2, 3, 4, 5, 1000].map(fullLeafCount)).toEqual([1, 2, 4, 4, 8, 1024]);
  });
});
