import { bodyOf, putNodes, testTree } from '../trees.ts';
import { ofMembers, type Row, signedIn } from './rows.ts';
import { groupConversation, must } from './world.ts';

/** The rows of the calls for ratchet trees. */
export const treeRows = {
  putTreeNodes: [
    signedIn(ofMembers, async (world) => ({
      id: await groupConversation(world),
      body: bodyOf(testTree(4).nodes),
    })),
  ],
  getTree: [
    signedIn(ofMembers, async (world) => {
      const id = await groupConversation(world);
      const { nodes, treeHash } = testTree(4);
      await must(putNodes(world.creator, id, nodes));
      return { id, treeHash };
    }),
  ],
} satisfies Record<string, readonly Row[]>;
