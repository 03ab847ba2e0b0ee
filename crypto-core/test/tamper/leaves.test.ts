import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { checkCapabilities, checkTreeLeaves } from '../../src/group/validateLeaf.ts';
import {
  appDataDictionaryExtension,
  applicationIdExtension,
  type CreateCommitArgs,
  CryptoError,
  createCommit,
  createGroup,
  processCommit,
  ready,
} from '../../src/index.ts';
import {
  type Capabilities,
  type RequiredCapabilities,
  writeRequiredCapabilities,
} from '../../src/structs/capabilities.ts';
import { ExtensionTypeValue } from '../../src/structs/extension.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import type { LeafNodeContent } from '../../src/structs/leafNode.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { refusalOf } from '../codeOf.ts';
import { anyone, anything, Conversation, device, keyPackageOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { forgeCommit, forgeKeyPackage, type KeyPackageForgery, privateMessageOf } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('leaves');
const hooks = { memberCheck: anyone, policy: anything };
const DAYS_400 = 34_560_000n;

/** Extensions of known types that can't be read to their last byte. */
const unreadable = [
  [
    'application_id, longer than it says',
    { type: ExtensionTypeValue.applicationId, data: Uint8Array.of(1, 9, 9) },
  ],
  ['application_id, shorter', { type: ExtensionTypeValue.applicationId, data: Uint8Array.of(9, 9, 9) }],
  ['app_data_dictionary', { type: ExtensionTypeValue.appDataDictionary, data: Uint8Array.of(9, 9, 9) }],
  ['last_resort_key_package with data', { type: ExtensionTypeValue.lastResort, data: Uint8Array.of(0) }],
] as const;

beforeAll(ready);

function ofTwo(): Conversation {
  const conversation = new Conversation(SUITE, env);
  conversation.add(conversation.at(0), [device('device 1', env)]);
  return conversation;
}

function commit(conversation: Conversation, args: Partial<CreateCommitArgs>): () => unknown {
  return () => createCommit(conversation.at(0).group, { ...hooks, ...args }, env);
}

/** Commits the addition of such a client. @returns the refusal, or 'none' */
function whenAdded(forgery: KeyPackageForgery): string {
  const bytes = forgeKeyPackage(device('newcomer', env), SUITE, env, forgery);
  return refusalOf(commit(ofTwo(), { adds: [bytes] }));
}

function source(notBefore: bigint, notAfter: bigint): LeafNodeContent['source'] {
  return { type: 'key-package', lifetime: { notBefore, notAfter } };
}

describe('a leaf is refused', () => {
  const now = BigInt(Math.floor(env.now() / 1000));
  const known = { versions: [1], cipherSuites: [SUITE], extensions: [], proposals: [], credentials: [1] };

  it('LEAF-01: with a bad signature', () =>
    expect(whenAdded({ breakLeafSignature: true })).toContain('bad-signature: LEAF-01'));

  it('LEAF-02: without MLS 1.0 or the suite', () => {
    expect(whenAdded({ leaf: { capabilities: { ...known, versions: [2] } } })).toContain(
      'invalid-leaf: LEAF-02',
    );
    expect(whenAdded({ leaf: { capabilities: { ...known, cipherSuites: [1] } } })).toContain(
      'invalid-leaf: LEAF-02',
    );
  });

  it('LEAF-02: without an extension, a proposal or a credential type that the group requires', () => {
    const { leafNode } = keyPackageOf(device('newcomer', env), SUITE, env).keyPackage;
    const whenRequired = (
      required: Partial<RequiredCapabilities>,
      supported: Partial<Capabilities>,
    ): string => {
      const all = { extensions: [], proposals: [], credentials: [], ...required };
      const data = encode(all, writeRequiredCapabilities);
      const groupExtensions = [{ type: ExtensionTypeValue.requiredCapabilities, data }];
      const leaf = { ...leafNode, capabilities: { ...known, ...supported } };
      return refusalOf(() => checkCapabilities({ suite: getSuite(SUITE), groupExtensions }, leaf));
    };
    const numbers = [0xf00d];
    const credentials = [1, 0xf00d];
    expect(whenRequired({ extensions: numbers }, {})).toContain('invalid-leaf: LEAF-02: required extension');
    expect(whenRequired({ proposals: numbers }, {})).toContain('invalid-leaf: LEAF-02: required proposal');
    expect(whenRequired({ credentials }, {})).toContain('invalid-leaf: LEAF-02: required credential');
    expect(whenRequired({ extensions: numbers }, { extensions: numbers })).toBe('none');
    expect(whenRequired({ proposals: numbers }, { proposals: numbers })).toBe('none');
    expect(whenRequired({ credentials }, { credentials })).toBe('none');
    // Default types are supported without being listed.
    expect(whenRequired({ extensions: [1, 5], proposals: [1, 7] }, {})).toBe('none');
  });

  it('LEAF-03: in a group with an extension that it does not support', () => {
    const { credential, signatureKey } = device('creator', env);
    const extensions = [{ type: 0xf00d, data: utf8('') }];
    expect(
      refusalOf(() =>
        createGroup({ suite: SUITE, groupId: utf8('g'), credential, signatureKey, extensions }, env),
      ),
    ).toContain('invalid-leaf: LEAF-03');
  });

  it('LEAF-04: with an extension or a credential type that it does not list', () => {
    const extensions = [{ type: 0xf00d, data: utf8('') }];
    expect(whenAdded({ leaf: { extensions } })).toContain('invalid-leaf: LEAF-04');
    expect(whenAdded({ leaf: { capabilities: { ...known, credentials: [2] } } })).toContain(
      'invalid-leaf: LEAF-04',
    );
  });

  it('LEAF-05: outside its lifetime, or with too long a one', () => {
    expect(whenAdded({ leaf: { source: source(now - 9n, now - 1n) } })).toContain('invalid-leaf: LEAF-05');
    expect(whenAdded({ leaf: { source: source(now + 1n, now + 9n) } })).toContain('invalid-leaf: LEAF-05');
    const tooLong = source(now, now + DAYS_400 + 1n);
    expect(whenAdded({ leaf: { source: tooLong } })).toContain('invalid-leaf: LEAF-05: lifetime too long');
  });

  it('LEAF-05: not in the first second of its lifetime, nor in the last, nor with one of 400 days', () => {
    const lifetimes = [
      source(now, now + 1n),
      source(now - 1n, now),
      source(now, now),
      source(now, now + DAYS_400),
    ];
    expect(lifetimes.map((lifetime) => whenAdded({ leaf: { source: lifetime } }))).toEqual(
      lifetimes.map(() => 'none'),
    );
  });

  it.each(unreadable)('LEAF-12: with an extension that can’t be read: %s', (_what, extension) => {
    const forgery = {
      leaf: { capabilities: { ...known, extensions: [extension.type] }, extensions: [extension] },
    };
    const refused = 'invalid-leaf: LEAF-12: an extension of a new member';
    expect(whenAdded(forgery)).toContain(refused);
    // A receiver refuses it, too, in the commit of a careless member.
    const message = decodeMlsMessage(forgeKeyPackage(device('newcomer', env), SUITE, env, forgery));
    if (message.wireFormat !== 'key-package') throw new Error('no key package');
    const add = { type: 'add', keyPackage: message.keyPackage } as const;
    const conversation = ofTwo();
    const forged = { proposals: [byValue(add)], applied: [add], withPath: false };
    const received = forgeCommit(conversation.at(1).group, forged, env);
    expect(refusalOf(() => processCommit(conversation.at(0).group, received, hooks))).toContain(refused);
    const own = { ...device('own', env), leaf: { extensions: [extension] } };
    expect(refusalOf(() => keyPackageOf(own, SUITE, env))).toContain('usage: an extension');
  });

  it('LEAF-12: not with extensions that can be read, nor with an unknown one', () => {
    const extensions = [
      applicationIdExtension(utf8('id')),
      appDataDictionaryExtension([]),
      { type: 0xf00d, data: Uint8Array.of(9, 9, 9) },
    ];
    const capabilities = { ...known, extensions: [6, 0xf00d] };
    expect(whenAdded({ leaf: { capabilities, extensions } })).toBe('none');
  });

  it('LEAF-06: with the source of another place', () =>
    expect(whenAdded({ leaf: { source: { type: 'update' } } })).toContain('invalid-leaf: LEAF-06'));

  it('LEAF-07: in an update that keeps the encryption key', () => {
    const conversation = ofTwo();
    const bob = conversation.at(1).group;
    const leafNode = bob.tree.leaf(bob.ownLeaf);
    if (leafNode === null) throw new Error('no leaf');
    const proposal = { type: 'update', leafNode: { ...leafNode, source: { type: 'update' } } } as const;
    const { stored } = privateMessageOf(bob, { type: 'proposal', proposal }, null, env);
    if (stored === null) throw new Error('no proposal');
    expect(refusalOf(commit(conversation, { proposals: [stored] }))).toContain('invalid-leaf: LEAF-07');
  });

  it('LEAF-08: with the signature key of a member, or of another newcomer', () => {
    const conversation = ofTwo();
    const twin = device('twin', env);
    const member = keyPackageOf(conversation.at(1).device, SUITE, env).bytes;
    const twins = [twin, twin].map((owner) => keyPackageOf(owner, SUITE, env).bytes);
    expect(refusalOf(commit(conversation, { adds: [member] }))).toContain('invalid-leaf: LEAF-08');
    expect(refusalOf(commit(conversation, { adds: twins }))).toContain('invalid-leaf: LEAF-08');
  });

  it('LEAF-09: with the encryption key of another node', () => {
    const conversation = ofTwo();
    const { tree, ownLeaf } = conversation.at(1).group;
    const encryptionKey = tree.leaf(ownLeaf)?.encryptionKey ?? new Uint8Array(0);
    const bytes = forgeKeyPackage(device('newcomer', env), SUITE, env, { leaf: { encryptionKey } });
    expect(refusalOf(commit(conversation, { adds: [bytes] }))).toContain('invalid-leaf: LEAF-09');
  });

  it('LEAF-10: when another member does not support its credential type', () => {
    const tree = ofTwo().at(0).group.tree.clone();
    const leaf = tree.leaf(toLeafIndex(0));
    if (leaf === null) throw new Error('no leaf');
    tree.setLeaf(toLeafIndex(0), { ...leaf, capabilities: { ...leaf.capabilities, credentials: [2] } });
    expect(refusalOf(() => checkTreeLeaves(tree))).toContain('invalid-leaf: LEAF-10');
  });

  it('LEAF-11: with keys of a wrong length', () =>
    expect(whenAdded({ leaf: { encryptionKey: new Uint8Array(31) } })).toContain('invalid-leaf: LEAF-11'));

  it('CRED-01: with an X.509 credential', () => {
    const capabilities = { ...known, credentials: [1, 2] };
    const credential = { type: 'x509', certificates: [utf8('chain')] } as const;
    expect(whenAdded({ leaf: { credential, capabilities } })).toContain('invalid-credential: CRED-01');
    const { signatureKey } = device('creator', env);
    const args = { suite: SUITE, groupId: utf8('group'), credential, signatureKey } as const;
    expect(refusalOf(() => createGroup(args, env))).toContain('invalid-credential: CRED-01');
  });

  it('CRED-02: with a credential that the application does not accept, also when it replaces a good one', () => {
    const memberCheck = (): void => {
      throw new CryptoError('invalid-credential', 'nobody');
    };
    const adds = [keyPackageOf(device('newcomer', env), SUITE, env).bytes];
    expect(refusalOf(commit(ofTwo(), { adds, memberCheck }))).toContain(
      'invalid-credential: CRED-02: nobody',
    );

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
    expect(seen).toEqual([[leaf, { groupId: alice.context.groupId, replaces, now: null }]]);
    expect(refusalOf(() => processCommit(alice, changed, { ...hooks, memberCheck }))).toContain(
      'invalid-credential: CRED-02: nobody',
    );
  });
});

describe('a key package is refused', () => {
  it('KP-01: of another suite', () => {
    const { bytes } = keyPackageOf(device('newcomer', env), 0x004d, env);
    expect(refusalOf(commit(ofTwo(), { adds: [bytes] }))).toContain('invalid-key-package: KP-01');
  });

  it('KP-02: with a bad signature', () =>
    expect(whenAdded({ breakSignature: true })).toContain('bad-signature: KP-02'));

  it.each(unreadable)('KP-05: with an extension that can’t be read: %s', (_what, extension) => {
    expect(whenAdded({ package: { extensions: [extension] } })).toContain('invalid-key-package: KP-05');
  });

  it('KP-05: not with one that marks it as the last resort, nor with an unknown one', () => {
    const unknown = { type: 0xf00d, data: Uint8Array.of(9, 9, 9) };
    const lastResort = { type: ExtensionTypeValue.lastResort, data: utf8('') };
    expect(whenAdded({ package: { extensions: [lastResort, unknown] } })).toBe('none');
  });

  it('KP-03: whose init key is its encryption key', () =>
    expect(whenAdded({ initKeyIsEncryptionKey: true })).toContain('invalid-key-package: KP-03'));
});
