/** Trees and commits that are right but for the last thing that is looked at: refusing one takes as long as accepting its twin. */
import { Writer } from '../../src/codec/writer.ts';
import type { Env } from '../../src/env.ts';
import { treeOfGroupInfo, verifyGroupInfo } from '../../src/group/groupInfo.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { verifyRatchetTree } from '../../src/group/verifyRatchetTree.ts';
import {
  type CipherSuiteId,
  createCommit,
  decodeKeyPackage,
  type MemberCheck,
  processCommit,
} from '../../src/index.ts';
import { type NodeIndex, toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNodeSource } from '../../src/structs/leafNode.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { isLeaf, leafOfNode, leavesBelow, leftOf, nodeCount, rightOf, rootOf } from '../../src/tree/math.ts';
import { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { originalTreeHash, rootHash } from '../../src/tree/treeHash.ts';
import { anyone, anything, Conversation, device, keyPackageOf } from '../scenario/world.ts';
import { flip, privateMessageOf } from '../tamper/forge.ts';
import { encodeTree, numbered, Stranger } from './strangers.ts';

export interface Dear {
  readonly name: string;
  /** MLSMessage(GroupInfo) of a group that can be joined, or a member's commit. */
  readonly honest: Uint8Array;
  /** The same with a leaf, or a KeyPackage, at the end that isn't signed. */
  readonly hostile: Uint8Array;
  /** Verifies one of them, as joining does, or processing. */
  readonly receive: (bytes: Uint8Array, memberCheck?: MemberCheck) => unknown;
  /** Does nothing but what cannot be spared: a signature for each leaf, and one for each KeyPackage. */
  readonly primitives: () => unknown;
}

/** Verifies so many signatures, of a message about as long as a leaf. */
function signatures(stranger: Stranger, count: number): () => unknown {
  const key = numbered(32, 0x20_0000);
  const message = new Uint8Array(256);
  const { publicKey } = stranger.suite.signatureKeyPair(key);
  const signature = stranger.suite.sign(key, message);
  return () => {
    for (let at = 0; at < count; at += 1) stranger.suite.verify(publicKey, message, signature);
  };
}

/** Makes a member's commit that adds so many clients, of which the last one's KeyPackage isn't signed. */
export function dearCommit(suiteId: CipherSuiteId, clients: number, env: Env): Dear {
  const conversation = new Conversation(suiteId, env);
  conversation.add(conversation.at(0), [device('mallory', env)]);
  const [alice, mallory] = [conversation.at(0).group, conversation.at(1)];
  const adds = Array.from(
    { length: clients },
    (_, at) => keyPackageOf(device(`client ${at}`, env), suiteId, env).bytes,
  );
  const honest = createCommit(mallory.group, { adds, memberCheck: anyone, policy: anything }, env).commit;
  const proposals = adds.map((bytes, at) => {
    const keyPackage = decodeKeyPackage(bytes);
    const isLast = at === clients - 1;
    const signature = isLast ? flip(keyPackage.signature) : keyPackage.signature;
    return byValue({ type: 'add', keyPackage: { ...keyPackage, signature } });
  });
  const content = { type: 'commit', commit: { proposals, path: null } } as const;
  return {
    name: `a member's commit that adds ${clients}, the last unsigned, suite ${suiteId}`,
    honest,
    hostile: privateMessageOf(mallory.group, content, new Uint8Array(32), env).bytes,
    receive: (bytes, memberCheck = anyone) => processCommit(alice, bytes, { memberCheck, policy: anything }),
    primitives: signatures(new Stranger(suiteId, env), 2 * clients),
  };
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
export function dearTrees(suiteId: CipherSuiteId, leaves: number, env: Env): Dear[] {
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
  const dear = (name: string, tree: RatchetTree): Dear => {
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
    return {
      name: `${name}, suite ${suiteId}`,
      honest: infoOf(tree),
      hostile: infoOf(hostile),
      receive,
      primitives: signatures(stranger, leaves),
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
