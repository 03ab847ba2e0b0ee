/** The ratchet trees of groups: nodes are stored once, by their hashes, and live as long as something names their root. */
import { groupOf } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, quotaReached } from '../errors.ts';
import { personQuotas } from '../personQuotas.ts';
import { lockConversation, takesPart } from '../repositories/conversations.ts';
import { otherGroupInfoBytes } from '../repositories/quotas.ts';
import * as rows from '../repositories/trees.ts';
import { noSuchConversation } from './permissions.ts';
import { missingTree, noTree, parseTreeNodes, placeNode, ratchetTree } from './treeNodes.ts';

/** Nodes that nothing names are kept for so many milliseconds: who has put them may be about to commit. */
export const unnamedFor = 10 * 60 * 1000;

/** Bytes of a group's nodes beyond which they are looked for whenever somebody puts more, and beyond which none are taken. */
const roomy = 16 * 1024 * 1024;
const full = 32 * 1024 * 1024;

/**
 * Stores nodes of a group's tree whose children are there, or come before them.
 * @throws ApiError not-found, invalid-request, missing-tree, quota
 */
export async function putTreeNodes(
  db: Db,
  { userId }: DeviceSession,
  conversationId: string,
  body: Uint8Array,
  now: number,
): Promise<void> {
  const parsed = parseTreeNodes(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  if (parsed === null) throw noTree();
  await db.transaction().execute(async (tx) => {
    await requireMember(tx, conversationId, userId);
    // Against who commits and forgets what nothing names, so that a child that is there stays.
    await lockConversation(tx, conversationId);
    const bytes = await rows.touchTree(tx, conversationId, now);
    const hashes = new Set(parsed.flatMap(({ children, hash }) => [hash, ...(children ?? [])]));
    const known = await rows.placesOf(tx, conversationId, [...hashes]);
    const places = new Map(known);
    const nodes = new Map<string, rows.TreeNode>();
    for (const item of parsed) {
      const node = placeNode(item, places);
      places.set(node.hash, node);
      nodes.set(node.hash, node);
    }
    const added = [...nodes.values()].filter(({ hash }) => !known.has(hash));
    const size = added.reduce((sum, { content }) => sum + content.length, 0);
    if (size > 0) await requireRoom(tx, conversationId, bytes + size, now);
    await rows.putNodes(tx, conversationId, [...nodes.values()], now);
    await rows.addTreeBytes(tx, conversationId, size);
  });
}

/** @throws ApiError not-found */
async function requireMember(db: Db, conversationId: string, userId: string): Promise<void> {
  const isGroup = groupOf(conversationId) !== null;
  if (!isGroup || !(await takesPart(db, conversationId, userId))) throw noSuchConversation();
}

/** @throws ApiError quota */
async function requireRoom(tx: Db, conversationId: string, wanted: number, now: number): Promise<void> {
  const freed = wanted > roomy ? await forgetUnnamed(tx, conversationId, now) : 0;
  const others = await otherGroupInfoBytes(tx, conversationId);
  if (wanted - freed > full || wanted - freed + others > personQuotas.groupInfoBytesPerUser) {
    throw quotaReached(
      'group-infos',
      'The groups of this group\u2019s creator are too large altogether. There is room again when one of them is deleted.',
    );
  }
}

/**
 * Returns the tree below a root as a ratchet_tree extension has it.
 * @throws ApiError not-found, also for a tree of which something is missing
 */
export async function treeBelow(
  db: Db,
  userId: string,
  conversationId: string,
  treeHash: string,
): Promise<Buffer> {
  await requireMember(db, conversationId, userId);
  const tree = ratchetTree(inHex(treeHash), await rows.nodesOf(db, conversationId));
  if (tree === null) throw new ApiError('not-found', 'There is no such tree.');
  return tree;
}

/**
 * Notes which tree a commit's GroupInfo names, in the transaction that has taken its position.
 * @param treeHash null where the tree is in the GroupInfo
 * @throws ApiError missing-tree for one that is not stored
 */
export async function nameTree(
  tx: Db,
  conversationId: string,
  treeHash: string | null,
  now: number,
): Promise<void> {
  const hash = treeHash === null ? null : inHex(treeHash);
  // A stored node has all that is below it stored, too.
  if (hash !== null && !(await isRoot(tx, conversationId, hash))) throw missingTree();
  await rows.nameTree(tx, conversationId, hash, now);
}

async function isRoot(db: Db, conversationId: string, hash: string): Promise<boolean> {
  const places = await rows.placesOf(db, conversationId, [hash]);
  return places.get(hash)?.firstLeaf === 0;
}

/** Ids of conversations that may have nodes to forget. */
export function treesToTidy(db: Db, now: number): Promise<string[]> {
  return rows.changedUntil(db, now - unnamedFor);
}

/** Deletes the nodes of a conversation that nothing names any more. */
export async function tidyTree(db: Db, conversationId: string, now: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockConversation(tx, conversationId);
    await forgetUnnamed(tx, conversationId, now);
  });
}

/**
 * Deletes the nodes below no root that the GroupInfo or a Welcome names, but for the newest and what is below them.
 * @param tx that has locked the conversation
 * @returns bytes
 */
async function forgetUnnamed(tx: Db, conversationId: string, now: number): Promise<number> {
  const skeleton = await rows.skeletonOf(tx, conversationId);
  const [current = null, ...ofWelcomes] = await rows.rootsOf(tx, conversationId);
  const fresh = [...skeleton].filter(([, { storedAt }]) => storedAt > now - unnamedFor).map(([hash]) => hash);
  const kept = new Set<string>();
  const waiting = [current, ...ofWelcomes, ...fresh];
  while (waiting.length > 0) {
    const hash = waiting.pop() ?? null;
    if (hash === null || kept.has(hash)) continue;
    kept.add(hash);
    waiting.push(...(skeleton.get(hash)?.children ?? []));
  }
  const gone = [...skeleton.keys()].filter((hash) => !kept.has(hash));
  const others = [...ofWelcomes, ...fresh].some((hash) => hash !== current);
  if (!others) await rows.settleTree(tx, conversationId);
  return rows.deleteNodes(tx, conversationId, gone);
}

export const inHex = (base64Url: string) => Buffer.from(base64Url, 'base64url').toString('hex');
export const fromHex = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
