/** Ratchet trees apart from GroupInfos and Welcomes (PROTOCOL section 4). */
import { concat, encodeOpaque, type Group, ratchetTreeNodes, type TreePlace } from '@sinetti/crypto-core';
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
  for (const node of ratchetTreeNodes(group, known).map(encodeOpaque)) {
    if (size + node.length > limits.treeNodes) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(node);
    size += node.length;
  }
  return parts.map((nodes) => concat(...nodes));
}
