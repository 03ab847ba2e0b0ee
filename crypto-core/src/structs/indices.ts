/**
 * Leaf and node indices are both small integers and are easily taken for one another, so each has its own type.
 * RFC 9420 section 4.1 and appendix C: node `2 * i` is leaf `i`.
 */

declare const leafIndexBrand: unique symbol;
declare const nodeIndexBrand: unique symbol;

export type LeafIndex = number & { readonly [leafIndexBrand]: true };
export type NodeIndex = number & { readonly [nodeIndexBrand]: true };

/** Marks a number as a leaf's (RFC 9420 section 4.1), where it comes from outside. */
export function toLeafIndex(value: number): LeafIndex {
  return value as LeafIndex;
}

export function toNodeIndex(value: number): NodeIndex {
  return value as NodeIndex;
}
