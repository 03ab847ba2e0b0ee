import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, toHex } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import { writeGroupContext } from '../../src/structs/groupContext.ts';
import { type LeafIndex, type NodeIndex, toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import { leafNodeTBS } from '../../src/structs/leafNode.ts';
import { readUpdatePath, type UpdatePath } from '../../src/structs/updatePath.ts';
import { deriveSecret, signWithLabel } from '../../src/suite/labels.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { nodeOfLeaf } from '../../src/tree/math.ts';
import type { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { rootHash } from '../../src/tree/treeHash.ts';
import {
  createPath,
  decryptPath,
  encryptPath,
  followPath,
  mergePath,
  type PrivateKeys,
} from '../../src/tree/treekem.ts';
import { testEnv } from '../testEnv.ts';
import { fromHex, mlsVectors, treeOf } from './vectors.ts';

interface Vector {
  cipher_suite: number;
  group_id: string;
  epoch: number;
  confirmed_transcript_hash: string;
  ratchet_tree: string;
  leaves_private: {
    index: number;
    encryption_priv: string;
    signature_priv: string;
    path_secrets: { node: number; path_secret: string }[];
  }[];
  update_paths: {
    sender: number;
    update_path: string;
    path_secrets: (string | null)[];
    commit_secret: string;
    tree_hash_after: string;
  }[];
}

const NOBODY: ReadonlySet<LeafIndex> = new Set();

beforeAll(ready);

const vectors = mlsVectors<Vector>('treekem').map((vector, index) => ({ index, vector }));

describe.each(vectors)('treekem $index', ({ vector }) => {
  const suite = getSuite(vector.cipher_suite);
  const groupId = fromHex(vector.group_id);
  const tree = treeOf(vector.ratchet_tree);

  function contextOf(changed: RatchetTree): Uint8Array {
    return encode(
      {
        cipherSuite: suite.id,
        groupId,
        epoch: BigInt(vector.epoch),
        treeHash: rootHash(suite, changed),
        confirmedTranscriptHash: fromHex(vector.confirmed_transcript_hash),
        extensions: [],
      },
      writeGroupContext,
    );
  }

  /** Lets every other member follow the path; returns what each got, by leaf index. */
  function receive(sender: LeafIndex, path: UpdatePath, members: ReadonlyMap<LeafIndex, PrivateKeys>) {
    const merged = tree.clone();
    const steps = mergePath(suite, merged, sender, path, NOBODY);
    const context = contextOf(merged);
    const received = [...members]
      .filter(([leaf]) => leaf !== sender)
      .map(([leaf, keys]) => ({
        leaf,
        ...decryptPath(suite, merged, leaf, keys, path, steps, context, NOBODY),
      }));
    return { merged, received };
  }

  function privateStates(): Map<LeafIndex, PrivateKeys> {
    return new Map(
      vector.leaves_private.map((leaf) => {
        const index = toLeafIndex(leaf.index);
        const keys = new Map<NodeIndex, Uint8Array>([[nodeOfLeaf(index), fromHex(leaf.encryption_priv)]]);
        for (const { node, path_secret } of leaf.path_secrets) {
          const nodeSecret = deriveSecret(suite, fromHex(path_secret), 'node');
          keys.set(toNodeIndex(node), suite.kem.deriveKeyPair(nodeSecret).privateKey);
        }
        return [index, keys];
      }),
    );
  }

  it('has private keys that fit the public keys of the tree', () => {
    for (const keys of privateStates().values()) {
      for (const [node, key] of keys) expect(suite.kem.publicKey(key)).toEqual(tree.encryptionKey(node));
    }
  });

  it.each(vector.update_paths)(
    'gives all members the secrets of the published path of leaf $sender',
    (update) => {
      const sender = toLeafIndex(update.sender);
      const path = decode(fromHex(update.update_path), readUpdatePath);
      const { merged, received } = receive(sender, path, privateStates());
      expect(toHex(rootHash(suite, merged))).toBe(update.tree_hash_after);
      for (const { leaf, pathSecret, commitSecret } of received) {
        expect(toHex(pathSecret)).toBe(update.path_secrets[leaf]);
        expect(toHex(commitSecret)).toBe(update.commit_secret);
      }
    },
  );

  it.each(vector.update_paths)(
    'gives all members the commit secret of a new path of leaf $sender',
    (update) => {
      const sender = toLeafIndex(update.sender);
      const old = tree.leaf(sender);
      const signer = vector.leaves_private.find((leaf) => leaf.index === update.sender);
      if (old === null || signer === undefined) throw new Error('the sender is not in the vector');
      const env = testEnv(`treekem ${update.sender}`);
      const changed = tree.clone();
      const made = createPath(
        suite,
        changed,
        sender,
        (encryptionKey, parentHash) => {
          const content = { ...old, encryptionKey, source: { type: 'commit', parentHash } } as const;
          const tbs = leafNodeTBS(content, { groupId, leafIndex: sender });
          const signature = signWithLabel(suite, fromHex(signer.signature_priv), 'LeafNodeTBS', tbs);
          return { ...content, signature };
        },
        env,
      );
      const path = encryptPath(suite, changed, made, contextOf(changed), NOBODY, env);
      const { merged, received } = receive(sender, path, privateStates());
      expect(rootHash(suite, merged)).toEqual(rootHash(suite, changed));
      for (const { commitSecret } of received) expect(commitSecret).toEqual(made.commitSecret);
    },
  );

  it('PATH-01, PATH-02, PATH-03, PATH-04: refuses a path that was tampered with', () => {
    const [update] = vector.update_paths;
    if (update === undefined) throw new Error('no path');
    const sender = toLeafIndex(update.sender);
    const path = decode(fromHex(update.update_path), readUpdatePath);
    const [first, ...rest] = path.nodes;
    if (first === undefined) throw new Error('an empty path');
    const members = privateStates();
    const withFirst = (changes: Partial<typeof first>): UpdatePath => ({
      ...path,
      nodes: [{ ...first, ...changes }, ...rest],
    });
    expect(() => receive(sender, { ...path, nodes: rest }, members)).toThrow('PATH-01');
    expect(() =>
      receive(
        sender,
        withFirst({ encryptedPathSecret: [...first.encryptedPathSecret, ...first.encryptedPathSecret] }),
        members,
      ),
    ).toThrow('PATH-02');
    const badLeaf = { ...path.leafNode, source: { type: 'commit', parentHash: EMPTY } } as const;
    expect(() => receive(sender, { ...path, leafNode: badLeaf }, members)).toThrow('PATH-03');

    const { merged } = receive(sender, path, members);
    const steps = merged.filteredDirectPath(sender);
    expect(() => followPath(suite, merged, steps, new Uint8Array(suite.kdf.Nh))).toThrow('PATH-04');
  });
});
