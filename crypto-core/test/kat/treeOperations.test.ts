import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { writeRatchetTreeNodes } from '../../src/structs/node.ts';
import { type Proposal, readProposal } from '../../src/structs/proposal.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import type { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { rootHash } from '../../src/tree/treeHash.ts';
import { fromHex, mlsVectors, treeOf } from './vectors.ts';

interface Vector {
  cipher_suite: number;
  proposal: string;
  proposal_sender: number;
  tree_before: string;
  tree_after: string;
  tree_hash_before: string;
  tree_hash_after: string;
}

// The vectors name suite 1 alone. Tree operations use nothing of a suite but its hash, which is suite 3's too.
const HASH_OF_SUITE_1 = getSuite(3);
const vectors = mlsVectors<Vector>('tree-operations').map((vector, index) => ({ index, vector }));

beforeAll(ready);

function apply(tree: RatchetTree, proposal: Proposal, sender: number): void {
  if (proposal.type === 'add') tree.addLeaf(proposal.keyPackage.leafNode);
  else if (proposal.type === 'update') tree.updateLeaf(toLeafIndex(sender), proposal.leafNode);
  else if (proposal.type === 'remove') {
    tree.removeLeaf(proposal.removed);
    tree.truncate();
  } else throw new Error(`no tree operation: ${proposal.type}`);
}

describe('tree-operations', () => {
  it.each(vectors)('gives the published tree and hash for vector $index', ({ vector }) => {
    const before = treeOf(vector.tree_before);
    expect(toHex(rootHash(HASH_OF_SUITE_1, before))).toBe(vector.tree_hash_before);
    const after = before.clone();
    apply(after, decode(fromHex(vector.proposal), readProposal), vector.proposal_sender);
    expect(toHex(encode(after.toNodes(), writeRatchetTreeNodes))).toBe(vector.tree_after);
    expect(toHex(rootHash(HASH_OF_SUITE_1, after))).toBe(vector.tree_hash_after);
    // Changing the clone leaves the original as it was.
    expect(toHex(encode(before.toNodes(), writeRatchetTreeNodes))).toBe(vector.tree_before);
    expect(toHex(rootHash(HASH_OF_SUITE_1, before))).toBe(vector.tree_hash_before);
  });
});
