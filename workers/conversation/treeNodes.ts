/** Ratchet trees apart from GroupInfos and Welcomes (PROTOCOL section 4). */
import { type Group, ratchetTreeNodes, type TreePlace } from '@sinetti/crypto-core';
import { limits } from '../codec/limits.ts';

/** Returns where the tree goes of a group of so many devices. Direct conversations, and a person's own devices, are few. */
export function treePlaceFor({ isGroup }: { readonly isGroup: boolean }, devices: number): TreePlace {
  return isGroup && devices > limits.devicesWithTreeInside ? 'beside' : 'inside';
}

/**
 * Returns the nodes of a group's tree that another one of it doesn't have, or all, in parts that the relay takes by a call each:
 * every node as opaque<V>, children before parents.
 */
export function treeParts(group: Group, known?: Pick<Group, 'tree'>): Uint8Array[] {
  const parts: Uint8Array[][] = [];
  let size = limits.treeNodes;
  for (const node of ratchetTreeNodes(group, known)) {
    const header = lengthOf(node.length);
    const added = header.length + node.length;
    if (size + added > limits.treeNodes) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(header, node);
    size += added;
  }
  return parts.map(joined);
}

/** The length before a variable-size vector (RFC 9420 section 2.1.2). */
function lengthOf(length: number): Uint8Array {
  if (length < 0x40) return Uint8Array.of(length);
  if (length < 0x4000) return Uint8Array.of(0x40 | (length >> 8), length & 0xff);
  return Uint8Array.of(0x80 | (length >> 24), (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
