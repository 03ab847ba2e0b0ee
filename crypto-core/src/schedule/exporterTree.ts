/** The Exporter Tree of draft-ietf-mls-extensions-10, section 4.4: a tree of secrets with a leaf for each component. */
import { utf8, wipe } from '../bytes.ts';
import { CryptoError } from '../errors.ts';
import { type LeafIndex, type NodeIndex, toLeafIndex } from '../structs/indices.ts';
import { expandWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { leftOf, nodeOfLeaf, parentOf, rightOf, rootOf } from '../tree/math.ts';

/** The secrets that are left of the tree, by node; none of them leads to one that was taken. It changes in place. */
export type ExporterTree = Map<NodeIndex, Uint8Array>;

const LEAVES = 2 ** 16;
const ROOT = rootOf(LEAVES);
const [LEFT, RIGHT] = [utf8('left'), utf8('right')];

/** @param secret application_export_secret, which the tree keeps */
export function startExporterTree(secret: Uint8Array): ExporterTree {
  return new Map([[ROOT, secret]]);
}

function leafOf(componentId: number): LeafIndex {
  if (!Number.isInteger(componentId) || componentId < 0 || componentId >= LEAVES) {
    throw new CryptoError('usage', `component ${componentId}`);
  }
  return toLeafIndex(componentId);
}

/**
 * Takes the secret of a component's leaf. Its ancestors are wiped, and what they led to besides is kept.
 * @throws CryptoError 'usage' for a secret that was taken
 */
export function takeExporterSecret(suite: CipherSuite, tree: ExporterTree, componentId: number): Uint8Array {
  const descent: NodeIndex[] = [];
  let node = nodeOfLeaf(leafOf(componentId));
  let secret = tree.get(node);
  while (secret === undefined) {
    if (node === ROOT) throw new CryptoError('usage', `the secret of component ${componentId} was taken`);
    descent.push(node);
    node = parentOf(node);
    secret = tree.get(node);
  }
  tree.delete(node);
  for (const child of descent.toReversed()) {
    const isLeft = child < node;
    const [side, otherSide] = isLeft ? [LEFT, RIGHT] : [RIGHT, LEFT];
    tree.set(isLeft ? rightOf(node) : leftOf(node), childSecret(suite, secret, otherSide));
    const below = childSecret(suite, secret, side);
    wipe(secret);
    secret = below;
    node = child;
  }
  return secret;
}

function childSecret(suite: CipherSuite, secret: Uint8Array, side: Uint8Array): Uint8Array {
  return expandWithLabel(suite, secret, 'tree', side, suite.kdf.Nh);
}
