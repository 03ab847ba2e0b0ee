import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import {
  createCommit,
  type CreateCommitArgs,
  CryptoError,
  exportGroupInfo,
  type ExternalJoin,
  type Group,
  joinExternal,
  type PreSharedKeyId,
  processCommit,
  processProposal,
  ready,
} from '../../src/index.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { checkProposalSender } from '../../src/group/validateProposals.ts';
import type { ProposalOrRef } from '../../src/structs/commit.ts';
import { ExtensionTypeValue } from '../../src/structs/extension.ts';
import { writeExternalSender } from '../../src/structs/externalSender.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import {
  anyone,
  anything,
  Conversation,
  type Device,
  device,
  refusal,
  refusedBy,
} from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { forgeCommit, forgeExternal, privateMessageOf } from './forge.ts';

const SUITE = 0x0003;
const env = testEnv('proposals');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

function ofThree(): Conversation {
  const conversation = new Conversation(SUITE, env);
  conversation.add(conversation.at(0), [device('device 1', env), device('device 2', env)]);
  return conversation;
}

function own(conversation: Conversation, args: Partial<CreateCommitArgs>): () => unknown {
  return () => createCommit(conversation.at(0).group, { ...hooks, ...args }, env);
}

/** Bob commits this list; Alice refuses it. */
function refusedWhenReceived(check: string, code: string, list: (bob: Group) => readonly Proposal[]): void {
  const conversation = ofThree();
  const bob = conversation.at(1).group;
  const commit = forgeCommit(bob, { proposals: list(bob).map(byValue) }, env);
  refusedBy(check, code, () => processCommit(conversation.at(0).group, commit, hooks));
  conversation.expectAgreement([conversation.at(1)]);
}

function remove(removed: number): Proposal {
  return { type: 'remove', removed: toLeafIndex(removed) };
}

function externalPsk(nonceLength: number): PreSharedKeyId {
  return { type: 'external', pskId: utf8('psk'), nonce: new Uint8Array(nonceLength) };
}

const extensionsProposal: Proposal = { type: 'group-context-extensions', extensions: [] };
const reInit = {
  type: 'reinit',
  groupId: utf8('next'),
  version: 1,
  cipherSuite: SUITE,
  extensions: [],
} as const satisfies Proposal;

describe('a list of proposals is refused', () => {
  it('PROP-01: that refers to an unknown proposal', () => {
    const conversation = ofThree();
    const reference = new Uint8Array(32);
    const commit = forgeCommit(
      conversation.at(1).group,
      { proposals: [{ type: 'reference', reference }] },
      env,
    );
    refusedBy('PROP-01', 'missing-proposal', () => processCommit(conversation.at(0).group, commit, hooks));
  });

  it('PROP-02: with a proposal that its sender may not make', () => {
    const external = { type: 'external', senderIndex: 0 } as const;
    const externalInit: Proposal = { type: 'external-init', kemOutput: utf8('') };
    refusedBy('PROP-02', 'invalid-proposal', () => checkProposalSender(externalInit, external));
    refusedBy('PROP-02', 'invalid-proposal', () =>
      checkProposalSender(remove(0), { type: 'new-member-proposal' }),
    );
    checkProposalSender(remove(0), external);
  });

  it('PROP-03: with a PSK for reinitialization or branching, or a nonce of a wrong length', () => {
    const nonce = new Uint8Array(32);
    for (const usage of ['reinit', 'branch'] as const) {
      const psk: PreSharedKeyId = { type: 'resumption', usage, groupId: utf8('g'), epoch: 1n, nonce };
      refusedBy('PROP-03', 'invalid-proposal', own(ofThree(), { psks: [psk] }));
    }
    refusedWhenReceived('PROP-03', 'invalid-proposal', () => [{ type: 'psk', psk: externalPsk(31) }]);
  });

  it('PROP-04: with the same PSK twice', () => {
    const psk = externalPsk(32);
    refusedWhenReceived('PROP-04', 'invalid-proposal', () => [
      { type: 'psk', psk },
      { type: 'psk', psk },
    ]);
  });

  it('PROP-05: with an Update or a Remove of the committer', () => {
    refusedWhenReceived('PROP-05', 'invalid-proposal', ({ ownLeaf }) => [remove(ownLeaf)]);
    refusedWhenReceived('PROP-05', 'invalid-proposal', ({ tree, ownLeaf }) => {
      const leafNode = tree.leaf(ownLeaf);
      return leafNode === null ? [] : [{ type: 'update', leafNode }];
    });
  });

  it('PROP-06: that removes a blank leaf, or one outside the tree', () => {
    refusedWhenReceived('PROP-06', 'invalid-proposal', () => [remove(3)]);
    refusedWhenReceived('PROP-06', 'invalid-proposal', () => [remove(0xffffffff)]);
    refusedBy('PROP-06', 'invalid-proposal', own(ofThree(), { removes: [toLeafIndex(77)] }));
  });

  it('PROP-07: that changes a leaf twice', () =>
    refusedWhenReceived('PROP-07', 'invalid-proposal', () => [remove(2), remove(2)]));

  it('PROP-08: that replaces the extensions twice', () =>
    refusedWhenReceived('PROP-08', 'invalid-proposal', () => [extensionsProposal, extensionsProposal]));

  it('PROP-09: with a ReInit beside others, or to an older version', () => {
    refusedWhenReceived('PROP-09', 'invalid-proposal', () => [reInit, remove(2)]);
    refusedWhenReceived('PROP-09', 'invalid-proposal', () => [{ ...reInit, version: 0 }]);
  });

  it('PROP-10: of a member, with an ExternalInit', () =>
    refusedWhenReceived('PROP-10', 'invalid-proposal', () => [
      { type: 'external-init', kemOutput: utf8('x') },
    ]));

  it('PROP-11: that gives the group extensions which a member does not support', () => {
    const extensions = [{ type: 0xf00d, data: utf8('') }];
    refusedWhenReceived('PROP-11', 'invalid-proposal', () => [
      { type: 'group-context-extensions', extensions },
    ]);
  });

  it('PROP-12: with external senders that the application does not accept', () => {
    const { credential, signatureKey } = device('bot', env);
    const sender = { credential, signatureKey: signatureKey.publicKey };
    const data = encode([sender], (w, senders) => w.vector(senders, writeExternalSender));
    const extensions = [{ type: ExtensionTypeValue.externalSenders, data }];
    const memberCheck = (): void => {
      throw new CryptoError('invalid-credential', 'nobody');
    };
    own(ofThree(), { extensions })();
    refusedBy('nobody', 'invalid-credential', own(ofThree(), { extensions, memberCheck }));
  });

  it('PSK-01: with a PSK that is not held here', () =>
    refusedBy('PSK-01', 'missing-psk', own(ofThree(), { psks: [externalPsk(32)] })));
});

describe('an external commit is refused', () => {
  interface Attempt {
    readonly conversation: Conversation;
    readonly joiner: Device;
    readonly join: ExternalJoin;
  }

  function attempt(): Attempt {
    const conversation = ofThree();
    const joiner = device('joiner', env);
    const info = exportGroupInfo(conversation.at(0).group);
    return { conversation, joiner, join: joinExternal(info, { ...joiner, memberCheck: anyone }, env) };
  }

  function refusedWithList(
    check: string,
    change: (honest: readonly ProposalOrRef[]) => readonly ProposalOrRef[],
  ): void {
    const { conversation, joiner, join } = attempt();
    const alice = conversation.at(0).group;
    const forged = forgeExternal(join.commit, joiner.signatureKey, alice.context, (commit) => ({
      ...commit,
      proposals: change(commit.proposals),
    }));
    refusedBy(check, 'invalid-proposal', () => processCommit(alice, forged, hooks));
    // The honest one is still accepted.
    processCommit(alice, join.commit, hooks);
  }

  it('EXT-01: without exactly one ExternalInit', () => {
    refusedWithList('EXT-01', () => []);
    refusedWithList('EXT-01', (honest) => [...honest, ...honest]);
  });

  it('EXT-02: with two Removes', () =>
    refusedWithList('EXT-02', (honest) => [...honest, byValue(remove(0)), byValue(remove(1))]));

  it('EXT-03: with any other proposal', () =>
    refusedWithList('EXT-03', (honest) => [...honest, byValue(extensionsProposal)]));

  it('EXT-04: with a proposal by reference', () => {
    const { conversation, joiner, join } = attempt();
    const alice = conversation.at(0).group;
    const bob = conversation.at(1).group;
    const psk = { type: 'psk', psk: externalPsk(32) } as const;
    const { bytes } = privateMessageOf(bob, { type: 'proposal', proposal: psk }, null, env);
    const stored = processProposal(alice, bytes);
    const forged = forgeExternal(join.commit, joiner.signatureKey, alice.context, (commit) => ({
      ...commit,
      proposals: [...commit.proposals, { type: 'reference', reference: stored.ref }],
    }));
    refusedBy('EXT-04', 'invalid-proposal', () =>
      processCommit(alice, forged, { ...hooks, proposals: [stored] }),
    );
  });

  it('EXT-05: without a path', () => {
    const { conversation, joiner, join } = attempt();
    const alice = conversation.at(0).group;
    const forged = forgeExternal(join.commit, joiner.signatureKey, alice.context, (commit) => ({
      ...commit,
      path: null,
    }));
    refusedBy('EXT-05', 'invalid-commit', () => processCommit(alice, forged, hooks));
  });

  it('that was signed by somebody else, or is of another epoch', () => {
    const { conversation, join } = attempt();
    const alice = conversation.at(0);
    const forged = forgeExternal(
      join.commit,
      device('other', env).signatureKey,
      alice.group.context,
      (commit) => commit,
    );
    refusal('bad-signature', () => processCommit(alice.group, forged, hooks));
    conversation.update(conversation.at(1));
    refusal('wrong-epoch', () => processCommit(alice.group, join.commit, hooks));
  });

  it('that removes a leaf whose successor the application does not see in it', () => {
    const conversation = ofThree();
    const bob = conversation.at(1).device;
    const info = exportGroupInfo(conversation.at(0).group);
    const credential = { type: 'basic', identity: utf8('mallory') } as const;
    const join = joinExternal(info, { ...bob, credential, memberCheck: anyone, resync: true }, env);
    const memberCheck: typeof anyone = (leaf, { replaces }) => {
      if (replaces !== null)
        expect({ leaf: leaf.credential, replaces }).toEqual({ leaf: credential, replaces: bob.credential });
      if (replaces !== null) throw new CryptoError('invalid-credential', 'no successor');
    };
    const alice = conversation.at(0).group;
    refusedBy('no successor', 'invalid-credential', () =>
      processCommit(alice, join.commit, { ...hooks, memberCheck }),
    );
    expect(processCommit(alice, join.commit, hooks).removes).toHaveLength(1);
  });
});
