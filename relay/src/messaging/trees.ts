/** The ratchet trees of groups: nodes are stored once, by their hashes, and live as long as something names their root. */
import { groupOf } from '../../contract/index.ts';
import type { DeviceSession } from '../auth/session.ts';
import type { Db } from '../db/tables.ts';
import { ApiError, quotaReached } from '../errors.ts';
import { personQuotas } from '../personQuotas.ts';
import { countDevices, lockConversation, takesPart } from '../repositories/conversations.ts';
import { otherGroupInfoBytes } from '../repositories/quotas.ts';
import * as rows from '../repositories/trees.ts';
import { noSuchConversation } from './permissions.ts';
import { missingTree, noTree, parseTreeNodes, placeNode, ratchetTree } from './treeNodes.ts';

/** Nodes that nothing names are kept for so many milliseconds: who has put them may be about to commit. */
export const unnamedFor = 10 * 60 * 1000;

/** Bytes of a group's nodes beyond which they are looked for whenever somebody puts more, and beyond which none are taken. */
const roomy = 16 * 1024 * 1024;
export const fullTree = 32 * 1024 * 1024;

/** The largest tree that is given to anybody; no client takes a larger one. */
const treeMax = 16 * 1024 * 1024;

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
    const size = parsed.reduce((sum, node) => sum + rows.sizeOf(node), 0);
    // First, so that none of their children is forgotten.
    await makeRoom(tx, conversationId, { bytes, size }, now);
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
    await rows.putNodes(tx, conversationId, [...nodes.values()], now);
    await rows.addTreeBytes(
      tx,
      conversationId,
      added.reduce((sum, node) => sum + rows.sizeOf(node), 0),
    );
  });
}

/** @throws ApiError not-found */
async function requireMember(db: Db, conversationId: string, userId: string): Promise<void> {
  const isGroup = groupOf(conversationId) !== null;
  if (!isGroup || !(await takesPart(db, conversationId, userId))) throw noSuchConversation();
}

/**
 * Makes room for nodes by forgetting others, as few as it takes. Any member can fill a group, by what nobody names or by a
 * tree that is none; so all of it gives way to who comes next, and nobody is kept from committing.
 * @throws ApiError quota
 */
async function makeRoom(
  tx: Db,
  conversationId: string,
  { bytes, size }: { readonly bytes: number; readonly size: number },
  now: number,
): Promise<void> {
  const others = await otherGroupInfoBytes(tx, conversationId);
  const left = personQuotas.groupInfoBytesPerUser - others;
  const room = Math.min(fullTree, Math.max(left, await roomOfDevices(tx, conversationId)));
  let stored = bytes;
  if (stored + size > Math.min(roomy, room)) stored -= await forgetUnnamed(tx, conversationId, now);
  if (stored + size > room) stored -= await forgetOldest(tx, conversationId, stored + size - room, room / 2);
  if (stored + size > room) throw groupInfosFull();
}

/**
 * Bytes that a group may take whatever its creator's others take, which members of those could make too large: many times
 * what the leaves of its people's devices are.
 */
export async function roomOfDevices(db: Db, conversationId: string): Promise<number> {
  return 64 * 1024 + 16 * 1024 * (await countDevices(db, conversationId));
}

export const groupInfosFull = () =>
  quotaReached(
    'group-infos',
    'The groups of this group\u2019s creator are too large altogether. There is room again when one of them is deleted.',
  );

/**
 * Returns the tree below a root as a ratchet_tree extension has it.
 * @throws ApiError not-found, also for a tree of which something is missing, or that is larger than any client's
 */
export async function treeBelow(
  db: Db,
  userId: string,
  conversationId: string,
  treeHash: string,
): Promise<Buffer> {
  await requireMember(db, conversationId, userId);
  const root = inHex(treeHash);
  const nodes = await rows.nodesBelow(db, conversationId, root, treeMax);
  const tree = nodes === null ? null : ratchetTree(root, nodes);
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
  const kept = below([current, ...ofWelcomes, ...fresh], skeleton);
  const gone = [...skeleton.keys()].filter((hash) => !kept.has(hash));
  const others = [...ofWelcomes, ...fresh].some((hash) => hash !== current);
  if (!others) await rows.settleTree(tx, conversationId);
  return rows.deleteNodes(tx, conversationId, gone);
}

/**
 * Deletes nodes that were brought longest ago, and what stands above them, but not the tree that the GroupInfo names: unless
 * that leaves no room for another one, and goes first then. So it is never what somebody brings who is about to commit.
 * @param wanted bytes
 * @param most bytes of the tree that the GroupInfo names
 * @returns bytes
 */
async function forgetOldest(tx: Db, conversationId: string, wanted: number, most: number): Promise<number> {
  const skeleton = await rows.skeletonOf(tx, conversationId);
  const [root = null] = await rows.rootsOf(tx, conversationId);
  const current = below([root], skeleton);
  const size = [...current].reduce((sum, hash) => sum + (skeleton.get(hash)?.size ?? 0), 0);
  const isKept = size <= most;
  const others = [...skeleton].filter(([hash]) => !current.has(hash));
  const oldest = others.toSorted(([, one], [, other]) => one.storedAt - other.storedAt);
  const gone = new Set(isKept ? [] : current);
  let freed = isKept ? 0 : size;
  for (const [hash, node] of oldest) {
    if (freed >= wanted) break;
    gone.add(hash);
    freed += node.size;
  }
  for (const [hash, { children }] of others.toSorted(([, one], [, other]) => one.level - other.level)) {
    if (children?.some((child) => gone.has(child)) === true) gone.add(hash);
  }
  return rows.deleteNodes(tx, conversationId, [...gone]);
}

/** Finds the nodes below these, and these. */
function below(tops: readonly (string | null)[], skeleton: rows.Skeleton): Set<string> {
  const found = new Set<string>();
  const waiting = [...tops];
  while (waiting.length > 0) {
    const hash = waiting.pop() ?? null;
    const node = hash === null ? undefined : skeleton.get(hash);
    if (hash === null || node === undefined || found.has(hash)) continue;
    found.add(hash);
    waiting.push(...(node.children ?? []));
  }
  return found;
}

export const inHex = (base64Url: string) => Buffer.from(base64Url, 'base64url').toString('hex');
export const fromHex = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
