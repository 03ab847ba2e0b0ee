/** The ratchet trees of large groups, on their way between the worker, which knows them as text, and the relay. */
import type { CommitSubmission } from '../../crypto/client.ts';
import { bytesOf, textOf } from '../../net/base64url.ts';
import { isApiError } from '../../net/errors.ts';
import type { Deps } from '../core/deps.ts';

/** The most that the worker takes for a tree. */
const treeMax = 16 * 2 ** 20;

/**
 * Brings the nodes that a commit has changed; all of its tree where the relay lacks some of the others: it has lost them, or the
 * tree was inside until now.
 * @param isWhole the relay is known to lack some
 */
async function bringTree(
  { api, crypto }: Pick<Deps, 'api' | 'crypto'>,
  { conversationId, tree }: Pick<CommitSubmission, 'conversationId' | 'tree'>,
  isWhole: boolean,
): Promise<void> {
  if (tree === null) return;
  const parts = isWhole ? await crypto.pendingTree(conversationId) : tree.parts;
  try {
    for (const part of parts) await api.putTreeNodes(conversationId, await bytesOf(part));
  } catch (error) {
    if (isWhole || !isApiError(error, 'missing-tree')) throw error;
    await bringTree({ api, crypto }, { conversationId, tree }, true);
  }
}

/** Submits a commit after its nodes, and once more after the whole tree where the relay has lost some meanwhile. */
export async function submitWithTree<T>(
  deps: Pick<Deps, 'api' | 'crypto'>,
  submission: CommitSubmission,
  submit: () => Promise<T>,
): Promise<T> {
  await bringTree(deps, submission, false);
  try {
    return await submit();
  } catch (error) {
    if (!isApiError(error, 'missing-tree')) throw error;
    await bringTree(deps, submission, true);
    return submit();
  }
}

/**
 * Fetches the tree that a GroupInfo or a Welcome names, as base64url; null where the relay has not got it, or says something that
 * is larger than any, of which the worker says more.
 */
export async function fetchTree(
  { api }: Pick<Deps, 'api'>,
  conversationId: string,
  treeHash: string,
): Promise<string | null> {
  try {
    const tree = await api.getTree(conversationId, treeHash);
    return tree.length > treeMax ? null : await textOf(tree);
  } catch (error) {
    if (isApiError(error, 'not-found')) return null;
    throw error;
  }
}
