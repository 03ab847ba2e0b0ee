/** Proposals from outside the group, and the end of a group by a ReInit. */
import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, utf8 } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import { signFramedContent } from '../../src/framing/contentAuth.ts';
import { byValue } from '../../src/group/proposalList.ts';
import { createCommit, type Group, processCommit, processProposal, ready } from '../../src/index.ts';
import { ExtensionTypeValue } from '../../src/structs/extension.ts';
import { writeExternalSender } from '../../src/structs/externalSender.ts';
import type { FramedContent, Sender } from '../../src/structs/framedContent.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { forgeCommit } from '../tamper/forge.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, type Device, device, keyPackageOf } from './world.ts';

const SUITE = 0x0003;
const env = testEnv('outside');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

/** Makes a proposal of somebody who is not a member: signed, in the open, without a membership tag. */
function proposalFrom(sender: Sender, by: Device, group: Group, proposal: Proposal): Uint8Array {
  const { suite, context } = group;
  const content: FramedContent = {
    groupId: context.groupId,
    epoch: context.epoch,
    sender,
    authenticatedData: EMPTY,
    content: { type: 'proposal', proposal },
  };
  const signature = signFramedContent(suite, 'public-message', content, context, by.signatureKey.privateKey);
  return encodeMlsMessage({
    wireFormat: 'public-message',
    publicMessage: { content, auth: { signature, confirmationTag: null }, membershipTag: null },
  });
}

/** A group of three that lets `bot` propose. */
function watchedBy(bot: Device): Conversation {
  const conversation = new Conversation(SUITE, env);
  conversation.add(conversation.at(0), [device('device 1', env), device('device 2', env)]);
  const sender = { credential: bot.credential, signatureKey: bot.signatureKey.publicKey };
  const data = encode([sender], (w, senders) => w.vector(senders, writeExternalSender));
  const extensions = [{ type: ExtensionTypeValue.externalSenders, data }];
  conversation.accept(conversation.at(0), conversation.at(0).commit({ extensions }, env));
  return conversation;
}

describe('a proposal from outside', () => {
  const remove: Proposal = { type: 'remove', removed: toLeafIndex(2) };

  it('is committed like any other when an external sender of the group made it', () => {
    const bot = device('bot', env);
    const conversation = watchedBy(bot);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const message = proposalFrom({ type: 'external', senderIndex: 0 }, bot, alice.group, remove);
    const proposals = [processProposal(alice.group, message)];
    const { pending, commit } = createCommit(alice.group, { ...hooks, proposals }, env);
    const known = [processProposal(bob.group, message)];
    const result = processCommit(bob.group, commit, { ...hooks, proposals: known });
    expect(result.removes.map(({ leafIndex }) => leafIndex)).toEqual([2]);
    expect(result.group.secrets).toEqual(pending.secrets);
  });

  it('is refused from an unknown external sender, with another signature, or of a type it may not propose', () => {
    const bot = device('bot', env);
    const { group } = watchedBy(bot).at(0);
    const first = { type: 'external', senderIndex: 0 } as const;
    const second = { type: 'external', senderIndex: 1 } as const;
    const externalInit: Proposal = { type: 'external-init', kemOutput: EMPTY };
    const answers = [
      proposalFrom(second, bot, group, remove),
      proposalFrom(first, device('other', env), group, remove),
      proposalFrom(first, bot, group, externalInit),
    ].map((message) => refusalOf(() => processProposal(group, message)));
    expect(answers).toEqual([
      expect.stringContaining('unknown-sender'),
      expect.stringContaining('bad-signature'),
      expect.stringContaining('PROP-02'),
    ]);
    const { group: unwatched } = new Conversation(SUITE, env).at(0);
    expect(codeOf(() => processProposal(unwatched, proposalFrom(first, bot, unwatched, remove)))).toBe(
      'unknown-sender',
    );
  });

  it('is committed when a newcomer adds itself and signs with the key it brings', () => {
    const conversation = new Conversation(SUITE, env);
    const { group } = conversation.at(0);
    const newcomer = device('newcomer', env);
    const { keyPackage } = keyPackageOf(newcomer, SUITE, env);
    const sender = { type: 'new-member-proposal' } as const;
    const add: Proposal = { type: 'add', keyPackage };
    const proposals = [processProposal(group, proposalFrom(sender, newcomer, group, add))];
    const { pending } = createCommit(group, { ...hooks, proposals }, env);
    expect(pending.tree.leaf(toLeafIndex(1))).toEqual(keyPackage.leafNode);
    const forged = proposalFrom(sender, device('other', env), group, add);
    expect(codeOf(() => processProposal(group, forged))).toBe('bad-signature');
  });
});

describe('a ReInit', () => {
  it('ends the use of the group for everybody', () => {
    const conversation = new Conversation(SUITE, env);
    conversation.add(conversation.at(0), [device('device 1', env)]);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const reInit = byValue({
      type: 'reinit',
      groupId: utf8('next'),
      version: 1,
      cipherSuite: 0x004d,
      extensions: [],
    });
    const { group } = bob.process(forgeCommit(alice.group, { proposals: [reInit] }, env));
    expect(group.status).toBe('reinitialized');
    expect(codeOf(() => bob.send('too late', env))).toBe('unsupported');
    expect(codeOf(() => bob.commit({}, env))).toBe('unsupported');
  });
});
