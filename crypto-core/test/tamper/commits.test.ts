import { beforeAll, describe, expect, it } from 'vitest';
import { encode } from '../../src/codec/writer.ts';
import {
  createCommit,
  exportGroupInfo,
  type Group,
  joinByWelcome,
  joinExternal,
  processCommit,
  ready,
} from '../../src/index.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { validateTree } from '../../src/group/validateTree.ts';
import { deriveWelcomeKey, deriveWelcomeSecret } from '../../src/schedule/keySchedule.ts';
import { findExtension, ExtensionTypeValue } from '../../src/structs/extension.ts';
import { type GroupInfo, groupInfoTBS, writeGroupInfo } from '../../src/structs/groupInfo.ts';
import { toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { ParentNode } from '../../src/structs/node.ts';
import type { UpdatePath, UpdatePathNode } from '../../src/structs/updatePath.ts';
import { type GroupSecrets, writeGroupSecrets } from '../../src/structs/welcome.ts';
import { encryptWithLabel, signWithLabel } from '../../src/suite/labels.ts';
import { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { rootHash } from '../../src/tree/treeHash.ts';
import { openGroupInfo, openGroupSecrets } from '../../src/group/welcome.ts';
import { EMPTY } from '../../src/bytes.ts';
import {
  anyone,
  anything,
  Conversation,
  device,
  keyPackageOf,
  refusal,
  refusedBy,
} from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { type CommitForgery, flip, forgeCommit } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('commits');
const hooks = { memberCheck: anyone, policy: anything };
const noPsk = new Uint8Array(32);

beforeAll(ready);

function ofMany(count: number): Conversation {
  const conversation = new Conversation(SUITE, env);
  const newcomers = Array.from({ length: count - 1 }, (_, index) => device(`device ${index + 1}`, env));
  conversation.add(conversation.at(0), newcomers);
  conversation.update(conversation.at(0));
  return conversation;
}

describe('a commit is refused', () => {
  /** Bob forges; Alice refuses, nothing of her state moves, and Bob's next good commit is accepted. */
  function refused(check: string, code: string, forgery: (bob: Group) => CommitForgery): void {
    const conversation = ofMany(4);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const commit = forgeCommit(bob.group, forgery(bob.group), env);
    const before = alice.group;
    refusedBy(check, code, () => processCommit(before, commit, hooks));
    expect(before.secretTree.takeChanges()).toEqual({ puts: [], deletes: [] });
    conversation.update(bob);
    conversation.expectAgreement();
  }

  const withFirstNode =
    (change: (node: UpdatePathNode) => UpdatePathNode) =>
    (path: UpdatePath): UpdatePath => ({
      ...path,
      nodes: path.nodes.map((node, at) => (at === 0 ? change(node) : node)),
    });

  it('COMMIT-01: without a path where one is needed', () => {
    refused('COMMIT-01', 'invalid-commit', () => ({ withPath: false }));
    const removal = { type: 'remove', removed: toLeafIndex(2) } as const;
    refused('COMMIT-01', 'invalid-commit', () => ({
      proposals: [byValue(removal)],
      applied: [removal],
      withPath: false,
    }));
  });

  it('COMMIT-02: whose path has a key that is in use', () =>
    refused('COMMIT-02', 'invalid-commit', ({ tree }) => ({
      path: withFirstNode((node) => ({
        ...node,
        encryptionKey: tree.encryptionKey(toNodeIndex(0)) ?? new Uint8Array(0),
      })),
    })));

  it('COMMIT-03: with a wrong confirmation tag', () =>
    refused('COMMIT-03', 'bad-confirmation-tag', () => ({ breakConfirmationTag: true })));

  it('PATH-01: whose path is too short', () =>
    refused('PATH-01', 'invalid-commit', () => ({
      path: (path) => ({ ...path, nodes: path.nodes.slice(1) }),
    })));

  it('PATH-02: whose path has a ciphertext too few', () =>
    refused('PATH-02', 'invalid-commit', () => ({
      path: withFirstNode((node) => ({ ...node, encryptedPathSecret: [] })),
    })));

  it('PATH-03: whose path has another public key than the leaf has signed', () =>
    refused('PATH-03', 'invalid-commit', () => ({
      path: withFirstNode((node) => ({ ...node, encryptionKey: flip(node.encryptionKey) })),
    })));

  it('LEAF-01 and LEAF-06: whose leaf is not signed, or not of a commit', () => {
    refused('LEAF-01', 'bad-signature', () => ({
      path: (path) => ({ ...path, leafNode: { ...path.leafNode, signature: flip(path.leafNode.signature) } }),
    }));
    refused('LEAF-06', 'invalid-leaf', () => ({
      path: (path) => ({ ...path, leafNode: { ...path.leafNode, source: { type: 'update' } } }),
    }));
  });

  it('whose path secret was encrypted for somebody else', () =>
    refused('decrypt-failed', 'decrypt-failed', () => ({
      path: (path) => ({
        ...path,
        nodes: path.nodes.map((node) => ({
          ...node,
          encryptedPathSecret: node.encryptedPathSecret.map((sealed) => ({
            ...sealed,
            ciphertext: flip(sealed.ciphertext),
          })),
        })),
      }),
    })));
});

describe('a welcome is refused', () => {
  interface Invitation {
    readonly join: (change: (info: GroupInfo) => GroupInfo, secrets?: Partial<GroupSecrets>) => Group;
    readonly inviter: Group;
  }

  /** Opens an honest welcome, lets it be changed, signs and seals it again. */
  function invitation(): Invitation {
    const conversation = ofMany(3);
    const newcomer = device('newcomer', env);
    const bundle = keyPackageOf(newcomer, SUITE, env);
    const { pending, welcome: bytes } = conversation.at(0).commit({ adds: [bundle.bytes] }, env);
    const { suite, signaturePrivateKey } = pending;
    const message = decodeMlsMessage(bytes ?? new Uint8Array(0));
    if (message.wireFormat !== 'welcome') throw new Error('no welcome');
    const honest = openGroupSecrets(suite, message.welcome, bundle.ref, bundle.initPrivateKey);
    const honestInfo = openGroupInfo(suite, message.welcome, honest.joinerSecret, noPsk);
    return {
      inviter: pending,
      join(change, secrets) {
        const content = change(honestInfo);
        const signature =
          content.signature === honestInfo.signature
            ? signWithLabel(suite, signaturePrivateKey, 'GroupInfoTBS', groupInfoTBS(content))
            : content.signature;
        const { key, nonce } = deriveWelcomeKey(
          suite,
          deriveWelcomeSecret(suite, honest.joinerSecret, noPsk),
        );
        const info = encode({ ...content, signature }, writeGroupInfo);
        const encryptedGroupInfo = suite.aead.seal(key, nonce, EMPTY, info);
        const groupSecrets = encode({ ...honest, ...secrets }, writeGroupSecrets);
        const { initKey } = bundle.keyPackage;
        const encryptedGroupSecrets = encryptWithLabel(
          suite,
          initKey,
          'Welcome',
          encryptedGroupInfo,
          groupSecrets,
          env,
        );
        const forged = encodeMlsMessage({
          wireFormat: 'welcome',
          welcome: {
            cipherSuite: suite.id,
            secrets: [{ newMember: bundle.ref, encryptedGroupSecrets }],
            encryptedGroupInfo,
          },
        });
        return joinByWelcome(forged, bundle, newcomer.signatureKey, { memberCheck: anyone });
      },
    };
  }

  const unchanged = (info: GroupInfo): GroupInfo => info;

  it('not when it was sealed again without a change', () => {
    const { join, inviter } = invitation();
    expect(join(unchanged).secrets).toEqual(inviter.secrets);
  });

  it('WELCOME-01: that is for another key package', () => {
    const conversation = ofMany(2);
    const [invited, other] = [device('invited', env), device('other', env)];
    const adds = [keyPackageOf(invited, SUITE, env).bytes];
    const { welcome } = conversation.at(0).commit({ adds }, env);
    const bundle = keyPackageOf(other, SUITE, env);
    refusedBy('WELCOME-01', 'missing-key', () =>
      joinByWelcome(welcome ?? EMPTY, bundle, other.signatureKey, { memberCheck: anyone }),
    );
    refusal('missing-key', () =>
      joinByWelcome(welcome ?? EMPTY, bundle, invited.signatureKey, { memberCheck: anyone }),
    );
  });

  it('WELCOME-02: whose tree lacks the new member', () => {
    const { join, inviter } = invitation();
    const tree = inviter.tree.clone();
    tree.removeLeaf(toLeafIndex(3));
    const treeHash = rootHash(inviter.suite, tree);
    const withTree = (info: GroupInfo): GroupInfo => ({
      ...info,
      groupContext: { ...info.groupContext, treeHash },
      extensions: [treeExtension(tree)],
    });
    refusedBy('WELCOME-02', 'invalid-tree', () => join(withTree));
  });

  it('WELCOME-03: that continues another group', () => {
    const psk = { type: 'resumption', usage: 'branch', groupId: EMPTY, epoch: 0n, nonce: noPsk } as const;
    refusedBy('WELCOME-03', 'unsupported', () => invitation().join(unchanged, { psks: [psk] }));
  });

  it('WELCOME-04: whose group has another suite', () =>
    refusedBy('WELCOME-04', 'unsupported', () =>
      invitation().join((info) => ({ ...info, groupContext: { ...info.groupContext, cipherSuite: 0x004d } })),
    ));

  it('WELCOME-05: with a wrong confirmation tag', () =>
    refusedBy('WELCOME-05', 'bad-confirmation-tag', () =>
      invitation().join((info) => ({ ...info, confirmationTag: flip(info.confirmationTag) })),
    ));

  it('PATH-04: whose path secret is not that of the tree', () =>
    refusedBy('PATH-04', 'invalid-commit', () => {
      const { join } = invitation();
      return join(unchanged, { pathSecret: noPsk });
    }));

  it('INFO-01: signed by nobody', () =>
    refusedBy('INFO-01', 'unknown-sender', () =>
      invitation().join((info) => ({ ...info, signer: toLeafIndex(0xffffffff) })),
    ));

  it('INFO-02: with a bad signature', () =>
    refusedBy('INFO-02', 'bad-signature', () =>
      invitation().join((info) => ({ ...info, signature: flip(info.signature) })),
    ));

  it('TREE-06: whose tree is not the one of the context', () =>
    refusedBy('TREE-06', 'invalid-tree', () =>
      invitation().join((info) => ({
        ...info,
        groupContext: { ...info.groupContext, treeHash: flip(info.groupContext.treeHash) },
      })),
    ));

  it('without a tree', () =>
    refusedBy('ratchet tree', 'missing-key', () =>
      invitation().join((info) => ({ ...info, extensions: [] })),
    ));
});

function treeExtension(tree: RatchetTree) {
  const message = decodeMlsMessage(exportGroupInfo({ ...ofMany(1).at(0).group, tree }));
  if (message.wireFormat !== 'group-info') throw new Error('no group info');
  const type = ExtensionTypeValue.ratchetTree;
  return { type, data: findExtension(message.groupInfo.extensions, type) ?? EMPTY };
}

describe('a tree is refused', () => {
  function check(group: Group, tree: RatchetTree): () => void {
    const { suite, context } = group;
    const leafContext = {
      suite,
      groupId: context.groupId,
      groupExtensions: context.extensions,
      memberCheck: anyone,
    };
    return () => validateTree(leafContext, tree, rootHash(suite, tree));
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

  it('TREE-01: of an impossible shape', () => {
    const nodes = ofMany(4).at(0).group.tree.toNodes();
    refusedBy('TREE-01', 'invalid-tree', () => RatchetTree.fromNodes([]));
    refusedBy('TREE-01', 'invalid-tree', () => RatchetTree.fromNodes([...nodes, null]));
    refusedBy('TREE-01', 'invalid-tree', () => RatchetTree.fromNodes(nodes.slice(1)));
  });

  it('TREE-02: with a parent hash that does not hold', () =>
    refusedBy('TREE-02', 'invalid-tree', withParent(7, { parentHash: new Uint8Array(32) })));

  it('TREE-03: with unmerged leaves out of order', () =>
    refusedBy('TREE-03', 'invalid-tree', withParent(7, { unmergedLeaves: [5, 4].map(toLeafIndex) })));

  it('TREE-04: with an unmerged leaf from elsewhere', () => {
    refusedBy('TREE-04', 'invalid-tree', withParent(3, { unmergedLeaves: [toLeafIndex(5)] }));
    refusedBy('TREE-04', 'invalid-tree', withParent(7, { unmergedLeaves: [toLeafIndex(0xfffffff0)] }));
  });

  it('TREE-05: with an unmerged leaf that a node between does not list', () =>
    refusedBy('TREE-05', 'invalid-tree', withParent(7, { unmergedLeaves: [toLeafIndex(2)] })));

  it('by an external joiner too', () => {
    const { group } = ofMany(4).at(0);
    const context = { ...group.context, treeHash: flip(group.context.treeHash) };
    const info = exportGroupInfo({ ...group, context });
    refusedBy('TREE-06', 'invalid-tree', () =>
      joinExternal(info, { ...device('x', env), memberCheck: anyone }, env),
    );
  });
});

describe('a member that made an invalid state is refused by its own check', () => {
  it('PROP-06: a removal of nobody never leaves', () => {
    const { group } = ofMany(2).at(0);
    refusedBy('PROP-06', 'invalid-proposal', () =>
      createCommit(group, { ...hooks, removes: [toLeafIndex(9)] }, env),
    );
    expect(group.secretTree.takeChanges()).toEqual({ puts: [], deletes: [] });
  });
});
