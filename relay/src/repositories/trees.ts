import { sql } from 'kysely';
import type { Db } from '../db/tables.ts';

/** One TreeHashInput. */
export interface TreeNode {
  /** SHA-256 of the content, in hexadecimal. */
  readonly hash: string;
  /** Height above the leaves. */
  readonly level: number;
  /** The first leaf below. */
  readonly firstLeaf: number;
  /** The hashes of the left and the right child; null for a leaf. */
  readonly children: readonly [string, string] | null;
  readonly content: Buffer;
}

/** The place of a subtree among the leaves. */
export type Place = Pick<TreeNode, 'level' | 'firstLeaf'>;

/** As many as one statement may name. */
const atOnce = 200;

/** Bytes that a node counts beside its content: its row and its index, which are most of a blank node. */
export const rowBytes = 256;

/** Returns the bytes that a node counts. */
export const sizeOf = ({ content }: Pick<TreeNode, 'content'>) => content.length + rowBytes;

const countedSize = sql<number>`length(content) + ${sql.lit(rowBytes)}`.as('size');

/** Begins to count the tree of a conversation that has none yet. @returns bytes of its nodes */
export async function touchTree(db: Db, conversationId: string, now: number): Promise<number> {
  const row = await db
    .insertInto('trees')
    .values({ conversation_id: conversationId, tree_hash: null, bytes: 0, changed_at: now })
    .onConflict((conflict) => conflict.column('conversation_id').doUpdateSet({ changed_at: now }))
    .returning('bytes')
    .executeTakeFirstOrThrow();
  return row.bytes;
}

/** Finds where those of these nodes are that are stored. */
export async function placesOf(
  db: Db,
  conversationId: string,
  hashes: readonly string[],
): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  for (const part of partsOf(hashes)) {
    const rows = await db
      .selectFrom('tree_nodes')
      .select(['hash', 'level', 'first_leaf'])
      .where('conversation_id', '=', conversationId)
      .where('hash', 'in', part)
      .execute();
    for (const row of rows) places.set(row.hash, { level: row.level, firstLeaf: row.first_leaf });
  }
  return places;
}

/** Stores nodes; those that are there count as brought now. */
export async function putNodes(
  db: Db,
  conversationId: string,
  nodes: readonly TreeNode[],
  now: number,
): Promise<void> {
  for (const part of partsOf(nodes)) {
    await db
      .insertInto('tree_nodes')
      .values(
        part.map(({ children, content, firstLeaf, hash, level }) => ({
          conversation_id: conversationId,
          hash,
          level,
          first_leaf: firstLeaf,
          children: children?.join('') ?? null,
          content,
          stored_at: now,
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['conversation_id', 'hash'])
          .doUpdateSet((update) => ({ stored_at: update.ref('excluded.stored_at') })),
      )
      .execute();
  }
}

export async function addTreeBytes(db: Db, conversationId: string, bytes: number): Promise<void> {
  await db
    .updateTable('trees')
    .set((update) => ({ bytes: update('bytes', '+', bytes) }))
    .where('conversation_id', '=', conversationId)
    .execute();
}

/** Says which tree the current GroupInfo names; null for one that has its own. */
export async function nameTree(
  db: Db,
  conversationId: string,
  treeHash: string | null,
  now: number,
): Promise<void> {
  await db
    .updateTable('trees')
    .set({ tree_hash: treeHash, changed_at: now })
    .where('conversation_id', '=', conversationId)
    .execute();
}

/** Ids of conversations that may have nodes which nothing names, since then or longer. */
export async function changedUntil(db: Db, until: number): Promise<string[]> {
  const rows = await db
    .selectFrom('trees')
    .select('conversation_id')
    .where('changed_at', '<=', until)
    .orderBy('conversation_id')
    .execute();
  return rows.map((row) => row.conversation_id);
}

/** Says that all nodes of a conversation are named by its GroupInfo. */
export async function settleTree(db: Db, conversationId: string): Promise<void> {
  await db
    .updateTable('trees')
    .set({ changed_at: null })
    .where('conversation_id', '=', conversationId)
    .execute();
}

/** The hashes of all trees that the GroupInfo or a Welcome that waits names; the GroupInfo's first, which may be none. */
export async function rootsOf(db: Db, conversationId: string): Promise<(string | null)[]> {
  const current = await db
    .selectFrom('trees')
    .select('tree_hash')
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst();
  const welcomes = await db
    .selectFrom('welcomes')
    .select('tree_hash')
    .distinct()
    .where('conversation_id', '=', conversationId)
    .where('tree_hash', 'is not', null)
    .execute();
  return [current?.tree_hash ?? null, ...welcomes.map((row) => row.tree_hash)];
}

/**
 * The nodes below a root with the root, by their hashes, as far as they are stored.
 * @param most bytes
 * @returns null where they are more
 */
export async function nodesBelow(
  db: Db,
  conversationId: string,
  root: string,
  most: number,
): Promise<Map<string, Pick<TreeNode, 'children' | 'content'>> | null> {
  const nodes = new Map<string, Pick<TreeNode, 'children' | 'content'>>();
  let bytes = 0;
  let level = [root];
  while (level.length > 0) {
    const children: string[] = [];
    for (const part of partsOf(level)) {
      for (const { children: text, content, hash } of await nodesAmong(db, conversationId, part)) {
        const node = { children: childrenIn(text), content };
        nodes.set(hash, node);
        bytes += sizeOf(node);
        children.push(...(node.children ?? []));
      }
      if (bytes > most) return null;
    }
    level = children;
  }
  return nodes;
}

function nodesAmong(db: Db, conversationId: string, hashes: readonly string[]) {
  return db
    .selectFrom('tree_nodes')
    .select(['hash', 'children', 'content'])
    .where('conversation_id', '=', conversationId)
    .where('hash', 'in', hashes)
    .execute();
}

/** Nodes without what is in them, by their hashes, with the bytes that they count and when they were brought. */
export type Skeleton = ReadonlyMap<
  string,
  Pick<TreeNode, 'children' | 'level'> & { readonly size: number; readonly storedAt: number }
>;

/** All nodes of a conversation. */
export async function skeletonOf(db: Db, conversationId: string): Promise<Skeleton> {
  const rows = await db
    .selectFrom('tree_nodes')
    .select(['hash', 'children', 'level', 'stored_at', countedSize])
    .where('conversation_id', '=', conversationId)
    .execute();
  return new Map(
    rows.map(({ children, hash, level, size, stored_at: storedAt }) => [
      hash,
      { children: childrenIn(children), level, size, storedAt },
    ]),
  );
}

/** Deletes nodes. @returns bytes */
export async function deleteNodes(
  db: Db,
  conversationId: string,
  hashes: readonly string[],
): Promise<number> {
  let bytes = 0;
  for (const part of partsOf(hashes)) {
    const gone = await db
      .deleteFrom('tree_nodes')
      .where('conversation_id', '=', conversationId)
      .where('hash', 'in', part)
      .returning(countedSize)
      .execute();
    bytes += gone.reduce((sum, { size }) => sum + size, 0);
  }
  await addTreeBytes(db, conversationId, -bytes);
  return bytes;
}

function childrenIn(text: string | null): readonly [string, string] | null {
  return text === null ? null : [text.slice(0, text.length / 2), text.slice(text.length / 2)];
}

function partsOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / atOnce);
  return Array.from({ length: count }, (_, part) => items.slice(part * atOnce, (part + 1) * atOnce));
}
