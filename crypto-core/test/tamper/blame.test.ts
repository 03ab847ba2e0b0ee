import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, toHex } from '../../src/bytes.ts';
import { byReference, byValue, type StoredProposal } from '../../src/group/proposalList.ts';
import { MAX_LIFETIME_SECONDS } from '../../src/group/validateLeaf.ts';
import { CryptoError, createCommit, processCommit, processProposal, ready } from '../../src/index.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import { anyone, anything, type Conversation, device, groupOf, keyPackageOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { flip, forgeCommit, forgeKeyPackage, type KeyPackageForgery, privateMessageOf } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('blame');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

function add(bytes: Uint8Array): Proposal {
  const message = decodeMlsMessage(bytes);
  if (message.wireFormat !== 'key-package') throw new Error('no key package');
  return { type: 'add', keyPackage: message.keyPackage };
}

function forged(forgery: KeyPackageForgery): Proposal {
  return add(forgeKeyPackage(device('newcomer', env), SUITE, env, forgery));
}

function remove(leaf: number): Proposal {
  return { type: 'remove', removed: toLeafIndex(leaf) };
}

/** Lets a participant of a conversation propose; Alice and the committer receive it. */
function proposed(conversation: Conversation, by: number, proposal: Proposal): StoredProposal {
  const { group } = conversation.at(by);
  const { bytes } = privateMessageOf(group, { type: 'proposal', proposal }, null, env);
  conversation.at(by).store.saveStep(group);
  return processProposal(conversation.at(0).group, bytes);
}

function errorOf(call: () => unknown): CryptoError {
  try {
    call();
  } catch (error) {
    if (error instanceof CryptoError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

function psk(nonceLength: number): Proposal {
  return { type: 'psk', psk: { type: 'external', pskId: EMPTY, nonce: new Uint8Array(nonceLength) } };
}

/** Makes the wrong proposals, of which the last is to blame. */
const faults: readonly [string, (conversation: Conversation) => readonly Proposal[]][] = [
  ['LEAF-01', () => [forged({ breakLeafSignature: true })]],
  [
    'LEAF-05',
    () => {
      const now = BigInt(Math.floor(env.now() / 1000));
      const lifetime = { notBefore: now, notAfter: now + MAX_LIFETIME_SECONDS + 1n };
      return [forged({ leaf: { source: { type: 'key-package', lifetime } } })];
    },
  ],
  ['LEAF-08', (conversation) => [add(keyPackageOf(conversation.at(3).device, SUITE, env).bytes)]],
  [
    'LEAF-08',
    () => {
      const twin = device('twin', env);
      return [add(keyPackageOf(twin, SUITE, env).bytes), add(keyPackageOf(twin, SUITE, env).bytes)];
    },
  ],
  [
    'LEAF-09',
    (conversation) => {
      const { tree } = conversation.at(0).group;
      const encryptionKey = tree.leaf(toLeafIndex(3))?.encryptionKey ?? EMPTY;
      return [forged({ leaf: { encryptionKey } })];
    },
  ],
  ['LEAF-11', () => [forged({ leaf: { encryptionKey: new Uint8Array(32) } })]],
  ['KP-02', () => [forged({ breakSignature: true })]],
  ['PROP-03', () => [psk(1)]],
  ['PROP-04', () => [psk(32), psk(32)]],
  ['PROP-05', () => [remove(0)]],
  ['PROP-06', () => [remove(9)]],
  ['PROP-07', () => [remove(3), remove(3)]],
  [
    'PROP-08',
    () => {
      const extensions: Proposal = { type: 'group-context-extensions', extensions: [] };
      return [extensions, extensions];
    },
  ],
  [
    'PROP-09',
    () => [remove(3), { type: 'reinit', groupId: EMPTY, version: 1, cipherSuite: SUITE, extensions: [] }],
  ],
  ['PROP-10', () => [{ type: 'external-init', kemOutput: EMPTY }]],
  ['PROP-11', () => [{ type: 'group-context-extensions', extensions: [{ type: 0xf00d, data: EMPTY }] }]],
];

describe('a committer learns which proposal of another member is invalid, and commits the others', () => {
  it.each(faults)('%s', (check, make) => {
    const conversation = groupOf(4, SUITE, env);
    const wrong = make(conversation).map((proposal) => proposed(conversation, 1, proposal));
    const good = proposed(conversation, 2, add(keyPackageOf(device('welcome', env), SUITE, env).bytes));
    const commit = (proposals: readonly StoredProposal[]) =>
      createCommit(
        conversation.at(0).group,
        { ...hooks, proposals, pskLookup: () => new Uint8Array(32) },
        env,
      );
    const list = check === 'PROP-09' ? wrong : [good, ...wrong];
    const error = errorOf(() => commit(list));
    expect(error.detail).toContain(check);
    const refs = wrong.map(({ ref }) => toHex(ref));
    expect(refs).toContain(toHex(error.proposalRef ?? EMPTY));
    // A committer that drops what it is told until nothing is wrong comes to the end.
    let left = list;
    for (let tries = 0; tries < wrong.length; tries += 1) {
      try {
        commit(left);
        break;
      } catch (fault) {
        const named = fault instanceof CryptoError ? toHex(fault.proposalRef ?? EMPTY) : '';
        left = left.filter(({ ref }) => toHex(ref) !== named);
      }
    }
    expect(left).toContain(check === 'PROP-09' ? left[0] : good);
    expect(commit(left).pending.context.epoch).toBe(conversation.at(0).group.context.epoch + 1n);
  });
});

describe('a receiver', () => {
  it('names the proposal by reference that makes a commit invalid, and one that it does not hold', () => {
    const conversation = groupOf(4, SUITE, env);
    const wrong = proposed(conversation, 2, forged({ breakSignature: true }));
    const commit = forgeCommit(conversation.at(1).group, { proposals: [byReference(wrong)] }, env);
    const { group } = conversation.at(0);
    const error = errorOf(() => processCommit(group, commit, { ...hooks, proposals: [wrong] }));
    expect([error.code, error.detail]).toEqual([
      'bad-signature',
      `KP-02: key package (proposal ${toHex(wrong.ref)})`,
    ]);
    expect(error.proposalRef).toEqual(wrong.ref);
    const other = { ...wrong, ref: flip(wrong.ref) };
    const missing = errorOf(() => processCommit(group, commit, { ...hooks, proposals: [other] }));
    expect([missing.code, missing.proposalRef]).toEqual(['missing-proposal', wrong.ref]);
  });

  it('names an Add by value by its number in the commit, as the committer does', () => {
    const conversation = groupOf(4, SUITE, env);
    const { group } = conversation.at(0);
    const good = forged({});
    const wrong = forged({ leaf: { encryptionKey: new Uint8Array(32) } });
    const list = [remove(3), good, wrong].map(byValue);
    const commit = forgeCommit(conversation.at(1).group, { proposals: list }, env);
    const error = errorOf(() => processCommit(group, commit, hooks));
    const refused = 'LEAF-11: encryption key of a new member (proposal 2 of the commit)';
    expect([error.code, error.detail, error.proposalRef]).toEqual(['invalid-leaf', refused, null]);
    const adds = [{}, { leaf: { encryptionKey: new Uint8Array(32) } }].map((forgery) =>
      forgeKeyPackage(device('newcomer', env), SUITE, env, forgery),
    );
    const own = errorOf(() => createCommit(group, { ...hooks, removes: [toLeafIndex(3)], adds }, env));
    expect(own.detail).toBe(refused);
    const lifetime = { notBefore: 0n, notAfter: 1n };
    const late = forgeKeyPackage(device('late', env), SUITE, env, {
      leaf: { source: { type: 'key-package', lifetime } },
    });
    const expired = errorOf(() => createCommit(group, { ...hooks, adds: [late] }, env));
    expect(expired.detail).toBe('LEAF-05: outside its lifetime (proposal 0 of the commit)');
  });

  it('names none for a fault of the commit itself', () => {
    const conversation = groupOf(4, SUITE, env);
    const commit = forgeCommit(conversation.at(1).group, { confirmationTag: flip }, env);
    expect(errorOf(() => processCommit(conversation.at(0).group, commit, hooks)).proposalRef).toBeNull();
  });
});
