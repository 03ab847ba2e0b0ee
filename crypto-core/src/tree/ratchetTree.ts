/**
 * The public ratchet tree (RFC 9420 sections 4 and 7). A tree is changed only on a `clone()`, so that a pending or a
 * failed commit leaves the epoch it started from untouched; nodes themselves are immutable and shared by the clones.
 */
import { CryptoError } from '../errors.ts';
import type { LeafIndex, NodeIndex } from '../structs/indices.ts';
import { toLeafIndex, toNodeIndex } from '../structs/indices.ts';
import type { LeafNode } from '../structs/leafNode.ts';
import type { Node, ParentNode } from '../structs/node.ts';
import type { Own } from '../structs/trusted.ts';
import { CHUNK_BITS, Chunks } from './chunks.ts';
import { KeyIndex } from './keyIndex.ts';
import {
  copath,
  directPath,
  fullLeafCount,
  isLeaf,
  leftOf,
  level,
  nodeCount,
  nodeOfLeaf,
  rightOf,
  rootOf,
} from './math.ts';

export interface Member {
  readonly leafIndex: LeafIndex;
  readonly leaf: LeafNode;
}

/** A non-blank ancestor, and the child of it that is not on the leaf's path. */
export interface PathStep {
  readonly node: NodeIndex;
  readonly copathChild: NodeIndex;
}

/**
 * A tree as it was received: of a possible shape (TREE-01), and filled by anybody. It can only be read, which is all
 * that `verifyRatchetTree` needs. A function that takes one takes a verified tree, too.
 */
export type UnverifiedRatchetTree = Pick<
  RatchetTree,
  | 'toNodes'
  | 'leafCount'
  | 'root'
  | 'node'
  | 'leaf'
  | 'parent'
  | 'members'
  | 'entries'
  | 'cachedHash'
  | 'cacheHash'
  | 'resolution'
>;

/** A tree out of this client's own storage, which stored it after it had built or verified it. */
export type OwnRatchetTree = Own<RatchetTree>;

/**
 * The tree of a group: built by this client, verified when it joined, or cloned from such a tree and changed by
 * proposals and paths that were validated.
 */
export class RatchetTree {
  readonly #nodes: Chunks<Node>;
  /** Tree hashes known for the current contents; a change forgets those of the node and its ancestors. */
  readonly #hashes: Chunks<Uint8Array>;
  /** Made when it is asked for, and kept up to date from then on. */
  #keys: KeyIndex | null;

  private constructor(nodes: Chunks<Node>, hashes: Chunks<Uint8Array>, keys: KeyIndex | null = null) {
    this.#nodes = nodes;
    this.#hashes = hashes;
    this.#keys = keys;
  }

  static ofLeaf(leaf: LeafNode): RatchetTree {
    return RatchetTree.#of([{ type: 'leaf', leaf }]);
  }

  /**
   * Builds a tree from the contents of a ratchet_tree extension (RFC 9420 section 12.4.3.3).
   * @throws CryptoError 'invalid-tree' (TREE-01)
   */
  static fromNodes(nodes: readonly (Node | null)[]): UnverifiedRatchetTree {
    return RatchetTree.#ofShape(nodes);
  }

  /**
   * Restores a tree from a record of this client's own, which the caller has authenticated.
   * @throws CryptoError 'invalid-tree' (TREE-01)
   */
  static fromOwnRecord(nodes: readonly (Node | null)[]): OwnRatchetTree {
    return RatchetTree.#ofShape(nodes) as OwnRatchetTree;
  }

  /**
   * TREE-01: the tree is not empty, ends in a leaf that is not blank, and has leaves and parents where each belongs. A
   * parent node at the end would have no leaf in its right half, where every node that has a key has one.
   * @throws CryptoError 'invalid-tree'
   */
  static #ofShape(nodes: readonly (Node | null)[]): RatchetTree {
    if (nodes.at(-1)?.type !== 'leaf') {
      throw new CryptoError('invalid-tree', 'TREE-01: a ratchet tree ends in a leaf that is not blank');
    }
    const leafCount = fullLeafCount((nodes.length + 1) >>> 1);
    const padded: (Node | null)[] = [...nodes];
    while (padded.length < nodeCount(leafCount)) padded.push(null);
    for (const [index, node] of padded.entries()) {
      if (node !== null && (node.type === 'leaf') !== isLeaf(toNodeIndex(index))) {
        throw new CryptoError('invalid-tree', `TREE-01: node ${index} is a ${node.type}`);
      }
    }
    return RatchetTree.#of(padded);
  }

  static #of(nodes: readonly (Node | null)[]): RatchetTree {
    const none: null[] = nodes.map(() => null);
    return new RatchetTree(Chunks.of(nodes), Chunks.of<Uint8Array>(none));
  }

  /** The nodes as a ratchet_tree extension carries them: without the blank ones after the last that is not. */
  toNodes(): readonly (Node | null)[] {
    let length = this.#nodes.length;
    while (length > 0 && this.#nodes.get(length - 1) === null) length -= 1;
    return [...this.#nodes].slice(0, length);
  }

  clone(): RatchetTree {
    return new RatchetTree(this.#nodes.clone(), this.#hashes.clone(), this.#keys?.clone());
  }

  /** Number of leaves, blank ones included: a power of two. */
  get leafCount(): number {
    return (this.#nodes.length + 1) >>> 1;
  }

  get root(): NodeIndex {
    return rootOf(this.leafCount);
  }

  node(index: NodeIndex): Node | null {
    return this.#nodes.get(index);
  }

  leaf(index: LeafIndex): LeafNode | null {
    const node = this.#nodes.get(nodeOfLeaf(index));
    return node?.type === 'leaf' ? node.leaf : null;
  }

  parent(index: NodeIndex): ParentNode | null {
    const node = this.#nodes.get(index);
    return node?.type === 'parent' ? node.parent : null;
  }

  encryptionKey(index: NodeIndex): Uint8Array | null {
    const node = this.node(index);
    if (node === null) return null;
    return node.type === 'leaf' ? node.leaf.encryptionKey : node.parent.encryptionKey;
  }

  /** The keys of all nodes, counted: O(n) for the first time, in this tree or in the one that it is a clone of. */
  get keys(): KeyIndex {
    this.#keys ??= KeyIndex.of(this.#nodes);
    return this.#keys;
  }

  /** Makes a clone that is given the keys, so that not every tree of an epoch counts them anew. */
  cloneWithKeys(): RatchetTree {
    return new RatchetTree(this.#nodes.clone(), this.#hashes.clone(), this.keys.clone());
  }

  *members(): Generator<Member> {
    for (let index = 0; index < this.#nodes.length; index += 2) {
      const node = this.#nodes.get(index);
      if (node?.type === 'leaf') yield { leafIndex: toLeafIndex(index >>> 1), leaf: node.leaf };
    }
  }

  /** Every node that is not blank, by ascending index. */
  *entries(): Generator<readonly [NodeIndex, Node]> {
    for (let index = 0; index < this.#nodes.length; index += 1) {
      const node = this.#nodes.get(index);
      if (node !== null) yield [toNodeIndex(index), node];
    }
  }

  /**
   * Finds the place for a new member: the leftmost blank leaf, in an extended tree if there is none (section 12.1.1).
   */
  reserveLeaf(): LeafIndex {
    for (let index = 0; index < this.#nodes.length; index += 2) {
      if (this.#nodes.get(index) === null) return toLeafIndex(index >>> 1);
    }
    const first = toLeafIndex(this.leafCount);
    this.#extend();
    return first;
  }

  /** Applies an Add (section 12.1.1). */
  addLeaf(leaf: LeafNode): LeafIndex {
    const index = this.reserveLeaf();
    for (const ancestor of directPath(index, this.leafCount)) {
      const parent = this.parent(ancestor);
      if (parent === null) continue;
      const unmergedLeaves = withLeaf(parent.unmergedLeaves, index);
      this.#nodes.set(ancestor, { type: 'parent', parent: { ...parent, unmergedLeaves } });
    }
    this.setLeaf(index, leaf);
    return index;
  }

  /** Puts a leaf in its place without touching its ancestors' contents. */
  setLeaf(index: LeafIndex, leaf: LeafNode): void {
    this.#put(nodeOfLeaf(index), { type: 'leaf', leaf });
    this.#forgetHashes(index);
  }

  /** Applies an Update (section 12.1.2). */
  updateLeaf(index: LeafIndex, leaf: LeafNode): void {
    this.setLeaf(index, leaf);
    this.blankDirectPath(index);
  }

  /** Applies a Remove (section 12.1.3), without truncating: see `truncate`. */
  removeLeaf(index: LeafIndex): void {
    this.#put(nodeOfLeaf(index), null);
    this.blankDirectPath(index);
  }

  blankDirectPath(index: LeafIndex): void {
    for (const ancestor of directPath(index, this.leafCount)) this.#put(ancestor, null);
    this.#forgetHashes(index);
  }

  /** Forgets the hash of this node only: the caller has set or blanked a leaf below, which forgot those above. */
  setParent(index: NodeIndex, parent: ParentNode): void {
    this.#put(index, { type: 'parent', parent });
    this.#hashes.set(index, null);
  }

  /** Drops the right half while no leaf is left in it (section 7.7). */
  truncate(): void {
    let last = this.leafCount - 1;
    while (last > 0 && this.#nodes.get(2 * last) === null) last -= 1;
    this.#resize(nodeCount(fullLeafCount(last + 1)));
  }

  #put(index: NodeIndex, node: Node | null): void {
    this.#keys?.replace(this.node(index), node);
    this.#nodes.set(index, node);
  }

  #extend(): void {
    this.#resize(nodeCount(this.leafCount * 2));
  }

  /** Cuts off blank nodes only. */
  #resize(length: number): void {
    this.#nodes.resize(length);
    this.#hashes.resize(length);
  }

  #forgetHashes(index: LeafIndex): void {
    this.#hashes.set(nodeOfLeaf(index), null);
    for (const ancestor of directPath(index, this.leafCount)) this.#hashes.set(ancestor, null);
  }

  cachedHash(index: NodeIndex): Uint8Array | undefined {
    return this.#hashes.get(index) ?? undefined;
  }

  cacheHash(index: NodeIndex, hash: Uint8Array): void {
    this.#hashes.set(index, hash);
  }

  /** The nodes that together cover every non-blank leaf below `index` (section 4.1.1), left to right. */
  resolution(index: NodeIndex): NodeIndex[] {
    const found: NodeIndex[] = [];
    this.#resolve(index, found);
    return found;
  }

  #resolve(index: NodeIndex, found: NodeIndex[]): void {
    const node = this.node(index);
    if (node !== null) {
      found.push(index);
      if (node.type !== 'parent') return;
      for (const leaf of node.parent.unmergedLeaves) found.push(nodeOfLeaf(leaf));
    } else if (!isLeaf(index) && !this.#isEmptyBelow(index)) {
      this.#resolve(leftOf(index), found);
      this.#resolve(rightOf(index), found);
    }
  }

  /** Lists the ancestors of a leaf whose child on the copath has a resolution that is not empty (section 4.1.2). */
  filteredDirectPath(leaf: LeafIndex): PathStep[] {
    const children = copath(leaf, this.leafCount);
    const steps: PathStep[] = [];
    for (const [height, node] of directPath(leaf, this.leafCount).entries()) {
      const copathChild = children[height];
      if (copathChild !== undefined && this.#hasResolution(copathChild)) steps.push({ node, copathChild });
    }
    return steps;
  }

  #hasResolution(index: NodeIndex): boolean {
    if (this.node(index) !== null) return true;
    if (isLeaf(index) || this.#isEmptyBelow(index)) return false;
    return this.#hasResolution(leftOf(index)) || this.#hasResolution(rightOf(index));
  }

  /** Returns true for many of the subtrees without a node, so that nobody goes through all of them. */
  #isEmptyBelow(index: NodeIndex): boolean {
    return level(index) < CHUNK_BITS && this.#nodes.isEmptyAround(index);
  }
}

/** Adds a leaf to an ascending list, which it isn't always the last of. */
function withLeaf(ascending: readonly LeafIndex[], leaf: LeafIndex): LeafIndex[] {
  const after = ascending.findIndex((other) => other > leaf);
  return after === -1 ? [...ascending, leaf] : ascending.toSpliced(after, 0, leaf);
}
