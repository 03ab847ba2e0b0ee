import { beforeAll, describe, expect, it } from 'vitest';
import { GROUP_BINDING_EXTENSION } from '../../src/account/index.ts';
import { concat, EMPTY, utf8 } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import { ownContent, signFramedContent } from '../../src/framing/contentAuth.ts';
import { protectPublicMessage } from '../../src/framing/publicMessage.ts';
import { signLeaf } from '../../src/group/ownLeaf.ts';
import { byReference, byValue } from '../../src/group/proposalList.ts';
import {
  CryptoError,
  createSignatureKeyPair,
  decryptApplication,
  exportGroupInfo,
  type Group,
  type MemberCheck,
  processCommit,
  processProposal,
  ready,
} from '../../src/index.ts';
import { type Extension, readExtensions } from '../../src/structs/extension.ts';
import { toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNode, LeafNodeContent } from '../../src/structs/leafNode.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import type { UpdatePath } from '../../src/structs/updatePath.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { anyone, anything, Conversation, type Device, device, keyPackageOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import {
  type CommitForgery,
  flip,
  forgeCommit,
  forgeKeyPackage,
  type KeyPackageForgery,
  privateMessageOf,
} from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('received');
const hooks = { memberCheck: anyone, policy: anything };
const known = { versions: [1], cipherSuites: [SUITE], extensions: [], proposals: [], credentials: [1] };

beforeAll(ready);

function ofThree(extensions: readonly Extension[] = []): Conversation {
  const conversation = new Conversation(SUITE, env);
  const alice = conversation.at(0);
  conversation.add(alice, [device('device 1', env), device('device 2', env)]);
  if (extensions.length > 0) conversation.accept(alice, alice.commit({ extensions }, env));
  else conversation.update(alice);
  return conversation;
}

/** Lets Alice process a commit of Bob's. @returns the refusal, or 'none' */
function received(
  conversation: Conversation,
  forgery: CommitForgery,
  memberCheck: MemberCheck = anyone,
): string {
  const commit = forgeCommit(conversation.at(1).group, forgery, env);
  return refusalOf(() => processCommit(conversation.at(0).group, commit, { ...hooks, memberCheck }));
}

function addOf(bytes: Uint8Array): Proposal {
  const message = decodeMlsMessage(bytes);
  if (message.wireFormat !== 'key-package') throw new Error('no key package');
  return { type: 'add', keyPackage: message.keyPackage };
}

/** Lets Alice process Bob's commit that adds these clients. */
function whenAdded(
  conversation: Conversation,
  keyPackages: readonly Uint8Array[],
  memberCheck: MemberCheck = anyone,
): string {
  const adds = keyPackages.map(addOf);
  const forgery = { proposals: adds.map(byValue), applied: adds, withPath: false };
  return received(conversation, forgery, memberCheck);
}

/** Lets Alice process Bob's commit that adds a client of this forgery. */
function newcomer(forgery: KeyPackageForgery, conversation = ofThree()): string {
  return whenAdded(conversation, [forgeKeyPackage(device('newcomer', env), SUITE, env, forgery)]);
}

/** Lets Alice process Bob's commit whose leaf was changed after Bob made his path for the honest one. */
function committer(
  change: (leaf: LeafNode, bob: Group, alice: Group) => LeafNode,
  memberCheck: MemberCheck = anyone,
): string {
  const conversation = ofThree();
  const [alice, bob] = [conversation.at(0).group, conversation.at(1).group];
  const path = (honest: UpdatePath): UpdatePath => ({
    ...honest,
    leafNode: change(honest.leafNode, bob, alice),
  });
  return received(conversation, { path }, memberCheck);
}

function signed(bob: Group, content: LeafNodeContent, key = bob.signaturePrivateKey): LeafNode {
  return signLeaf(bob.suite, content, { groupId: bob.context.groupId, leafIndex: bob.ownLeaf }, key);
}

/** Lets Alice process Bob's commit of an Update that Carol proposed and both received. */
function updater(change: (leaf: LeafNode, carol: Group, alice: Group) => LeafNode): string {
  const conversation = ofThree();
  const carol = conversation.at(2).group;
  const leaf = carol.tree.leaf(carol.ownLeaf);
  if (leaf === null) throw new Error('no leaf');
  const { publicKey } = carol.suite.kem.generateKeyPair(env);
  const honest = signed(carol, { ...leaf, encryptionKey: publicKey, source: { type: 'update' } });
  const proposal = { type: 'update', leafNode: change(honest, carol, conversation.at(0).group) } as const;
  const { stored } = privateMessageOf(carol, { type: 'proposal', proposal }, null, env);
  if (stored === null) throw new Error('no proposal');
  const forgery = { proposals: [byReference(stored)], applied: [proposal], updater: carol.ownLeaf };
  const commit = forgeCommit(conversation.at(1).group, forgery, env);
  return refusalOf(() => processCommit(conversation.at(0).group, commit, { ...hooks, proposals: [stored] }));
}

describe('a member that receives a commit refuses', () => {
  it('nothing of what it would refuse when it is honest', () => {
    expect(newcomer({})).toBe('none');
    expect(committer((leaf) => leaf)).toBe('none');
  });

  it('LEAF-01: a leaf that nobody signed, or signed for another place', () => {
    expect(newcomer({ breakLeafSignature: true })).toContain('bad-signature: LEAF-01');
    expect(updater((leaf) => ({ ...leaf, signature: flip(leaf.signature) }))).toContain(
      'bad-signature: LEAF-01',
    );
    expect(committer((leaf) => ({ ...leaf, signature: flip(leaf.signature) }))).toContain(
      'bad-signature: LEAF-01',
    );
    const elsewhere = (leaf: LeafNode, bob: Group) =>
      signLeaf(bob.suite, leaf, { groupId: utf8('other'), leafIndex: bob.ownLeaf }, bob.signaturePrivateKey);
    expect(committer(elsewhere)).toContain('bad-signature: LEAF-01');
  });

  it('LEAF-02 and LEAF-04: a leaf without the capabilities that it needs', () => {
    const withoutVersion = { ...known, versions: [2] };
    const withoutCredential = { ...known, credentials: [2] };
    const unlisted = [{ type: 0xf00d, data: EMPTY }];
    expect(newcomer({ leaf: { capabilities: withoutVersion } })).toContain('invalid-leaf: LEAF-02');
    expect(newcomer({ leaf: { capabilities: { ...known, cipherSuites: [1] } } })).toContain(
      'invalid-leaf: LEAF-02',
    );
    expect(newcomer({ leaf: { capabilities: withoutCredential } })).toContain('invalid-leaf: LEAF-04');
    expect(newcomer({ leaf: { extensions: unlisted } })).toContain('invalid-leaf: LEAF-04');
    const whose = (capabilities: typeof known) => (leaf: LeafNode, owner: Group) =>
      signed(owner, { ...leaf, capabilities });
    expect(committer(whose(withoutVersion))).toContain('invalid-leaf: LEAF-02');
    expect(updater(whose(withoutCredential))).toContain('invalid-leaf: LEAF-04');
  });

  it('LEAF-03: a leaf that does not support an extension of the group', () => {
    const binding = [{ type: GROUP_BINDING_EXTENSION, data: EMPTY }];
    expect(newcomer({ leaf: { capabilities: known } }, ofThree(binding))).toContain('invalid-leaf: LEAF-03');
    expect(newcomer({}, ofThree(binding))).toBe('none');
  });

  it('LEAF-06: a leaf with the source of another place', () => {
    expect(newcomer({ leaf: { source: { type: 'update' } } })).toContain('invalid-leaf: LEAF-06');
    const lifetime = { notBefore: 0n, notAfter: 1n };
    const fromPackage = (leaf: LeafNode, owner: Group) =>
      signed(owner, { ...leaf, source: { type: 'key-package', lifetime } });
    expect(updater(fromPackage)).toContain('invalid-leaf: LEAF-06');
    expect(committer(fromPackage)).toContain('invalid-leaf: LEAF-06');
  });

  it('LEAF-07: a leaf that keeps the encryption key of the one it replaces', () => {
    const keeping = (leaf: LeafNode, owner: Group) => {
      const encryptionKey = owner.tree.leaf(owner.ownLeaf)?.encryptionKey ?? EMPTY;
      return signed(owner, { ...leaf, encryptionKey });
    };
    expect(updater(keeping)).toContain('invalid-leaf: LEAF-07');
    expect(committer(keeping)).toContain('invalid-leaf: LEAF-07');
  });

  it('LEAF-08: a client that is in the group already, or is added twice', () => {
    const conversation = ofThree();
    const twin = device('twin', env);
    const packageOf = (owner: Device) => keyPackageOf(owner, SUITE, env).bytes;
    expect(whenAdded(conversation, [packageOf(conversation.at(2).device)])).toContain(
      'invalid-leaf: LEAF-08',
    );
    expect(whenAdded(conversation, [packageOf(twin), packageOf(twin)])).toContain('invalid-leaf: LEAF-08');
  });

  it('LEAF-08: a member who takes the signature key of another', () => {
    const taking = (leaf: LeafNode, owner: Group, { ownLeaf, signaturePrivateKey, tree }: Group) => {
      const signatureKey = tree.leaf(ownLeaf)?.signatureKey ?? EMPTY;
      return signed(owner, { ...leaf, signatureKey }, signaturePrivateKey);
    };
    expect(updater(taking)).toContain('invalid-leaf: LEAF-08');
    expect(committer(taking)).toContain('invalid-leaf: LEAF-08');
  });

  it('LEAF-09: a member who takes the encryption key of another by an update', () => {
    const taking = (leaf: LeafNode, owner: Group, { ownLeaf, tree }: Group) =>
      signed(owner, { ...leaf, encryptionKey: tree.leaf(ownLeaf)?.encryptionKey ?? EMPTY });
    expect(updater(taking)).toContain('invalid-leaf: LEAF-09');
  });

  it('LEAF-09: a leaf with the encryption key of a member, or of a parent node', () => {
    const conversation = ofThree();
    const { tree } = conversation.at(0).group;
    for (const node of [4, 3].map(toNodeIndex)) {
      const encryptionKey = tree.encryptionKey(node);
      if (encryptionKey === null) throw new Error('a blank node');
      expect(newcomer({ leaf: { encryptionKey } }, conversation)).toContain('invalid-leaf: LEAF-09');
    }
  });

  it('LEAF-09: no X-Wing key that only ends as another does', () => {
    const suite = 0xf04d;
    const conversation = new Conversation(suite, env);
    conversation.add(conversation.at(0), [device('device 1', env)]);
    const { group } = conversation.at(0);
    const taken = group.tree.leaf(group.ownLeaf)?.encryptionKey ?? EMPTY;
    const other = group.suite.kem.generateKeyPair(env).publicKey;
    const encryptionKey = concat(other.subarray(0, -32), taken.subarray(-32));
    const capabilities = { ...known, cipherSuites: [suite] };
    const added = (leaf: Partial<LeafNodeContent>) =>
      whenAdded(conversation, [
        forgeKeyPackage(device('newcomer', env), suite, env, { leaf: { capabilities, ...leaf } }),
      ]);
    expect(added({ encryptionKey })).toBe('none');
    expect(added({ encryptionKey: taken })).toContain('invalid-leaf: LEAF-09');
  });

  it('LEAF-10: a credential type that another member does not support', () => {
    // This implementation refuses one of the two types there are, so that members with both can't meet on the wire.
    const conversation = ofThree();
    const { group } = conversation.at(0);
    const tree = group.tree.clone();
    const leaf = tree.leaf(group.ownLeaf);
    if (leaf === null) throw new Error('no leaf');
    tree.setLeaf(group.ownLeaf, { ...leaf, capabilities: { ...leaf.capabilities, credentials: [2] } });
    const add = addOf(keyPackageOf(device('newcomer', env), SUITE, env).bytes);
    const forgery = { proposals: [byValue(add)], applied: [add], withPath: false };
    const commit = forgeCommit(conversation.at(1).group, forgery, env);
    expect(refusalOf(() => processCommit({ ...group, tree }, commit, hooks))).toContain(
      'invalid-leaf: LEAF-10',
    );
  });

  it('CRED-01: a leaf with an X.509 credential', () => {
    const credential = { type: 'x509', certificates: [utf8('chain')] } as const;
    const capabilities = { ...known, credentials: [1, 2] };
    expect(newcomer({ leaf: { credential, capabilities } })).toContain('invalid-credential: CRED-01');
  });

  it('CRED-02: a credential that the application does not accept, also for a new signature key alone', () => {
    const nobody = (): void => {
      throw new CryptoError('invalid-credential', 'nobody');
    };
    const honest = keyPackageOf(device('newcomer', env), SUITE, env).bytes;
    expect(whenAdded(ofThree(), [honest], nobody)).toContain('invalid-credential: CRED-02');
    expect(committer((leaf) => leaf, nobody)).toBe('none');

    const { publicKey, privateKey } = createSignatureKeyPair(env);
    const withNewKey = (leaf: LeafNode, bob: Group) =>
      signed(bob, { ...leaf, signatureKey: publicKey }, privateKey);
    expect(committer(withNewKey, nobody)).toContain('invalid-credential: CRED-02');
    const seen: unknown[] = [];
    committer(withNewKey, (leaf, { replaces }) => seen.push([leaf.signatureKey, replaces]));
    expect(seen).toEqual([[publicKey, { type: 'basic', identity: utf8('device 1') }]]);
  });

  it('KP-01, KP-02 and KP-03: a key package of another suite, unsigned, or with one key for two uses', () => {
    expect(newcomer({ package: { cipherSuite: 0x004d } })).toContain('invalid-key-package: KP-01');
    expect(newcomer({ breakSignature: true })).toContain('bad-signature: KP-02');
    expect(newcomer({ initKeyIsEncryptionKey: true })).toContain('invalid-key-package: KP-03');
  });
});

describe('a message is refused', () => {
  it('FRAME-07: whose sender is a blank leaf, or outside the tree', () => {
    const conversation = ofThree();
    const bob = conversation.at(1).group;
    const { group } = conversation.at(0);
    const content = { type: 'application', data: utf8('text') } as const;
    const { bytes } = privateMessageOf({ ...bob, ownLeaf: toLeafIndex(3) }, content, null, env);
    expect(refusalOf(() => decryptApplication(group, bytes))).toContain('unknown-sender: FRAME-07: leaf 3');
    const framed = {
      groupId: bob.context.groupId,
      epoch: bob.context.epoch,
      sender: { type: 'member', leafIndex: toLeafIndex(9) },
      authenticatedData: EMPTY,
      content: { type: 'proposal', proposal: { type: 'remove', removed: toLeafIndex(0) } },
    } as const;
    const { suite, context, signaturePrivateKey, secrets } = bob;
    const signature = signFramedContent(suite, 'public-message', framed, context, signaturePrivateKey);
    const own = ownContent('public-message', framed, { signature, confirmationTag: null });
    const keys = { groupContext: context, membershipKey: secrets.membershipKey };
    const publicMessage = protectPublicMessage(suite, own, keys);
    const message = encodeMlsMessage({ wireFormat: 'public-message', publicMessage });
    expect(refusalOf(() => processProposal(group, message))).toContain('unknown-sender: FRAME-07: leaf 9');
  });
});

describe('a list of extensions', () => {
  it('STRUCT-01: is refused when a type occurs twice, wherever the list is', () => {
    const twice = [1, 2, 1].map((type) => ({ type, data: EMPTY }));
    const list = encode(twice, (w, items) =>
      w.vector(items, (item, { type, data }) => {
        item.u16(type);
        item.opaque(data);
      }),
    );
    expect(refusalOf(() => decode(list, readExtensions))).toContain('malformed: STRUCT-01');
    const forged = forgeKeyPackage(device('newcomer', env), SUITE, env, { package: { extensions: twice } });
    expect(refusalOf(() => decodeMlsMessage(forged))).toContain('malformed: STRUCT-01');
    const proposal = { type: 'group-context-extensions', extensions: twice } as const;
    expect(codeOf(() => received(ofThree(), { proposals: [byValue(proposal)] }))).toBe('none');
    expect(received(ofThree(), { proposals: [byValue(proposal)] })).toContain('malformed: STRUCT-01');
    const leaf = forgeKeyPackage(device('newcomer', env), SUITE, env, { leaf: { extensions: twice } });
    expect(refusalOf(() => decodeMlsMessage(leaf))).toContain('malformed: STRUCT-01');
    const message = decodeMlsMessage(exportGroupInfo(ofThree().at(0).group));
    if (message.wireFormat !== 'group-info') throw new Error('no group info');
    const { groupInfo } = message;
    const groupContext = { ...groupInfo.groupContext, extensions: twice };
    for (const changed of [{ extensions: twice }, { groupContext }]) {
      const bytes = encodeMlsMessage({ wireFormat: 'group-info', groupInfo: { ...groupInfo, ...changed } });
      expect(refusalOf(() => decodeMlsMessage(bytes))).toContain('malformed: STRUCT-01');
    }
  });
});
