import { beforeAll, describe, expect, it } from 'vitest';
import { equalBytes, fromUtf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { verifyGroupInfo, welcomeGroupInfo } from '../../src/group/groupInfo.ts';
import { verifyRatchetTree } from '../../src/group/verifyRatchetTree.ts';
import { CryptoError, exportGroupInfo, type Group, joinExternal, ready } from '../../src/index.ts';
import { ExtensionTypeValue } from '../../src/structs/extension.ts';
import { writeExternalSender } from '../../src/structs/externalSender.ts';
import { toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNode } from '../../src/structs/leafNode.ts';
import type { ParentNode } from '../../src/structs/node.ts';
import { RatchetTree, type UnverifiedRatchetTree } from '../../src/tree/ratchetTree.ts';
import { rootHash } from '../../src/tree/treeHash.ts';
import { refusalOf } from '../codeOf.ts';
import { anyone, Conversation, device, groupOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { flip } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('trees');
const ofMany = (count: number): Conversation => groupOf(count, SUITE, env);

beforeAll(ready);

describe('a tree is refused', () => {
  function check(group: Group, tree: UnverifiedRatchetTree): () => void {
    const { suite } = group;
    const context = { ...group.context, treeHash: rootHash(suite, tree) };
    const info = verifyGroupInfo(suite, welcomeGroupInfo({ ...group, context }), tree);
    return () => verifyRatchetTree(suite, tree, info, { memberCheck: anyone });
  }

  function withParent(index: number, change: Partial<ParentNode>): () => void {
    const { group } = ofMany(8).at(0);
    const tree = group.tree.clone();
    check(group, tree)();
    const parent = tree.parent(toNodeIndex(index));
    if (parent === null) throw new Error('a blank node');
    tree.setParent(toNodeIndex(index), { ...parent, ...change });
    return check(group, RatchetTree.fromNodes(tree.toNodes()));
  }

  it('LEAF-01, LEAF-02, LEAF-08, LEAF-09 and LEAF-11: with a leaf that could not have been added', () => {
    // Without a path no parent hash covers the leaves.
    const conversation = new Conversation(SUITE, env);
    conversation.add(
      conversation.at(0),
      Array.from({ length: 7 }, (_, at) => device(`device ${at + 1}`, env)),
    );
    const { group } = conversation.at(0);
    const withLeaf = (change: Partial<LeafNode>): string => {
      const tree = group.tree.clone();
      const leaf = tree.leaf(toLeafIndex(3));
      if (leaf === null) throw new Error('no leaf');
      tree.setLeaf(toLeafIndex(3), { ...leaf, ...change });
      return refusalOf(check(group, RatchetTree.fromNodes(tree.toNodes())));
    };
    const other = group.tree.leaf(toLeafIndex(5));
    if (other === null) throw new Error('no leaf');
    const { capabilities, encryptionKey, signatureKey, signature } = other;
    expect(withLeaf({})).toBe('none');
    expect(withLeaf({ signature })).toContain('bad-signature: LEAF-01: leaf 3');
    expect(withLeaf({ capabilities: { ...capabilities, versions: [2] } })).toContain('invalid-leaf: LEAF-02');
    expect(withLeaf({ signatureKey })).toContain('invalid-leaf: LEAF-08: nodes 6 and 10');
    expect(withLeaf({ encryptionKey })).toContain('invalid-leaf: LEAF-09: nodes 6 and 10');
    expect(withLeaf({ encryptionKey: new Uint8Array(32) })).toContain(
      'invalid-leaf: LEAF-11: encryption key of leaf 3',
    );
  });

  it('TREE-01: of an impossible shape', () => {
    const nodes = ofMany(4).at(0).group.tree.toNodes();
    expect(refusalOf(() => RatchetTree.fromNodes([]))).toContain('invalid-tree: TREE-01');
    expect(refusalOf(() => RatchetTree.fromNodes([...nodes, null]))).toContain('invalid-tree: TREE-01');
    expect(refusalOf(() => RatchetTree.fromNodes(nodes.slice(1)))).toContain('invalid-tree: TREE-01');
    // A parent at the end would be outside the tree of so many leaves, and no hash would cover it.
    const [leaf = null, parent = null] = nodes;
    expect(refusalOf(() => RatchetTree.fromNodes([leaf, parent]))).toContain('invalid-tree: TREE-01');
    expect(refusalOf(() => RatchetTree.fromNodes([leaf, null, leaf, parent]))).toContain(
      'invalid-tree: TREE-01',
    );
    expect(refusalOf(() => RatchetTree.fromNodes([leaf, leaf, leaf]))).toContain('invalid-tree: TREE-01');
    expect(refusalOf(() => RatchetTree.fromNodes([leaf, null, null, null, leaf]))).toBe('none');
  });

  it('TREE-02: with a parent hash that does not hold', () =>
    expect(refusalOf(withParent(7, { parentHash: new Uint8Array(32) }))).toContain('invalid-tree: TREE-02'));

  it('TREE-03: with unmerged leaves out of order', () =>
    expect(refusalOf(withParent(7, { unmergedLeaves: [5, 4].map(toLeafIndex) }))).toContain(
      'invalid-tree: TREE-03',
    ));

  it('TREE-03: with an unmerged leaf that is listed twice', () =>
    expect(refusalOf(withParent(7, { unmergedLeaves: [4, 4].map(toLeafIndex) }))).toContain(
      'invalid-tree: TREE-03',
    ));

  it('CRED-02: for its signer alone, before the signature of any other leaf is verified', () => {
    const { group } = ofMany(8).at(2);
    const { suite } = group;
    const verify = (tree: RatchetTree, refused: string | null): string => {
      const context = { ...group.context, treeHash: rootHash(suite, tree) };
      const info = verifyGroupInfo(suite, welcomeGroupInfo({ ...group, tree, context }), tree);
      asked.length = 0;
      const received = RatchetTree.fromNodes(tree.toNodes());
      return refusalOf(() =>
        verifyRatchetTree(suite, received, info, {
          memberCheck({ credential }) {
            const name = credential.type === 'basic' ? fromUtf8(credential.identity) : '';
            asked.push(name);
            if (name === refused) throw new CryptoError('invalid-credential', 'no');
          },
        }),
      );
    };
    const asked: string[] = [];
    expect(verify(group.tree, null)).toBe('none');
    const others = [0, 1, 3, 4, 5, 6, 7].map((leaf) => `device ${leaf}`);
    expect(asked).toEqual(['device 2', ...others]);

    const broken = group.tree.clone();
    for (const { leafIndex, leaf } of group.tree.members()) {
      if (leafIndex !== 2) broken.setLeaf(leafIndex, { ...leaf, signature: flip(leaf.signature) });
    }
    expect(verify(broken, 'device 2')).toBe('invalid-credential: CRED-02: no');
    expect(asked).toEqual(['device 2']);
    const unsigned = group.tree.clone();
    const own = unsigned.leaf(toLeafIndex(2));
    if (own === null) throw new Error('no leaf');
    unsigned.setLeaf(toLeafIndex(2), { ...own, signature: flip(own.signature) });
    expect(verify(unsigned, null)).toContain('bad-signature: LEAF-01: leaf 2');
    expect(asked).toEqual([]);
  });

  it('CRED-03: with an external sender whom the application does not accept', () => {
    const { group } = ofMany(2).at(0);
    const sender = device('outsider', env);
    const { signatureKey, credential } = sender;
    const entry = { signatureKey: signatureKey.publicKey, credential };
    const data = encode([entry], (w, list) => w.vector(list, writeExternalSender));
    const extensions = [{ type: ExtensionTypeValue.externalSenders, data }];
    const info = exportGroupInfo({ ...group, context: { ...group.context, extensions } });
    const seen: string[] = [];
    const join = (refuse: boolean) => (): unknown =>
      joinExternal(
        info,
        {
          ...device('joiner', env),
          memberCheck: ({ credential: claimed, signatureKey: key }) => {
            seen.push(claimed.type === 'basic' ? fromUtf8(claimed.identity) : '');
            if (refuse && equalBytes(key, entry.signatureKey))
              throw new CryptoError('invalid-credential', 'no');
          },
        },
        env,
      );
    expect(refusalOf(join(false))).toBe('none');
    expect(seen).toEqual(['device 0', 'device 1', 'outsider']);
    expect(refusalOf(join(true))).toBe('invalid-credential: CRED-03: no');
  });

  it('TREE-04: with an unmerged leaf from elsewhere', () => {
    expect(refusalOf(withParent(3, { unmergedLeaves: [toLeafIndex(5)] }))).toContain('invalid-tree: TREE-04');
    expect(refusalOf(withParent(7, { unmergedLeaves: [toLeafIndex(0xfffffff0)] }))).toContain(
      'invalid-tree: TREE-04',
    );
  });

  it('TREE-05: with an unmerged leaf in the right half that a node between does not list', () => {
    const conversation = ofMany(8);
    conversation.update(conversation.at(5));
    const { group } = conversation.at(0);
    const tree = group.tree.clone();
    const root = tree.parent(toNodeIndex(7));
    if (root === null) throw new Error('a blank node');
    tree.setParent(toNodeIndex(7), { ...root, unmergedLeaves: [toLeafIndex(6)] });
    expect(refusalOf(check(group, RatchetTree.fromNodes(tree.toNodes())))).toContain(
      "invalid-tree: TREE-05: node 11 doesn't list unmerged leaf 6",
    );
  });

  it('TREE-05: with an unmerged leaf that a node between does not list', () =>
    expect(refusalOf(withParent(7, { unmergedLeaves: [toLeafIndex(2)] }))).toContain(
      'invalid-tree: TREE-05',
    ));

  it('TREE-06: by an external joiner too, when its root hash is not the one of the context', () => {
    const { group } = ofMany(4).at(0);
    const context = { ...group.context, treeHash: flip(group.context.treeHash) };
    const info = exportGroupInfo({ ...group, context });
    expect(refusalOf(() => joinExternal(info, { ...device('x', env), memberCheck: anyone }, env))).toContain(
      'invalid-tree: TREE-06',
    );
  });
});
