import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { signLeaf } from '../../src/group/ownLeaf.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { openGroupInfo, openGroupSecrets } from '../../src/group/welcome.ts';
import {
  createCommit,
  exportGroupInfo,
  type Group,
  joinByWelcome,
  processCommit,
  ready,
} from '../../src/index.ts';
import { deriveWelcomeKey, deriveWelcomeSecret } from '../../src/schedule/keySchedule.ts';
import { ExtensionTypeValue, findExtension } from '../../src/structs/extension.ts';
import { groupInfoTBS, type UnverifiedGroupInfo, writeGroupInfo } from '../../src/structs/groupInfo.ts';
import { toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { UpdatePath, UpdatePathNode } from '../../src/structs/updatePath.ts';
import { type GroupSecrets, writeGroupSecrets } from '../../src/structs/welcome.ts';
import { encryptWithLabel, signWithLabel } from '../../src/suite/labels.ts';
import type { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { rootHash } from '../../src/tree/treeHash.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import {
  anyone,
  anything,
  type Conversation,
  type Device,
  device,
  groupOf,
  keyPackageOf,
} from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { type CommitForgery, flip, forgeCommit } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('commits');
const hooks = { memberCheck: anyone, policy: anything };
const noPsk = new Uint8Array(32);

beforeAll(ready);

const ofMany = (count: number): Conversation => groupOf(count, SUITE, env);

describe('a commit is refused', () => {
  /**
   * Lets Alice process a forgery of Bob's, which must not move her state, and then a good commit of his.
   * @returns the refusal of the forgery
   */
  function whenReceived(forgery: (bob: Group) => CommitForgery): string {
    const conversation = ofMany(4);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const commit = forgeCommit(bob.group, forgery(bob.group), env);
    const { group } = alice;
    const refusal = refusalOf(() => processCommit(group, commit, hooks));
    const { puts, deletes } = group.secretTree.takeChanges();
    const moved = [...puts.map(([key]) => key), ...deletes];
    conversation.update(bob);
    const wrong = [...moved, ...conversation.disagreements()];
    if (wrong.length > 0) throw new Error(wrong.join());
    return refusal;
  }

  const withFirstNode =
    (change: (node: UpdatePathNode) => UpdatePathNode) =>
    (path: UpdatePath): UpdatePath => ({
      ...path,
      nodes: path.nodes.map((node, at) => (at === 0 ? change(node) : node)),
    });

  it('COMMIT-01: without a path where one is needed', () => {
    expect(whenReceived(() => ({ withPath: false }))).toContain('invalid-commit: COMMIT-01');
    const removal = { type: 'remove', removed: toLeafIndex(2) } as const;
    expect(
      whenReceived(() => ({
        proposals: [byValue(removal)],
        applied: [removal],
        withPath: false,
      })),
    ).toContain('invalid-commit: COMMIT-01');
  });

  it('COMMIT-02: whose path has a key that is in use', () =>
    expect(
      whenReceived(({ tree }) => ({
        path: withFirstNode((node) => ({
          ...node,
          encryptionKey: tree.encryptionKey(toNodeIndex(0)) ?? new Uint8Array(0),
        })),
      })),
    ).toContain('invalid-commit: COMMIT-02'));

  it('COMMIT-02: whose path has a key twice, that of its leaf', () =>
    expect(
      whenReceived(() => ({
        path: (path) => ({
          ...path,
          nodes: path.nodes.map((node) => ({ ...node, encryptionKey: path.leafNode.encryptionKey })),
        }),
      })),
    ).toContain('invalid-commit: COMMIT-02: a key occurs twice'));

  it('COMMIT-03: with a wrong confirmation tag', () =>
    expect(whenReceived(() => ({ confirmationTag: flip }))).toContain('bad-confirmation-tag: COMMIT-03'));

  it('PATH-01: whose path is too short', () =>
    expect(
      whenReceived(() => ({
        path: (path) => ({ ...path, nodes: path.nodes.slice(1) }),
      })),
    ).toContain('invalid-commit: PATH-01'));

  it('PATH-02: whose path has a ciphertext too few', () =>
    expect(
      whenReceived(() => ({
        path: withFirstNode((node) => ({ ...node, encryptedPathSecret: [] })),
      })),
    ).toContain('invalid-commit: PATH-02'));

  it('PATH-03: whose path has another public key than the leaf has signed', () =>
    expect(
      whenReceived(() => ({
        path: withFirstNode((node) => ({ ...node, encryptionKey: flip(node.encryptionKey) })),
      })),
    ).toContain('invalid-commit: PATH-03'));

  it('LEAF-01 and LEAF-06: whose leaf is not signed, or not of a commit', () => {
    expect(
      whenReceived(() => ({
        path: (path) => ({
          ...path,
          leafNode: { ...path.leafNode, signature: flip(path.leafNode.signature) },
        }),
      })),
    ).toContain('bad-signature: LEAF-01');
    expect(
      whenReceived(() => ({
        path: (path) => ({ ...path, leafNode: { ...path.leafNode, source: { type: 'update' } } }),
      })),
    ).toContain('invalid-leaf: LEAF-06');
  });

  it('whose path secret was encrypted for somebody else', () =>
    expect(
      whenReceived(() => ({
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
      })),
    ).toContain('decrypt-failed'));
});

describe('a welcome is refused', () => {
  interface Invitation {
    readonly join: (
      change: (info: UnverifiedGroupInfo) => UnverifiedGroupInfo,
      secrets?: Partial<GroupSecrets>,
    ) => Group;
    readonly inviter: Group;
    readonly newcomer: Device;
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
      newcomer,
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

  const unchanged = (info: UnverifiedGroupInfo): UnverifiedGroupInfo => info;

  it('but accepted when it is signed and sealed again without a change', () => {
    const { join, inviter } = invitation();
    expect(join(unchanged).secrets).toEqual(inviter.secrets);
  });

  it('WELCOME-01: that is for another key package', () => {
    const conversation = ofMany(2);
    const [invited, other] = [device('invited', env), device('other', env)];
    const adds = [keyPackageOf(invited, SUITE, env).bytes];
    const { welcome } = conversation.at(0).commit({ adds }, env);
    const bundle = keyPackageOf(other, SUITE, env);
    expect(
      refusalOf(() => joinByWelcome(welcome ?? EMPTY, bundle, other.signatureKey, { memberCheck: anyone })),
    ).toContain('missing-key: WELCOME-01');
    expect(
      codeOf(() => joinByWelcome(welcome ?? EMPTY, bundle, invited.signatureKey, { memberCheck: anyone })),
    ).toBe('missing-key');
  });

  it('WELCOME-02: whose tree lacks the new member', () => {
    const { join, inviter } = invitation();
    const tree = inviter.tree.clone();
    tree.removeLeaf(toLeafIndex(3));
    const treeHash = rootHash(inviter.suite, tree);
    const withTree = (info: UnverifiedGroupInfo): UnverifiedGroupInfo => ({
      ...info,
      groupContext: { ...info.groupContext, treeHash },
      extensions: [treeExtension(tree)],
    });
    expect(refusalOf(() => join(withTree))).toContain('invalid-tree: WELCOME-02');
  });

  it('WELCOME-02: whose tree has another leaf of the new member', () => {
    const { join, inviter, newcomer } = invitation();
    const { suite, context } = inviter;
    const tree = inviter.tree.clone();
    const leafIndex = toLeafIndex(3);
    const leaf = tree.leaf(leafIndex);
    if (leaf === null) throw new Error('no leaf');
    const content = { ...leaf, encryptionKey: suite.kem.generateKeyPair(env).publicKey };
    const { privateKey } = newcomer.signatureKey;
    tree.setLeaf(leafIndex, signLeaf(suite, content, { groupId: context.groupId, leafIndex }, privateKey));
    const treeHash = rootHash(suite, tree);
    const withTree = (info: UnverifiedGroupInfo): UnverifiedGroupInfo => ({
      ...info,
      groupContext: { ...info.groupContext, treeHash },
      extensions: [treeExtension(tree)],
    });
    expect(refusalOf(() => join(withTree))).toContain('invalid-tree: WELCOME-02');
  });

  it('WELCOME-03: that continues another group', () => {
    const psk = { type: 'resumption', usage: 'branch', groupId: EMPTY, epoch: 0n, nonce: noPsk } as const;
    expect(refusalOf(() => invitation().join(unchanged, { psks: [psk] }))).toContain(
      'unsupported: WELCOME-03',
    );
  });

  it('WELCOME-04: whose group has another suite', () =>
    expect(
      refusalOf(() =>
        invitation().join((info) => ({
          ...info,
          groupContext: { ...info.groupContext, cipherSuite: 0x004d },
        })),
      ),
    ).toContain('unsupported: WELCOME-04'));

  it('WELCOME-05: with a wrong confirmation tag', () =>
    expect(
      refusalOf(() =>
        invitation().join((info) => ({ ...info, confirmationTag: flip(info.confirmationTag) })),
      ),
    ).toContain('bad-confirmation-tag: WELCOME-05'));

  it('PATH-04: whose path secret is not that of the tree', () =>
    expect(
      refusalOf(() => {
        const { join } = invitation();
        return join(unchanged, { pathSecret: noPsk });
      }),
    ).toContain('invalid-commit: PATH-04'));

  it('INFO-01: signed by nobody', () =>
    expect(
      refusalOf(() => invitation().join((info) => ({ ...info, signer: toLeafIndex(0xffffffff) }))),
    ).toContain('unknown-sender: INFO-01'));

  it('INFO-02: with a bad signature', () =>
    expect(
      refusalOf(() => invitation().join((info) => ({ ...info, signature: flip(info.signature) }))),
    ).toContain('bad-signature: INFO-02'));

  it('TREE-06: whose tree is not the one of the context', () =>
    expect(
      refusalOf(() =>
        invitation().join((info) => ({
          ...info,
          groupContext: { ...info.groupContext, treeHash: flip(info.groupContext.treeHash) },
        })),
      ),
    ).toContain('invalid-tree: TREE-06'));

  it('without a tree', () =>
    expect(refusalOf(() => invitation().join((info) => ({ ...info, extensions: [] })))).toContain(
      'missing-tree: no ratchet tree',
    ));
});

function treeExtension(tree: RatchetTree) {
  const message = decodeMlsMessage(exportGroupInfo({ ...ofMany(1).at(0).group, tree }));
  if (message.wireFormat !== 'group-info') throw new Error('no group info');
  const type = ExtensionTypeValue.ratchetTree;
  return { type, data: findExtension(message.groupInfo.extensions, type) ?? EMPTY };
}

describe('a committer, by its own check', () => {
  it('PROP-06: refuses to remove a leaf outside the tree, and uses up no key', () => {
    const { group } = ofMany(2).at(0);
    expect(refusalOf(() => createCommit(group, { ...hooks, removes: [toLeafIndex(9)] }, env))).toContain(
      'invalid-proposal: PROP-06',
    );
    expect(group.secretTree.takeChanges()).toEqual({ puts: [], deletes: [] });
  });
});
