import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import {
  CryptoError,
  createCommit,
  createProposal,
  type Extension,
  joinByWelcome,
  type PreSharedKeyId,
  type ProposalRequest,
  type PskLookup,
  processCommit,
  processProposal,
  ready,
  type StoredProposal,
} from '../../src/index.ts';
import { writeRequiredCapabilities } from '../../src/structs/capabilities.ts';
import { ExtensionTypeValue } from '../../src/structs/extension.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, device, keyPackageOf, Participant, SUITES } from './world.ts';

beforeAll(ready);

const hooks = { memberCheck: anyone, policy: anything };

function ofThree(suite: (typeof SUITES)[number], seed: string): Conversation {
  const conversation = new Conversation(suite, testEnv(seed));
  conversation.add(conversation.at(0), [
    device('device 1', conversation.env),
    device('device 2', conversation.env),
  ]);
  return conversation;
}

/** Sends a proposal to everybody; returns it as each participant stored it. */
function propose(conversation: Conversation, by: Participant, request: ProposalRequest): StoredProposal[] {
  const created = createProposal(by.group, request, conversation.env);
  by.store.saveSameEpoch(created.group);
  return conversation.participants.map((participant) => {
    if (participant === by) return created.proposal;
    const state = participant.group;
    const stored = processProposal(state, created.message);
    participant.store.saveStep(state);
    return stored;
  });
}

describe.each(SUITES)('proposals in suite %i', (suite) => {
  it('are committed by reference, an own update included', () => {
    const conversation = ofThree(suite, 'by reference');
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const newcomer = device('device 3', conversation.env);
    const bundle = keyPackageOf(newcomer, suite, conversation.env);
    const before = bob.group.tree.leaf(bob.group.ownLeaf)?.encryptionKey;
    const update = propose(conversation, bob, { type: 'update' });
    const add = propose(conversation, bob, { type: 'add', keyPackage: bundle.bytes });
    const all = update.map((item, index) => [item, add[index]].filter((stored) => stored !== undefined));
    const { pending, commit, welcome } = createCommit(
      alice.group,
      { proposals: all[0] ?? [], ...hooks },
      conversation.env,
    );
    alice.store.saveEpoch(pending);
    for (const [index, participant] of conversation.participants.entries()) {
      if (participant === alice) continue;
      expect(codeOf(() => participant.process(commit))).toBe('missing-proposal');
      const { group } = processCommit(participant.group, commit, { proposals: all[index] ?? [], ...hooks });
      participant.store.saveEpoch(group);
    }
    if (welcome === null) throw new Error('no welcome');
    const joined = joinByWelcome(welcome, bundle, newcomer.signatureKey, hooks);
    conversation.participants.push(new Participant(newcomer, joined));
    expect(bob.group.tree.leaf(bob.group.ownLeaf)?.encryptionKey).not.toEqual(before);
    expect(conversation.disagreements()).toEqual([]);
    conversation.update(bob);
    expect(conversation.disagreements()).toEqual([]);
  });

  it('are refused by their own sender, and may remove their own sender', () => {
    const conversation = ofThree(suite, 'leave');
    const [alice, , carol] = conversation.participants;
    if (alice === undefined || carol === undefined) throw new Error('not three');
    const { message } = createProposal(
      carol.group,
      { type: 'remove', removed: carol.group.ownLeaf },
      conversation.env,
    );
    expect(codeOf(() => processProposal(carol.group, message))).toBe('own-message');
    const stored = propose(conversation, carol, { type: 'remove', removed: carol.group.ownLeaf });
    const proposals = stored[0] === undefined ? [] : [stored[0]];
    const { pending, commit } = createCommit(alice.group, { proposals, ...hooks }, conversation.env);
    alice.store.saveEpoch(pending);
    for (const participant of conversation.participants.slice(1)) {
      const result = processCommit(participant.group, commit, { proposals, ...hooks });
      expect(result.selfRemoved).toBe(participant === carol);
      participant.store.saveEpoch(result.group);
    }
    expect(codeOf(() => carol.send('after', conversation.env))).toBe('removed');
    conversation.participants.pop();
    expect(conversation.disagreements()).toEqual([]);
  });

  it('mix in pre-shared keys: external ones, and the resumption PSK of the epoch', () => {
    const conversation = ofThree(suite, 'psk');
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const { groupId, epoch } = alice.group.context;
    const nonce = conversation.env.random(32);
    const psks: PreSharedKeyId[] = [
      { type: 'external', pskId: utf8('shared'), nonce },
      { type: 'resumption', usage: 'application', groupId, epoch, nonce },
    ];
    const known: PskLookup = (id) => (id.type === 'external' ? utf8('secret') : undefined);
    expect(codeOf(() => createCommit(alice.group, { psks, ...hooks }, conversation.env))).toBe('missing-psk');
    const { pending, commit } = createCommit(
      alice.group,
      { psks, pskLookup: known, ...hooks },
      conversation.env,
    );
    expect(refusalOf(() => bob.process(commit))).toContain('missing-psk: PSK-01');
    const wrong: PskLookup = () => utf8('something else');
    expect(codeOf(() => processCommit(bob.group, commit, { psks: wrong, ...hooks }))).toBe(
      'bad-confirmation-tag',
    );
    alice.store.saveEpoch(pending);
    for (const participant of conversation.participants.slice(1)) {
      participant.store.saveEpoch(processCommit(participant.group, commit, { psks: known, ...hooks }).group);
    }
    expect(conversation.disagreements()).toEqual([]);
  });

  it('replace the extensions of the group when every member supports them', () => {
    const conversation = ofThree(suite, 'extensions');
    const required = { extensions: [], proposals: [], credentials: [1] };
    const extensions: Extension[] = [
      { type: ExtensionTypeValue.requiredCapabilities, data: encode(required, writeRequiredCapabilities) },
    ];
    conversation.accept(conversation.at(1), conversation.at(1).commit({ extensions }, conversation.env));
    expect(conversation.disagreements()).toEqual([]);
    expect(conversation.at(2).group.context.extensions).toEqual(extensions);
    conversation.add(conversation.at(2), [device('device 3', conversation.env)]);
    expect(conversation.disagreements()).toEqual([]);
    const unknown: Extension[] = [{ type: 0xf00d, data: utf8('') }];
    expect(refusalOf(() => conversation.at(0).commit({ extensions: unknown }, conversation.env))).toContain(
      'invalid-proposal: PROP-11',
    );
  });

  it('pass only as the application decides about credentials and commits, at both ends', () => {
    const conversation = ofThree(suite, 'policy');
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const bundle = keyPackageOf(device('mallory', conversation.env), suite, conversation.env);
    const notMallory = ({ credential }: { credential: { type: string; identity?: Uint8Array } }): void => {
      if (credential.identity?.length === 7) throw new CryptoError('invalid-credential', 'mallory');
    };
    const nobodyAdds = ({ adds }: { adds: readonly unknown[] }): void => {
      if (adds.length > 0) throw new CryptoError('policy', 'no adds');
    };
    const adds = [bundle.bytes];
    expect(
      codeOf(() => createCommit(alice.group, { ...hooks, adds, memberCheck: notMallory }, conversation.env)),
    ).toBe('invalid-credential');
    expect(
      codeOf(() => createCommit(alice.group, { ...hooks, adds, policy: nobodyAdds }, conversation.env)),
    ).toBe('policy');
    const { commit, welcome } = alice.commit({ adds }, conversation.env);
    expect(codeOf(() => processCommit(bob.group, commit, { ...hooks, memberCheck: notMallory }))).toBe(
      'invalid-credential',
    );
    expect(codeOf(() => processCommit(bob.group, commit, { ...hooks, policy: nobodyAdds }))).toBe('policy');
    if (welcome === null) throw new Error('no welcome');
    const other = device('device 9', conversation.env);
    expect(
      codeOf(() =>
        joinByWelcome(welcome, keyPackageOf(other, suite, conversation.env), other.signatureKey, hooks),
      ),
    ).toBe('missing-key');
    expect(conversation.disagreements()).toEqual([]);
  });
});
