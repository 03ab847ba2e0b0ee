/** Groups in which every member supports the proposals of the draft of MLS extensions, or one doesn't. */
import {
  type CreateCommitArgs,
  createCommit,
  createProposal,
  type Group,
  groupView,
  type LeafOptions,
  ProposalTypeValue,
} from '../../src/index.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, device } from './world.ts';

export const SUITE = 0x0003;
export const env = testEnv('extension proposals');
export const hooks = { memberCheck: anyone, policy: anything };
export const leaf: LeafOptions = {
  capabilities: { extensions: [0x0006], proposals: Object.values(ProposalTypeValue) },
};
export const without = (type: 'app-data-update' | 'self-remove'): LeafOptions => ({
  capabilities: {
    extensions: [0x0006],
    proposals: Object.values(ProposalTypeValue).filter((value) => value !== ProposalTypeValue[type]),
  },
});

export function groupOf(count: number, last: LeafOptions = leaf): Group[] {
  const conversation = new Conversation(SUITE, env, leaf);
  const newcomers = Array.from({ length: count - 1 }, (_, at) =>
    device(`device ${at + 1}`, env, at === count - 2 ? last : leaf),
  );
  conversation.add(conversation.at(0), newcomers);
  return conversation.participants.map(({ group }) => group);
}

export const membersOf = (group: Group) => groupView(group).members.map(({ leafIndex }) => Number(leafIndex));
export const leave = (group: Group) => createProposal(group, { type: 'self-remove' }, env);
export const joiner = () => ({ ...device('joiner', env, leaf), memberCheck: anyone });
export const commit = (group: Group, args: Partial<CreateCommitArgs>) =>
  createCommit(group, { ...hooks, ...args }, env);
