/** Trees of which all is right but the last thing that is looked at: refusing one takes as long as joining its twin. */
import { Writer } from '../../src/codec/writer.ts';
import type { Env } from '../../src/env.ts';
import { treeOfGroupInfo, verifyGroupInfo } from '../../src/group/groupInfo.ts';
import { verifyRatchetTree } from '../../src/group/verifyRatchetTree.ts';
import type { CipherSuiteId, MemberCheck } from '../../src/index.ts';
import { type NodeIndex, toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNodeSource } from '../../src/structs/leafNode.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { isLeaf, leafOfNode, leavesBelow, leftOf, nodeCount, rightOf, rootOf } from '../../src/tree/math.ts';
import { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { originalTreeHash, rootHash } from '../../src/tree/treeHash.ts';
import { anyone } from '../scenario/world.ts';
import { flip } from '../tamper/forge.ts';
import { encodeTree, numbered, Stranger } from './strangers.ts';

export interface DearTree {
  readonly name: string;
  /** MLSMessage(GroupInfo) of a group that can be joined. */
  readonly honest: Uint8Array;
  /** The same with a leaf at the end that isn't signed. */
  readonly hostile: Uint8Array;
  /** Verifies one of them, as joining does. */
  readonly receive: (groupInfo: Uint8Array, memberCheck?: MemberCheck) => unknown;
  /** Does nothing but what cannot be spared: a signature for each leaf. */
  readonly primitives: () => unknown;
}

/**
 * Fills a tree with parent nodes that each list every second leaf below as unmerged, so that each parent hash covers a
 * hash of its own of the whole sibling (RFC 9420 section 7.9).
 */
function fillWithParents(stranger: Stranger, tree: RatchetTree, env: Env): void {
  const { suite } = stranger;
  const fill = (node: NodeIndex, carried: Uint8Array): void => {
    if (isLeaf(node)) {
      const leaf = leafOfNode(node);
      const lifetime = { notBefore: 0n, notAfter: 1n };
      const source: LeafNodeSource =
        leaf % 2 === 0 ? { type: 'commit', parentHash: carried } : { type: 'key-package', lifetime };
      tree.setLeaf(leaf, stranger.signedLeaf(leaf, source, env.random(32)));
      return;
    }
    const { first, last } = leavesBelow(node);
    const unmergedLeaves = [];
    for (let leaf = first + 1; leaf <= last; leaf += 2) unmergedLeaves.push(toLeafIndex(leaf));
    const encryptionKey = numbered(suite.kem.Npk, 0x10_0000 + node);
    fill(rightOf(node), new Uint8Array(32));
    const w = new Writer();
    w.opaque(encryptionKey);
    w.opaque(carried);
    w.opaque(originalTreeHash(suite, tree, rightOf(node), unmergedLeaves));
    fill(leftOf(node), suite.hash(w.finish()));
    tree.setParent(node, { encryptionKey, parentHash: carried, unmergedLeaves });
  };
  fill(tree.root, new Uint8Array(0));
}

/** @param leaves a power of two */
export function dearTrees(suiteId: CipherSuiteId, leaves: number, env: Env): DearTree[] {
  const stranger = new Stranger(suiteId, env);
  const signerKey = env.random(32);
  const commitSource = { type: 'commit', parentHash: new Uint8Array(0) } as const;
  const signer = stranger.signedLeaf(toLeafIndex(0), commitSource, signerKey);
  const receive = (bytes: Uint8Array, memberCheck: MemberCheck = anyone): unknown => {
    const message = decodeMlsMessage(bytes);
    if (message.wireFormat !== 'group-info') throw new Error('no group info');
    const tree = treeOfGroupInfo(stranger.suite, message.groupInfo, undefined);
    const info = verifyGroupInfo(stranger.suite, message.groupInfo, tree);
    return verifyRatchetTree(stranger.suite, tree, info, { memberCheck });
  };
  const dear = (name: string, tree: RatchetTree): DearTree => {
    const infoOf = (value: RatchetTree): Uint8Array =>
      stranger.groupInfo(encodeTree(value.toNodes()), 0, {
        treeHash: rootHash(stranger.suite, value),
        key: signerKey,
      });
    const last = toLeafIndex(leaves - 1);
    const leaf = tree.leaf(last);
    if (leaf === null) throw new Error('a blank leaf');
    const hostile = tree.clone();
    hostile.setLeaf(last, { ...leaf, signature: flip(leaf.signature) });
    const message = new Uint8Array(256);
    const { publicKey } = stranger.suite.signatureKeyPair(signerKey);
    const signature = stranger.suite.sign(signerKey, message);
    return {
      name: `${name}, suite ${suiteId}`,
      honest: infoOf(tree),
      hostile: infoOf(hostile),
      receive,
      primitives() {
        for (let at = 0; at < leaves; at += 1) stranger.suite.verify(publicKey, message, signature);
      },
    };
  };

  const leavesOnly = blankTree(leaves);
  for (let at = 1; at < leaves; at += 1) {
    const leaf = toLeafIndex(at);
    leavesOnly.setLeaf(leaf, stranger.signedLeaf(leaf, commitSource, env.random(32)));
  }
  leavesOnly.setLeaf(toLeafIndex(0), signer);
  const withParents = blankTree(leaves);
  fillWithParents(stranger, withParents, env);
  const first = withParents.leaf(toLeafIndex(0));
  if (first === null) throw new Error('a blank leaf');
  withParents.setLeaf(toLeafIndex(0), stranger.signedLeaf(toLeafIndex(0), first.source, signerKey));
  return [
    dear(`${leaves} leaves, the last unsigned`, leavesOnly),
    dear(`${leaves} leaves, every second unmerged everywhere, the last unsigned`, withParents),
  ];

  function blankTree(count: number): RatchetTree {
    const filler: (null | { readonly type: 'leaf'; readonly leaf: typeof signer })[] = Array.from(
      { length: nodeCount(count) },
      () => null,
    );
    filler[toNodeIndex(2 * count - 2)] = { type: 'leaf', leaf: signer };
    const tree = RatchetTree.fromOwnRecord(filler);
    if (tree.root !== rootOf(count)) throw new Error('not a power of two');
    return tree;
  }
}
