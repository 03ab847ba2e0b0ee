import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { checkProposalSender } from '../../src/group/validateProposals.ts';
import {
  type CreateCommitArgs,
  CryptoError,
  createCommit,
  type ExternalJoin,
  exportGroupInfo,
  type Group,
  joinExternal,
  type PreSharedKeyId,
  processCommit,
  processProposal,
  ready,
} from '../../src/index.ts';
import type { ProposalOrRef } from '../../src/structs/commit.ts';
import { ExtensionTypeValue } from '../../src/structs/extension.ts';
import { writeExternalSender } from '../../src/structs/externalSender.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { anyone, anything, Conversation, type Device, device } from '../scenario/world.ts';
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

/** Lets Alice process a commit of Bob's with this list, which must not change her. @returns the refusal, or 'none' */
function whenReceived(list: (bob: Group) => readonly Proposal[]): string {
  const conversation = ofThree();
  const bob = conversation.at(1).group;
  const commit = forgeCommit(bob, { proposals: list(bob).map(byValue) }, env);
  const refusal = refusalOf(() => processCommit(conversation.at(0).group, commit, hooks));
  const disagreements = conversation.disagreements([conversation.at(1)]);
  if (disagreements.length > 0) throw new Error(disagreements.join());
  return refusal;
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
    expect(refusalOf(() => processCommit(conversation.at(0).group, commit, hooks))).toContain(
      'missing-proposal: PROP-01',
    );
  });

  it('PROP-01: that refers to a proposal of an earlier epoch', () => {
    const conversation = ofThree();
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const proposal = { type: 'psk', psk: externalPsk(32) } as const;
    const { bytes } = privateMessageOf(bob.group, { type: 'proposal', proposal }, null, env);
    const stored = processProposal(alice.group, bytes);
    conversation.update(bob);
    const commit = forgeCommit(bob.group, { proposals: [{ type: 'reference', reference: stored.ref }] }, env);
    expect(refusalOf(() => processCommit(alice.group, commit, { ...hooks, proposals: [stored] }))).toContain(
      'missing-proposal: PROP-01',
    );
  });

  it('PROP-02: with a proposal that its sender may not make', () => {
    const external = { type: 'external', senderIndex: 0 } as const;
    const externalInit: Proposal = { type: 'external-init', kemOutput: utf8('') };
    expect(refusalOf(() => checkProposalSender(externalInit, external))).toContain(
      'invalid-proposal: PROP-02',
    );
    expect(refusalOf(() => checkProposalSender(remove(0), { type: 'new-member-proposal' }))).toContain(
      'invalid-proposal: PROP-02',
    );
    for (const sender of [external, { type: 'new-member-proposal' }] as const) {
      expect(refusalOf(() => checkProposalSender({ type: 'self-remove' }, sender))).toContain('PROP-02');
    }
    checkProposalSender(remove(0), external);
  });

  it('PROP-03: with a PSK for reinitialization or branching, or a nonce of a wrong length', () => {
    const nonce = new Uint8Array(32);
    for (const usage of ['reinit', 'branch'] as const) {
      const psk: PreSharedKeyId = { type: 'resumption', usage, groupId: utf8('g'), epoch: 1n, nonce };
      expect(refusalOf(own(ofThree(), { psks: [psk] }))).toContain('invalid-proposal: PROP-03');
    }
    expect(whenReceived(() => [{ type: 'psk', psk: externalPsk(31) }])).toContain(
      'invalid-proposal: PROP-03',
    );
  });

  it('PROP-04: with the same PSK twice', () => {
    const psk = externalPsk(32);
    expect(
      whenReceived(() => [
        { type: 'psk', psk },
        { type: 'psk', psk },
      ]),
    ).toContain('invalid-proposal: PROP-04');
  });

  it('PROP-05: with an Update or a Remove of the committer', () => {
    expect(whenReceived(({ ownLeaf }) => [remove(ownLeaf)])).toContain('invalid-proposal: PROP-05');
    expect(
      whenReceived(({ tree, ownLeaf }) => {
        const leafNode = tree.leaf(ownLeaf);
        return leafNode === null ? [] : [{ type: 'update', leafNode }];
      }),
    ).toContain('invalid-proposal: PROP-05');
  });

  it('PROP-06: that removes a blank leaf, or one outside the tree', () => {
    expect(whenReceived(() => [remove(3)])).toContain('invalid-proposal: PROP-06');
    expect(whenReceived(() => [remove(0xffffffff)])).toContain('invalid-proposal: PROP-06');
    expect(refusalOf(own(ofThree(), { removes: [toLeafIndex(77)] }))).toContain('invalid-proposal: PROP-06');
  });

  it('PROP-07: that changes a leaf twice', () =>
    expect(whenReceived(() => [remove(2), remove(2)])).toContain('invalid-proposal: PROP-07'));

  it('PROP-08: that replaces the extensions twice', () =>
    expect(whenReceived(() => [extensionsProposal, extensionsProposal])).toContain(
      'invalid-proposal: PROP-08',
    ));

  it('PROP-09: with a ReInit beside others, or to an older version', () => {
    expect(whenReceived(() => [reInit, remove(2)])).toContain('invalid-proposal: PROP-09');
    expect(whenReceived(() => [{ ...reInit, version: 0 }])).toContain('invalid-proposal: PROP-09');
  });

  it('PROP-10: of a member, with an ExternalInit', () =>
    expect(whenReceived(() => [{ type: 'external-init', kemOutput: utf8('x') }])).toContain(
      'invalid-proposal: PROP-10',
    ));

  it('PROP-11: that gives the group extensions which a member does not support', () => {
    const extensions = [{ type: 0xf00d, data: utf8('') }];
    expect(whenReceived(() => [{ type: 'group-context-extensions', extensions }])).toContain(
      'invalid-proposal: PROP-11',
    );
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
    expect(refusalOf(own(ofThree(), { extensions, memberCheck }))).toContain(
      'invalid-credential: PROP-12: nobody',
    );
  });

  it('PSK-01: with a PSK that is not held here', () =>
    expect(refusalOf(own(ofThree(), { psks: [externalPsk(32)] }))).toContain('missing-psk: PSK-01'));
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

  /** Lets Alice process an external commit with this list, then the honest one. @returns the refusal of the first */
  function withList(change: (honest: readonly ProposalOrRef[]) => readonly ProposalOrRef[]): string {
    const { conversation, joiner, join } = attempt();
    const alice = conversation.at(0).group;
    const forged = forgeExternal(join.commit, joiner.signatureKey, alice.context, (commit) => ({
      ...commit,
      proposals: change(commit.proposals),
    }));
    const refusal = refusalOf(() => processCommit(alice, forged, hooks));
    processCommit(alice, join.commit, hooks);
    return refusal;
  }

  it('EXT-01: without exactly one ExternalInit', () => {
    expect(withList(() => [])).toContain('invalid-proposal: EXT-01');
    expect(withList((honest) => [...honest, ...honest])).toContain('invalid-proposal: EXT-01');
  });

  it('EXT-02: with two Removes', () =>
    expect(withList((honest) => [...honest, byValue(remove(0)), byValue(remove(1))])).toContain(
      'invalid-proposal: EXT-02',
    ));

  it('EXT-03: with any other proposal', () =>
    expect(withList((honest) => [...honest, byValue(extensionsProposal)])).toContain(
      'invalid-proposal: EXT-03',
    ));

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
    expect(refusalOf(() => processCommit(alice, forged, { ...hooks, proposals: [stored] }))).toContain(
      'invalid-proposal: EXT-04',
    );
  });

  it('EXT-05: without a path', () => {
    const { conversation, joiner, join } = attempt();
    const alice = conversation.at(0).group;
    const forged = forgeExternal(join.commit, joiner.signatureKey, alice.context, (commit) => ({
      ...commit,
      path: null,
    }));
    expect(refusalOf(() => processCommit(alice, forged, hooks))).toContain('invalid-commit: EXT-05');
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
    expect(codeOf(() => processCommit(alice.group, forged, hooks))).toBe('bad-signature');
    conversation.update(conversation.at(1));
    expect(codeOf(() => processCommit(alice.group, join.commit, hooks))).toBe('wrong-epoch');
  });

  it('that removes a leaf when the application refuses its committer as the successor', () => {
    const conversation = ofThree();
    const bob = conversation.at(1).device;
    const info = exportGroupInfo(conversation.at(0).group);
    const credential = { type: 'basic', identity: utf8('mallory') } as const;
    const join = joinExternal(info, { ...bob, credential, memberCheck: anyone, resync: true }, env);
    const successions: unknown[] = [];
    const memberCheck: typeof anyone = (leaf, { replaces }) => {
      if (replaces === null) return;
      successions.push({ from: replaces, to: leaf.credential });
      throw new CryptoError('invalid-credential', 'no successor');
    };
    const alice = conversation.at(0).group;
    expect(refusalOf(() => processCommit(alice, join.commit, { ...hooks, memberCheck }))).toContain(
      'invalid-credential: CRED-02: no successor',
    );
    expect(successions).toEqual([{ from: bob.credential, to: credential }]);
    expect(processCommit(alice, join.commit, hooks).removes).toHaveLength(1);
  });
});
