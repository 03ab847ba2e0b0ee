/** Ratchet trees as far as the relay knows them: RFC 9420 sections 7.8 and 12.4.3.3, without the keys in them. */
import { createHash } from 'node:crypto';
import { limits } from '../../contract/index.ts';
import { ApiError } from '../errors.ts';
import { opaque, opaquesIn } from '../opaque.ts';
import type { Place, TreeNode } from '../repositories/trees.ts';

const leafType = 1;
const parentType = 2;
/** Two times opaque<V> of 32 bytes. */
const childHash = 32;
const childrenLength = 2 * (1 + childHash);

type Parsed = Pick<TreeNode, 'children' | 'content' | 'hash'> & {
  /** Null for a parent. */
  readonly leaf: number | null;
};

/**
 * Reads `opaque node<V>` after `opaque node<V>`.
 * @returns null unless each is a TreeHashInput of a leaf or a parent, and there are no more than a tree has; their keys are not
 *   looked at
 */
export function parseTreeNodes(body: Buffer): Parsed[] | null {
  const contents = opaquesIn(body, limits.treeNodes);
  if (contents === null) return null;
  const nodes = contents.map(parseNode);
  return nodes.every((node) => node !== null) ? nodes : null;
}

function parseNode(content: Buffer): Parsed | null {
  if (content.length > limits.treeNodeMax) return null;
  const hash = createHash('sha256').update(content).digest('hex');
  if (content[0] === leafType) {
    if (!isOptional(content.subarray(5))) return null;
    const leaf = content.readUInt32BE(1);
    return leaf < 2 ** limits.treeLevels ? { hash, content, leaf, children: null } : null;
  }
  if (content[0] !== parentType || content.length < 2 + childrenLength) return null;
  const children = content.subarray(-childrenLength);
  if (children[0] !== childHash || children[1 + childHash] !== childHash) return null;
  if (!isOptional(content.subarray(1, -childrenLength))) return null;
  const [left, right] = [children.subarray(1, 1 + childHash), children.subarray(-childHash)];
  return { hash, content, leaf: null, children: [left.toString('hex'), right.toString('hex')] };
}

/** Returns whether bytes are an `optional<T>` whose T nobody has looked at. */
function isOptional(bytes: Buffer): boolean {
  return bytes[0] === 0 ? bytes.length === 1 : bytes[0] === 1 && bytes.length > 1;
}

/**
 * Puts a node into its place: a parent has two halves that lie beside each other.
 * @param placeOf the places of nodes that are known by their hashes
 * @throws ApiError invalid-request for children that don't make a subtree, or one of a deeper tree than there may be;
 *   missing-tree where one is not known
 */
export function placeNode(
  { children, content, hash, leaf }: Parsed,
  placeOf: ReadonlyMap<string, Place>,
): TreeNode {
  if (children === null) return { hash, content, children, level: 0, firstLeaf: leaf ?? 0 };
  const [left, right] = children.map((child) => placeOf.get(child));
  if (left === undefined || right === undefined) throw missingTree();
  const level = left.level + 1;
  const half = 2 ** left.level;
  const isWhole = right.level === left.level && right.firstLeaf === left.firstLeaf + half;
  const isAligned = left.firstLeaf % (2 * half) === 0;
  if (!isWhole || !isAligned || level > limits.treeLevels) throw noTree();
  return { hash, content, children, level, firstLeaf: left.firstLeaf };
}

export const noTree = () => new ApiError('invalid-request', 'body: not nodes of a tree.');

export const missingTree = () => new ApiError('missing-tree', 'Nodes of the tree are not here.');

/**
 * Puts the nodes below a root into the form that a ratchet_tree extension has, without the blank ones at the end.
 * @param nodes by their hashes; each was placed, so that nothing is below itself
 * @returns null where one is missing
 */
export function ratchetTree(
  root: string,
  nodes: ReadonlyMap<string, Pick<TreeNode, 'children' | 'content'>>,
): Buffer | null {
  const items: Buffer[] = [];
  const isWhole = collect(root, nodes, items);
  if (!isWhole) return null;
  while (items.at(-1)?.equals(blank) === true) items.pop();
  return opaque(Buffer.concat(items));
}

/** An `optional<Node>` that is not there. */
const blank = Buffer.of(0);

function collect(
  hash: string,
  nodes: ReadonlyMap<string, Pick<TreeNode, 'children' | 'content'>>,
  items: Buffer[],
): boolean {
  const node = nodes.get(hash);
  if (node === undefined) return false;
  const { children, content } = node;
  if (children === null) {
    items.push(optionalNode(leafType, content.subarray(5)));
    return true;
  }
  const own = optionalNode(parentType, content.subarray(1, -childrenLength));
  if (!collect(children[0], nodes, items)) return false;
  items.push(own);
  return collect(children[1], nodes, items);
}

/** @param optional an `optional<T>` of the input */
function optionalNode(type: number, optional: Buffer): Buffer {
  return optional[0] === 0 ? blank : Buffer.concat([Buffer.of(1, type), optional.subarray(1)]);
}
