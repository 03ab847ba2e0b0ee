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

/** Makes room for the tree of a conversation that has none yet. @returns bytes of its nodes */
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

/** All nodes of a conversation, by their hashes. */
export async function nodesOf(
  db: Db,
  conversationId: string,
): Promise<Map<string, Pick<TreeNode, 'children' | 'content'>>> {
  const rows = await db
    .selectFrom('tree_nodes')
    .select(['hash', 'children', 'content'])
    .where('conversation_id', '=', conversationId)
    .execute();
  return new Map(
    rows.map(({ children, content, hash }) => [hash, { children: childrenIn(children), content }]),
  );
}

/** All nodes of a conversation without what is in them, with when they were brought. */
export async function skeletonOf(
  db: Db,
  conversationId: string,
): Promise<Map<string, { readonly children: readonly [string, string] | null; readonly storedAt: number }>> {
  const rows = await db
    .selectFrom('tree_nodes')
    .select(['hash', 'children', 'stored_at'])
    .where('conversation_id', '=', conversationId)
    .execute();
  return new Map(
    rows.map((row) => [row.hash, { children: childrenIn(row.children), storedAt: row.stored_at }]),
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
      .returning(sql<number>`length(content)`.as('size'))
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
