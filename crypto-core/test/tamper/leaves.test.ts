import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import {
  createCommit,
  createGroup,
  type CreateCommitArgs,
  CryptoError,
  processCommit,
  ready,
} from '../../src/index.ts';
import { MAX_LIFETIME_SECONDS, checkTreeLeaves } from '../../src/group/validateLeaf.ts';
import type { LeafNodeContent } from '../../src/structs/leafNode.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { anyone, anything, Conversation, device, keyPackageOf, refusedBy } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { forgeKeyPackage, forgeCommit, type KeyPackageForgery, privateMessageOf } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('leaves');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

function ofTwo(): Conversation {
  const conversation = new Conversation(SUITE, env);
  conversation.add(conversation.at(0), [device('device 1', env)]);
  return conversation;
}

function commit(conversation: Conversation, args: Partial<CreateCommitArgs>): () => unknown {
  return () => createCommit(conversation.at(0).group, { ...hooks, ...args }, env);
}

/** Adding such a client is refused by whoever would commit it. */
function refusedWhenAdded(check: string, code: string, forgery: KeyPackageForgery): void {
  const bytes = forgeKeyPackage(device('newcomer', env), SUITE, env, forgery);
  refusedBy(check, code, commit(ofTwo(), { adds: [bytes] }));
}

function source(notBefore: bigint, notAfter: bigint): LeafNodeContent['source'] {
  return { type: 'key-package', lifetime: { notBefore, notAfter } };
}

describe('a leaf is refused', () => {
  const now = BigInt(Math.floor(env.now() / 1000));
  const known = { versions: [1], cipherSuites: [SUITE], extensions: [], proposals: [], credentials: [1] };

  it('LEAF-01: with a bad signature', () =>
    refusedWhenAdded('LEAF-01', 'bad-signature', { breakLeafSignature: true }));

  it('LEAF-02: without MLS 1.0 or the suite', () => {
    refusedWhenAdded('LEAF-02', 'invalid-leaf', { leaf: { capabilities: { ...known, versions: [2] } } });
    refusedWhenAdded('LEAF-02', 'invalid-leaf', { leaf: { capabilities: { ...known, cipherSuites: [1] } } });
  });

  it('LEAF-03: in a group with an extension that it does not support', () => {
    const { credential, signatureKey } = device('creator', env);
    const extensions = [{ type: 0xf00d, data: utf8('') }];
    refusedBy('LEAF-03', 'invalid-leaf', () =>
      createGroup({ suite: SUITE, groupId: utf8('g'), credential, signatureKey, extensions }, env),
    );
  });

  it('LEAF-04: with an extension or a credential type that it does not list', () => {
    const extensions = [{ type: 0xf00d, data: utf8('') }];
    refusedWhenAdded('LEAF-04', 'invalid-leaf', { leaf: { extensions } });
    refusedWhenAdded('LEAF-04', 'invalid-leaf', { leaf: { capabilities: { ...known, credentials: [2] } } });
  });

  it('LEAF-05: outside its lifetime, or with too long a one', () => {
    refusedWhenAdded('LEAF-05', 'invalid-leaf', { leaf: { source: source(now - 9n, now - 1n) } });
    refusedWhenAdded('LEAF-05', 'invalid-leaf', { leaf: { source: source(now + 1n, now + 9n) } });
    const tooLong = source(now, now + MAX_LIFETIME_SECONDS + 1n);
    refusedWhenAdded('LEAF-05', 'invalid-leaf', { leaf: { source: tooLong } });
  });

  it('LEAF-06: with the source of another place', () =>
    refusedWhenAdded('LEAF-06', 'invalid-leaf', { leaf: { source: { type: 'update' } } }));

  it('LEAF-07: in an update that keeps the encryption key', () => {
    const conversation = ofTwo();
    const bob = conversation.at(1).group;
    const leafNode = bob.tree.leaf(bob.ownLeaf);
    if (leafNode === null) throw new Error('no leaf');
    const proposal = { type: 'update', leafNode: { ...leafNode, source: { type: 'update' } } } as const;
    const { stored } = privateMessageOf(bob, { type: 'proposal', proposal }, null, env);
    if (stored === null) throw new Error('no proposal');
    refusedBy('LEAF-07', 'invalid-leaf', commit(conversation, { proposals: [stored] }));
  });

  it('LEAF-08: with the signature key of a member, or of another newcomer', () => {
    const conversation = ofTwo();
    const twin = device('twin', env);
    const member = keyPackageOf(conversation.at(1).device, SUITE, env).bytes;
    const twins = [twin, twin].map((owner) => keyPackageOf(owner, SUITE, env).bytes);
    refusedBy('LEAF-08', 'invalid-leaf', commit(conversation, { adds: [member] }));
    refusedBy('LEAF-08', 'invalid-leaf', commit(conversation, { adds: twins }));
  });

  it('LEAF-09: with the encryption key of another node', () => {
    const conversation = ofTwo();
    const { tree, ownLeaf } = conversation.at(1).group;
    const encryptionKey = tree.leaf(ownLeaf)?.encryptionKey ?? new Uint8Array(0);
    const bytes = forgeKeyPackage(device('newcomer', env), SUITE, env, { leaf: { encryptionKey } });
    refusedBy('LEAF-09', 'invalid-leaf', commit(conversation, { adds: [bytes] }));
  });

  it('LEAF-10: when another member does not support its credential type', () => {
    const tree = ofTwo().at(0).group.tree.clone();
    const leaf = tree.leaf(toLeafIndex(0));
    if (leaf === null) throw new Error('no leaf');
    tree.setLeaf(toLeafIndex(0), { ...leaf, capabilities: { ...leaf.capabilities, credentials: [2] } });
    refusedBy('LEAF-10', 'invalid-leaf', () => checkTreeLeaves(tree));
  });

  it('LEAF-11: with keys of a wrong length', () =>
    refusedWhenAdded('LEAF-11', 'invalid-leaf', { leaf: { encryptionKey: new Uint8Array(31) } }));

  it('CRED-01: with an X.509 credential', () => {
    const capabilities = { ...known, credentials: [1, 2] };
    const credential = { type: 'x509', certificates: [utf8('chain')] } as const;
    refusedWhenAdded('CRED-01', 'invalid-credential', { leaf: { credential, capabilities } });
  });

  it('CRED-02: with a credential that the application does not accept, also when it replaces a good one', () => {
    const memberCheck = (): void => {
      throw new CryptoError('invalid-credential', 'nobody');
    };
    const adds = [keyPackageOf(device('newcomer', env), SUITE, env).bytes];
    refusedBy('nobody', 'invalid-credential', commit(ofTwo(), { adds, memberCheck }));

    // A committer's credential is looked at when it changes, together with the one it replaces.
    const conversation = ofTwo();
    const [alice, bob] = [conversation.at(0).group, conversation.at(1).group];
    processCommit(alice, forgeCommit(bob, {}, env), { ...hooks, memberCheck });
    const credential = { type: 'basic', identity: utf8('somebody else') } as const;
    const changed = forgeCommit(bob, { leaf: { credential } }, env);
    const seen: unknown[] = [];
    processCommit(alice, changed, { ...hooks, memberCheck: (leaf, context) => seen.push([leaf, context]) });
    const { signatureKey, credential: replaces } = conversation.at(1).device;
    const leaf = { credential, signatureKey: signatureKey.publicKey };
    expect(seen).toEqual([[leaf, { groupId: alice.context.groupId, replaces }]]);
    refusedBy('nobody', 'invalid-credential', () => processCommit(alice, changed, { ...hooks, memberCheck }));
  });
});

describe('a key package is refused', () => {
  it('KP-01: of another suite', () => {
    const { bytes } = keyPackageOf(device('newcomer', env), 0x004d, env);
    refusedBy('KP-01', 'invalid-key-package', commit(ofTwo(), { adds: [bytes] }));
  });

  it('KP-02: with a bad signature', () =>
    refusedWhenAdded('KP-02', 'bad-signature', { breakSignature: true }));

  it('KP-03: whose init key is its encryption key', () =>
    refusedWhenAdded('KP-03', 'invalid-key-package', { initKeyIsEncryptionKey: true }));
});
