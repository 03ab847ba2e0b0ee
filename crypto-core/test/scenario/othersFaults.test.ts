/**
 * Faults that other implementations of MLS had and mended, each told by the number under which they did. None of them
 * was found here; these tests keep it so.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { findGroupBinding, groupBindingExtension } from '../../src/account/index.ts';
import { concat, EMPTY, utf8 } from '../../src/bytes.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode, varintLength } from '../../src/codec/writer.ts';
import { byReference, byValue } from '../../src/group/proposalList.ts';
import {
  applicationIdExtension,
  type CommitProposal,
  CryptoError,
  createCommit,
  createProposal,
  decodeKeyPackage,
  exportGroupInfo,
  findApplicationId,
  joinExternal,
  peekMessage,
  processCommit,
  processProposal,
  ready,
  toLeafIndex,
} from '../../src/index.ts';
import { writeRequiredCapabilities } from '../../src/structs/capabilities.ts';
import {
  type Extension,
  ExtensionTypeValue,
  readExtension,
  writeExtension,
} from '../../src/structs/extension.ts';
import { writeExternalSender } from '../../src/structs/externalSender.ts';
import { groupInfoTBS } from '../../src/structs/groupInfo.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import { signWithLabel } from '../../src/suite/labels.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { forgeCommit, privateMessageOf } from '../tamper/forge.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, device, groupOf, keyPackageOf } from './world.ts';

const SUITE = 0x0003;
const env = testEnv('faults of others');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

describe('a fault that OpenMLS had', () => {
  it.each([
    [0x3f, 1],
    [0x40, 2],
    [0x3fff, 2],
    [0x4000, 4],
  ])('#2147: an extension of %i bytes has a header of %i', (length, header) => {
    const extension = { type: 0xf00d, data: new Uint8Array(length).fill(7) };
    const bytes = encode(extension, writeExtension);
    expect(bytes.length).toBe(2 + header + length);
    expect(decode(bytes, readExtension)).toEqual(extension);
  });

  it('#2147: the longest vector has a header of 4 bytes, and a longer one has none', () => {
    expect(varintLength(0x3fffffff)).toBe(4);
    expect(codeOf(() => varintLength(0x40000000))).toBe('usage');
  });

  it('#2134: an extension with bytes after its value is refused, whatever reads it', () => {
    const { group } = groupOf(2, SUITE, env).at(0);
    const trailing = (data: Uint8Array): Uint8Array => concat(data, Uint8Array.of(0));
    const none = { extensions: [], proposals: [], credentials: [] };
    const required = encode(none, writeRequiredCapabilities);
    const senders = encode([], (w, list) => w.vector(list, writeExternalSender));
    const change = (extension: Extension) => () =>
      createCommit(group, { ...hooks, extensions: [extension] }, env);
    const { requiredCapabilities, externalSenders } = ExtensionTypeValue;
    expect(codeOf(change({ type: requiredCapabilities, data: required }))).toBe('none');
    expect(codeOf(change({ type: requiredCapabilities, data: trailing(required) }))).toBe('malformed');
    expect(codeOf(change({ type: externalSenders, data: senders }))).toBe('none');
    expect(codeOf(change({ type: externalSenders, data: trailing(senders) }))).toBe('malformed');
    const binding = groupBindingExtension({ creatorId: 'anna' });
    const longer = { ...binding, data: trailing(binding.data) };
    expect(codeOf(() => findGroupBinding([longer]))).toBe('malformed');
  });

  it('#2134: a ratchet_tree or an external_pub with bytes after it is refused', () => {
    const { group } = groupOf(2, SUITE, env).at(0);
    const message = decodeMlsMessage(exportGroupInfo(group));
    if (message.wireFormat !== 'group-info') throw new Error('no group info');
    const { groupInfo } = message;
    // Signed again, as the member could have, so that nothing else is wrong.
    const joinWith = (longer: number | null): string => {
      const extensions = groupInfo.extensions.map(({ type, data }) => ({
        type,
        data: type === longer ? concat(data, Uint8Array.of(0)) : data,
      }));
      const tbs = groupInfoTBS({ ...groupInfo, extensions });
      const signature = signWithLabel(group.suite, group.signaturePrivateKey, 'GroupInfoTBS', tbs);
      const bytes = encodeMlsMessage({
        wireFormat: 'group-info',
        groupInfo: { ...groupInfo, extensions, signature },
      });
      return codeOf(() => joinExternal(bytes, { ...device('joiner', env), memberCheck: anyone }, env));
    };
    expect(joinWith(null)).toBe('none');
    expect(joinWith(ExtensionTypeValue.ratchetTree)).toBe('malformed');
    expect(joinWith(ExtensionTypeValue.externalPub)).toBe('malformed');
  });

  it('#2134: an application_id with bytes after it is refused', () => {
    const extension = applicationIdExtension(utf8('an id'));
    expect(findApplicationId([extension])).toEqual(utf8('an id'));
    const longer = { ...extension, data: concat(extension.data, Uint8Array.of(0)) };
    expect(codeOf(() => findApplicationId([longer]))).toBe('malformed');
  });

  it('#2125, of whatever extensions: a change of them reaches the application beside any proposals, and alone', () => {
    const conversation = groupOf(3, SUITE, env);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const extensions = [groupBindingExtension({ creatorId: 'mallory' })];
    const seen: boolean[] = [];
    const policy = ({ changesExtensions }: CommitProposal): void => {
      seen.push(changesExtensions);
      if (changesExtensions) throw new CryptoError('policy');
    };
    const proposal: Proposal = { type: 'group-context-extensions', extensions };
    const { bytes } = privateMessageOf(conversation.at(2).group, { type: 'proposal', proposal }, null, env);
    const stored = processProposal(bob.group, bytes);
    const proposals = [stored];
    const removes = [toLeafIndex(2)];
    const { group } = alice;
    for (const args of [{ extensions }, { extensions, removes }, { proposals }, { proposals, removes }]) {
      const { commit } = createCommit(bob.group, { ...hooks, ...args }, env);
      expect(codeOf(() => processCommit(group, commit, { ...hooks, policy, proposals }))).toBe('policy');
    }
    expect(seen).toEqual([true, true, true, true]);
  });

  it('#1846: a received message uses up its key in what is stored too', () => {
    const conversation = groupOf(3, SUITE, env);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const first = alice.send('first', env);
    const second = alice.send('second', env);
    expect(bob.receive(second)).toBe('second');
    expect(codeOf(() => bob.receive(second))).toBe('replayed');
    expect(bob.receive(first)).toBe('first');
    expect(codeOf(() => bob.receive(first))).toBe('replayed');
    const { group, message } = createProposal(alice.group, { type: 'update' }, env);
    alice.store.saveSameEpoch(group);
    const received = bob.group;
    processProposal(received, message);
    bob.store.saveStep(received);
    expect(codeOf(() => processProposal(bob.group, message))).toBe('replayed');
  });

  it('#1928: a commit with a PSK that occurs twice is refused, by value and by reference', () => {
    const conversation = groupOf(3, SUITE, env);
    const [alice, bob] = [conversation.at(0).group, conversation.at(1).group];
    const id = { type: 'external', pskId: utf8('psk'), nonce: new Uint8Array(32) } as const;
    const proposal: Proposal = { type: 'psk', psk: id };
    const carol = conversation.at(2).group;
    const { bytes } = privateMessageOf(carol, { type: 'proposal', proposal }, null, env);
    const stored = processProposal(alice, bytes);
    for (const first of [byValue(proposal), byReference(stored)]) {
      const commit = forgeCommit(bob, { proposals: [first, byValue(proposal)] }, env);
      const args = { ...hooks, proposals: [stored], psks: () => new Uint8Array(32) };
      expect(refusalOf(() => processCommit(alice, commit, args))).toContain('invalid-proposal: PROP-04');
    }
  });

  it('#1793: an external committer has the leaf that is free after its removals, at every member', () => {
    for (const [lost, size] of [
      [1, 3],
      [4, 5],
      [2, 4],
    ] as const) {
      const conversation = groupOf(size, SUITE, env);
      const participant = conversation.at(lost);
      const { ownLeaf } = participant.group;
      conversation.comeBack(participant);
      expect(conversation.disagreements()).toEqual([]);
      expect(conversation.at(size - 1).group.ownLeaf).toBe(ownLeaf);
    }
  });

  it('#2186: a commit of a sender outside the tree is refused', () => {
    const conversation = groupOf(3, SUITE, env);
    const { group } = conversation.at(0);
    const bob = conversation.at(1).group;
    const content = { type: 'commit', commit: { proposals: [], path: null } } as const;
    const forge = (leaf: number) =>
      privateMessageOf({ ...bob, ownLeaf: toLeafIndex(leaf) }, content, new Uint8Array(32), env).bytes;
    expect(codeOf(() => processCommit(group, forge(3), hooks))).toBe('unknown-sender');
    // The sender's own secret tree has no leaf beyond its size either.
    expect(codeOf(() => forge(4))).toBe('missing-key');
  });

  it('GHSA-8x3w-qj7j-gqhf: a tag that is cut short, or empty, does not hold', () => {
    const conversation = groupOf(2, SUITE, env);
    const { group } = conversation.at(0);
    const bob = conversation.at(1).group;
    const honest = forgeCommit(bob, {}, env);
    expect(codeOf(() => processCommit(group, honest, hooks))).toBe('none');
    for (const length of [0, 1, 16, 31]) {
      const cut = forgeCommit(bob, { confirmationTag: (tag) => tag.subarray(0, length) }, env);
      expect(codeOf(() => processCommit(group, cut, hooks))).toBe('bad-confirmation-tag');
    }
    const longer = forgeCommit(bob, { confirmationTag: (tag) => concat(tag, Uint8Array.of(0)) }, env);
    expect(codeOf(() => processCommit(group, longer, hooks))).toBe('bad-confirmation-tag');
  });

  it('GHSA-rrmv-c79f-cf5r: a message that ends anywhere before its end is malformed', () => {
    const conversation = groupOf(3, SUITE, env);
    const bundle = keyPackageOf(device('newcomer', env), SUITE, env);
    const created = conversation.at(0).commit({ adds: [bundle.bytes] }, env);
    const external = joinExternal(created.groupInfo, { ...device('x', env), memberCheck: anyone }, env);
    const messages = [
      created.commit,
      created.welcome ?? EMPTY,
      created.groupInfo,
      bundle.bytes,
      external.commit,
    ];
    for (const bytes of messages) {
      expect(codeOf(() => peekMessage(bytes))).toBe('none');
      for (let length = 0; length < bytes.length; length += 1) {
        expect(codeOf(() => peekMessage(bytes.subarray(0, length)))).toBe('malformed');
      }
    }
    expect(codeOf(() => decodeKeyPackage(bundle.bytes.subarray(0, 100)))).toBe('malformed');
  });
});

describe('a fault that ts-mls had', () => {
  it('#647: the member at leaf 0 may propose an update too', () => {
    const conversation = groupOf(3, SUITE, env);
    const [alice, bob, carol] = [conversation.at(0), conversation.at(1), conversation.at(2)];
    const { group, message, proposal } = createProposal(alice.group, { type: 'update' }, env);
    const stored = processProposal(bob.group, message);
    expect(stored.ref).toEqual(proposal.ref);
    const { commit, pending } = createCommit(bob.group, { ...hooks, proposals: [stored] }, env);
    const after = processCommit(group, commit, { ...hooks, proposals: [proposal] });
    const other = processProposal(carol.group, message);
    const third = processCommit(carol.group, commit, { ...hooks, proposals: [other] });
    expect(after.group.secrets).toEqual(pending.secrets);
    expect(third.group.secrets).toEqual(pending.secrets);
  });

  it('#627: a path with one public key twice is refused (COMMIT-02)', () => {
    const conversation = groupOf(8, SUITE, env);
    const commit = forgeCommit(
      conversation.at(1).group,
      {
        path: (path) => {
          const { encryptionKey } = path.nodes[0] ?? { encryptionKey: EMPTY };
          return {
            ...path,
            nodes: path.nodes.map((node, at) => (at === 2 ? { ...node, encryptionKey } : node)),
          };
        },
      },
      env,
    );
    expect(refusalOf(() => processCommit(conversation.at(0).group, commit, hooks))).toContain(
      'invalid-commit: COMMIT-02: a key occurs twice',
    );
  });
});

describe('a fault that mls-rs had', () => {
  it('#352: a tree is valid whose unmerged leaves are below blank nodes that are siblings on a path', () => {
    const conversation = groupOf(8, SUITE, env);
    // Blanks the nodes above leaf 5, renews the left half, and adds somebody back below the blank ones.
    conversation.remove(conversation.at(4), [conversation.at(5)]);
    conversation.update(conversation.at(0));
    conversation.add(conversation.at(0), [device('newcomer', env)]);
    conversation.remove(conversation.at(0), [conversation.at(2)]);
    conversation.add(conversation.at(3), [device('another', env), device('third', env)]);
    conversation.joinFromOutside(device('outsider', env));
    expect(conversation.disagreements()).toEqual([]);
  });
});
