/** Trees of many leaves: copied by chunks, with counts of their keys beside them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, utf8 } from '../../src/bytes.ts';
import { type LeafIndex, type NodeIndex, toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNode } from '../../src/structs/leafNode.ts';
import type { Node } from '../../src/structs/node.ts';
import { ready } from '../../src/suite/sodium.ts';
import { Chunks } from '../../src/tree/chunks.ts';
import { KeyIndex } from '../../src/tree/keyIndex.ts';
import { copath, directPath, isLeaf, leftOf, nodeCount, nodeOfLeaf, rightOf } from '../../src/tree/math.ts';
import { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { generator } from '../mutations.ts';

const SEED = 20_261_125;

beforeAll(ready);

function leafNamed(name: string, types: readonly number[] = [1]): LeafNode {
  return {
    encryptionKey: utf8(`encryption key ${name}`),
    signatureKey: utf8(`signature key ${name}`),
    credential: { type: 'basic', identity: utf8(name) },
    capabilities: { versions: [1], cipherSuites: [3], extensions: [], proposals: [], credentials: types },
    source: { type: 'key-package', lifetime: { notBefore: 0n, notAfter: 1n } },
    extensions: [],
    signature: EMPTY,
  };
}

describe('a list in chunks', () => {
  it(`is what a plain list is, and so is each clone of it, through any changes (seed ${SEED})`, () => {
    const below = generator(SEED);
    const lists = [{ chunks: Chunks.of<number>([1, null, 3]), plain: [1, null, 3] as (number | null)[] }];
    for (let step = 0; step < 3000; step += 1) {
      const { chunks, plain } = lists[below(lists.length)]!;
      const kind = below(12);
      if (kind === 0 && lists.length < 6) lists.push({ chunks: chunks.clone(), plain: [...plain] });
      else if (kind === 1) {
        const length = 1 + below(900);
        chunks.resize(length);
        while (plain.length < length) plain.push(null);
        plain.length = length;
      } else {
        const index = below(plain.length);
        const item = below(3) === 0 ? null : step;
        chunks.set(index, item);
        plain[index] = item;
      }
      if (step % 50 !== 0) continue;
      for (const list of lists) {
        expect([...list.chunks]).toEqual(list.plain);
        expect([list.chunks.length, list.chunks.get(list.plain.length)]).toEqual([list.plain.length, null]);
        for (let at = 0; at < list.plain.length; at += 256) {
          const items = list.plain.slice(at, at + 256).filter((item) => item !== null);
          expect(list.chunks.isEmptyAround(at + 255)).toBe(items.length === 0);
        }
      }
    }
    expect(lists).toHaveLength(6);
  });

  it('holds nothing of what was cut off when it grows again', () => {
    const chunks = Chunks.of([...Array.from({ length: 299 }, () => null), 7]);
    chunks.resize(298);
    chunks.resize(300);
    expect([chunks.get(299), chunks.isEmptyAround(299)]).toEqual([null, true]);
  });
});

/** The resolution as section 4.1.1 defines it. */
function resolutionOf(tree: RatchetTree, index: NodeIndex): NodeIndex[] {
  const node = tree.node(index);
  if (node?.type === 'leaf') return [index];
  if (node !== null) return [index, ...node.parent.unmergedLeaves.map(nodeOfLeaf)];
  if (isLeaf(index)) return [];
  return [...resolutionOf(tree, leftOf(index)), ...resolutionOf(tree, rightOf(index))];
}

describe('a tree of more than one chunk', () => {
  it(`has the resolutions and paths that RFC 9420 gives it (seed ${SEED})`, () => {
    const below = generator(SEED);
    const tree = RatchetTree.ofLeaf(leafNamed('0'));
    for (let at = 1; at < 700; at += 1) tree.addLeaf(leafNamed(`${at}`));
    // Leaves 300 to 511 are blank, and all parents but some.
    for (let at = 300; at < 512; at += 1) tree.removeLeaf(toLeafIndex(at));
    for (let round = 0; round < 40; round += 1) {
      const parent = { encryptionKey: utf8(`${round}`), parentHash: EMPTY, unmergedLeaves: [] };
      tree.setParent(toNodeIndex(2 * below(290) + 1), parent);
    }
    for (let node = 0; node < nodeCount(tree.leafCount); node += 1) {
      const index = toNodeIndex(node);
      expect(tree.resolution(index)).toEqual(resolutionOf(tree, index));
    }
    for (const leaf of [0, 299, 300, 511, 512, 699, 1023].map(toLeafIndex)) {
      const children = copath(leaf, tree.leafCount);
      const expected = directPath(leaf, tree.leafCount)
        .map((node, height) => ({ node, copathChild: children[height]! }))
        .filter(({ copathChild }) => resolutionOf(tree, copathChild).length > 0);
      expect(tree.filteredDirectPath(leaf)).toEqual(expected);
    }
  });

  it(`counts the keys of its nodes through any changes, and each clone its own (seed ${SEED})`, () => {
    const below = generator(SEED);
    let tree = RatchetTree.ofLeaf(leafNamed('0'));
    let made = 1;
    let clones = 0;
    const all: LeafNode[] = [];
    const fresh = () => {
      const leaf = leafNamed(`${(made += 1)}`, below(40) === 0 ? [2] : [1]);
      all.push(leaf);
      return leaf;
    };
    const counted = (keys: KeyIndex) => [
      all.map(({ encryptionKey, signatureKey }) => [
        keys.encryptionKeys(encryptionKey),
        keys.signatureKeys(signatureKey),
      ]),
      keys.supportsCredentials,
    ];
    const anew = (some: RatchetTree) => KeyIndex.of([...some.entries()].map(([, node]) => node));
    for (let step = 0; step < 1200; step += 1) {
      const before = tree;
      if (below(4) === 0) {
        clones += 1;
        tree = tree.cloneWithKeys();
      }
      const members = [...tree.members()].map(({ leafIndex }) => leafIndex);
      const some = members[below(members.length)] as LeafIndex;
      const kind = below(8);
      if (kind < 4) tree.addLeaf(fresh());
      else if (kind === 4 && members.length > 1) {
        tree.removeLeaf(some);
        tree.truncate();
      } else if (kind === 5) tree.updateLeaf(some, fresh());
      else if (kind === 6) tree.setLeaf(some, tree.leaf(members[0] as LeafIndex) ?? fresh());
      else {
        const leaf = fresh();
        const { encryptionKey } = leaf;
        tree.setParent(tree.root, { encryptionKey, parentHash: EMPTY, unmergedLeaves: [] });
      }
      if (step % 100 !== 0) continue;
      expect(counted(tree.keys)).toEqual(counted(anew(tree)));
      // The tree that was cloned counts what it did before.
      expect(counted(before.keys)).toEqual(counted(anew(before)));
    }
    expect([clones > 200, tree.leafCount]).toEqual([true, 512]);
  });

  it('compares keys by their last 32 bytes, encryption keys and signature keys apart', () => {
    const key = (first: number) => Uint8Array.of(first, ...new Uint8Array(32).fill(7));
    const leaf = (first: number): Node => ({
      type: 'leaf',
      leaf: { ...leafNamed('anna'), encryptionKey: key(first), signatureKey: key(9).subarray(1) },
    });
    const keys = KeyIndex.of([leaf(1), null, leaf(2)]);
    expect([keys.encryptionKeys(key(3)), keys.signatureKeys(key(3)), keys.encryptionKeys(utf8('x'))]).toEqual(
      [2, 2, 0],
    );
    keys.replace(leaf(1), null);
    expect([keys.encryptionKeys(key(3)), keys.signatureKeys(key(3))]).toEqual([1, 1]);
  });
});
