import { createHash, randomBytes } from 'node:crypto';
import { opaque } from '../src/opaque.ts';
import type { Person } from './helpers.ts';

/** A ratchet tree whose keys are as opaque as they are to the relay. */
export interface TestTree {
  /** TreeHashInputs, children before their parents. */
  readonly nodes: readonly Buffer[];
  /** As a ratchet_tree extension has it. */
  readonly extension: Buffer;
  /** base64url. */
  readonly treeHash: string;
}

export const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

export const leafInput = (index: number, leaf: Buffer | null): Buffer => {
  const header = Buffer.from([1, 0, 0, 0, 0]);
  header.writeUInt32BE(index, 1);
  return Buffer.concat([header, leaf === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), leaf])]);
};

export const parentInput = (parent: Buffer | null, left: Buffer, right: Buffer): Buffer =>
  Buffer.concat([
    Buffer.of(2),
    parent === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), parent]),
    ...[left, right].map(opaque),
  ]);

/**
 * @param leaves a power of two
 * @param leafAt null for a blank one; other bytes each time, unless it says otherwise
 */
export function testTree(
  leaves: number,
  leafAt: (index: number) => Buffer | null = () => randomBytes(40),
  parentAt: (index: number) => Buffer | null = () => randomBytes(30),
): TestTree {
  const nodes: Buffer[] = [];
  const items: Buffer[] = [];
  const build = (first: number, count: number): Buffer => {
    if (count === 1) {
      const leaf = leafAt(first);
      nodes.push(leafInput(first, leaf));
      items.push(leaf === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1, 1), leaf]));
      return hashOf(nodes.at(-1) ?? Buffer.of());
    }
    const left = build(first, count / 2);
    const parent = parentAt(2 * first + count - 1);
    items.push(parent === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1, 2), parent]));
    const right = build(first + count / 2, count / 2);
    nodes.push(parentInput(parent, left, right));
    return hashOf(nodes.at(-1) ?? Buffer.of());
  };
  const root = build(0, leaves);
  while (items.at(-1)?.length === 1) items.pop();
  return { nodes, extension: opaque(Buffer.concat(items)), treeHash: root.toString('base64url') };
}

/** The nodes as one call brings them. */
export const bodyOf = (nodes: readonly Buffer[]) => Buffer.concat(nodes.map(opaque));

export const putNodes = (person: Person, conversationId: string, nodes: readonly Buffer[]) =>
  person.call('PUT', `/conversations/${conversationId}/tree-nodes`, bodyOf(nodes));

export const getTree = (person: Person, conversationId: string, treeHash: string) =>
  person.call<Buffer>('GET', `/conversations/${conversationId}/trees/${treeHash}`);
