/** SelfRemove of the draft of MLS extensions: made, committed by members and from outside, and refused. */
import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { byReference, byValue } from '../../src/group/proposalList.ts';
import {
  type CommitProposal,
  createProposal,
  exportGroupInfo,
  type Group,
  joinExternal,
  processCommit,
  processProposal,
  ready,
  toLeafIndex,
  verifyingSelfRemoves,
} from '../../src/index.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { flip, forgeCommit, forgeExternal, privateMessageOf } from '../tamper/forge.ts';
import { commit, env, groupOf, hooks, joiner, leaf, leave, membersOf, SUITE, without } from './draft.ts';
import { anyone, Conversation, device } from './world.ts';

beforeAll(ready);

describe('a SelfRemove', () => {
  it('removes its sender at every member, with a path, and tells the policy that it was asked for', () => {
    const [alice, bob, carol] = groupOf(3) as [Group, Group, Group];
    const { message, proposal } = leave(carol);
    const stored = processProposal(alice, message);
    expect(stored).toEqual(proposal);
    const created = commit(alice, { proposals: [stored], removes: [] });
    const told: CommitProposal['removes'][number][] = [];
    const policy = ({ removes }: CommitProposal) => void told.push(...removes);
    const proposals = [processProposal(bob, message)];
    const processed = processCommit(bob, created.commit, { ...hooks, policy, proposals });
    expect(processed.group.secrets).toEqual(created.pending.secrets);
    expect(membersOf(processed.group)).toEqual([0, 1]);
    expect(told.map(({ leafIndex, bySelf }) => [Number(leafIndex), bySelf])).toEqual([[2, true]]);
    const own = processCommit(carol, created.commit, { ...hooks, proposals: [proposal] });
    expect([own.selfRemoved, own.group.status]).toEqual([true, 'removed']);
    const removed = commit(alice, { removes: [carol.ownLeaf] });
    processCommit(bob, removed.commit, { ...hooks, policy });
    expect(told.at(-1)?.bySelf).toBe(false);
  });

  it('is committed by those who join from outside, who get the first leaf that it frees', () => {
    const [alice, bob, carol, dave] = groupOf(4) as [Group, Group, Group, Group];
    const messages = [leave(bob).message, leave(dave).message];
    const join = joinExternal(
      exportGroupInfo(alice),
      { ...joiner(), selfRemoves: verifyingSelfRemoves(messages) },
      env,
    );
    expect(join.pending.ownLeaf).toBe(bob.ownLeaf);
    for (const group of [alice, carol]) {
      const proposals = messages.map((message) => processProposal(group, message));
      const processed = processCommit(group, join.commit, { ...hooks, proposals });
      expect(processed.group.secrets).toEqual(join.pending.secrets);
      expect(membersOf(processed.group)).toEqual([0, 1, 2]);
      expect(processed.removes.map(({ leafIndex }) => Number(leafIndex))).toEqual([1, 3]);
      expect(codeOf(() => processCommit(group, join.commit, hooks))).toBe('missing-proposal');
    }
  });

  it('takes the place of the Remove by which its sender comes back, who then succeeds nobody', () => {
    const conversation = new Conversation(SUITE, env, leaf);
    const bob = device('bob', env, leaf);
    conversation.add(conversation.at(0), [bob, device('carol', env, leaf)]);
    const [alice, { group: bobs }] = [conversation.at(0).group, conversation.at(1)];
    const { message } = leave(bobs);
    const args = { ...bob, memberCheck: anyone, resync: true, selfRemoves: verifyingSelfRemoves([message]) };
    const join = joinExternal(exportGroupInfo(alice), args, env);
    const successions: unknown[] = [];
    const memberCheck: typeof anyone = (_, { replaces }) => void successions.push(replaces);
    const proposals = [processProposal(alice, message)];
    const processed = processCommit(alice, join.commit, { ...hooks, memberCheck, proposals });
    expect(processed.group.secrets).toEqual(join.pending.secrets);
    expect([membersOf(processed.group), successions]).toEqual([[0, 1, 2], [null]]);
  });

  it('leaves a Remove of the joiner its own, as whose successor it is checked', () => {
    const conversation = new Conversation(SUITE, env, leaf);
    const carol = device('carol', env, leaf);
    conversation.add(conversation.at(0), [device('bob', env, leaf), carol]);
    const [alice, bob] = [conversation.at(0).group, conversation.at(1).group];
    const { message } = leave(bob);
    const credential = { type: 'basic', identity: utf8('carol, again') } as const;
    const args = {
      ...carol,
      credential,
      memberCheck: anyone,
      resync: true,
      selfRemoves: verifyingSelfRemoves([message]),
    };
    const join = joinExternal(exportGroupInfo(alice), args, env);
    const successions: unknown[] = [];
    const memberCheck: typeof anyone = (_, { replaces }) => void successions.push(replaces);
    const proposals = [processProposal(alice, message)];
    const processed = processCommit(alice, join.commit, { ...hooks, memberCheck, proposals });
    expect(processed.group.secrets).toEqual(join.pending.secrets);
    expect(successions).toEqual([carol.credential]);
  });

  it('PROP-13: is made and committed only where every member supports it, but for those who go', () => {
    const [alice, , carol] = groupOf(3, without('self-remove')) as [Group, Group, Group];
    expect(refusalOf(() => leave(alice))).toContain('invalid-proposal: PROP-13');
    // Carol herself need not support what removes her.
    const content = { type: 'proposal', proposal: { type: 'self-remove' } } as const;
    const stored = privateMessageOf(carol, content, null, env).stored!;
    expect(codeOf(() => commit(alice, { proposals: [stored] }))).toBe('none');
    const [anna, ben] = groupOf(3, without('self-remove')) as [Group, Group, Group];
    const bens = privateMessageOf(ben, content, null, env).stored!;
    expect(refusalOf(() => commit(anna, { proposals: [bens] }))).toContain('invalid-proposal: PROP-13');
    const forged = forgeCommit(ben, { proposals: [byReference(stored)] }, env);
    const proposals = [{ ...stored, sender: { type: 'member', leafIndex: toLeafIndex(0) } } as const];
    expect(refusalOf(() => processCommit(anna, forged, { ...hooks, proposals }))).toContain('PROP-13');
  });

  it('PROP-14: is refused by value, of members and from outside', () => {
    const [alice, bob] = groupOf(3) as [Group, Group, Group];
    const selfRemove: Proposal = { type: 'self-remove' };
    const forged = forgeCommit(bob, { proposals: [byValue(selfRemove)] }, env);
    expect(refusalOf(() => processCommit(alice, forged, hooks))).toContain('invalid-proposal: PROP-14');
    const newcomer = joiner();
    const join = joinExternal(exportGroupInfo(alice), newcomer, env);
    const outside = forgeExternal(join.commit, newcomer.signatureKey, alice.context, (honest) => ({
      ...honest,
      proposals: [...honest.proposals, byValue(selfRemove)],
    }));
    expect(refusalOf(() => processCommit(alice, outside, hooks))).toContain('invalid-proposal: PROP-14');
  });

  it('PROP-15: is neither made nor taken as a private message', () => {
    const [alice, bob] = groupOf(3) as [Group, Group, Group];
    const asPrivate = () =>
      createProposal(alice, { type: 'self-remove' }, env, { wireFormat: 'private-message' });
    expect(refusalOf(asPrivate)).toContain('invalid-proposal: PROP-15');
    const content = { type: 'proposal', proposal: { type: 'self-remove' } } as const;
    const { bytes } = privateMessageOf(bob, content, null, env);
    expect(refusalOf(() => processProposal(alice, bytes))).toContain('invalid-proposal: PROP-15');
  });

  it('of the committer, or of a leaf that is changed by another proposal too, is refused', () => {
    const [alice, bob, carol] = groupOf(3) as [Group, Group, Group];
    const own = leave(alice).proposal;
    expect(refusalOf(() => commit(alice, { proposals: [own] }))).toContain('PROP-05');
    const stored = processProposal(alice, leave(bob).message);
    expect(refusalOf(() => commit(alice, { proposals: [stored], removes: [bob.ownLeaf] }))).toContain(
      'PROP-07',
    );
    const update = createProposal(bob, { type: 'update' }, env).proposal;
    expect(refusalOf(() => commit(alice, { proposals: [stored, update] }))).toContain('PROP-07');
    const newcomer = joiner();
    const args = { ...newcomer, selfRemoves: verifyingSelfRemoves([leave(bob).message]) };
    const join = joinExternal(exportGroupInfo(alice), args, env);
    const forged = forgeExternal(join.commit, newcomer.signatureKey, alice.context, (honest) => ({
      ...honest,
      proposals: [...honest.proposals, byValue({ type: 'remove', removed: bob.ownLeaf })],
    }));
    const proposals = [processProposal(carol, leave(bob).message)];
    expect(refusalOf(() => processCommit(carol, forged, { ...hooks, proposals }))).toContain('PROP-07');
  });

  it('needs a path', () => {
    const [alice, bob, carol] = groupOf(3) as [Group, Group, Group];
    const { message, proposal } = leave(carol);
    const forged = forgeCommit(bob, { proposals: [byReference(proposal)], withPath: false }, env);
    const proposals = [processProposal(alice, message)];
    expect(refusalOf(() => processCommit(alice, forged, { ...hooks, proposals }))).toContain('COMMIT-01');
  });

  it('is verified by those who join from outside, but for its membership tag', () => {
    const [alice, bob, carol] = groupOf(3) as [Group, Group, Group];
    const info = exportGroupInfo(alice);
    const join = (message: Uint8Array) =>
      refusalOf(() => joinExternal(info, { ...joiner(), selfRemoves: verifyingSelfRemoves([message]) }, env));
    const { message } = leave(bob);
    const decoded = decodeMlsMessage(message);
    if (decoded.wireFormat !== 'public-message') throw new Error('not in the open');
    const { publicMessage } = decoded;
    const changed = (change: Partial<typeof publicMessage>) =>
      encodeMlsMessage({ wireFormat: 'public-message', publicMessage: { ...publicMessage, ...change } });
    expect(join(message)).toBe('none');
    expect(join(changed({ membershipTag: flip(publicMessage.membershipTag!) }))).toBe('none');
    const { auth, content } = publicMessage;
    expect(join(changed({ auth: { ...auth, signature: flip(auth.signature) } }))).toContain('FRAME-03');
    expect(join(changed({ content: { ...content, epoch: content.epoch + 1n } }))).toContain('wrong-epoch');
    expect(join(changed({ content: { ...content, groupId: utf8('other') } }))).toContain('wrong-group');
    const sender = { type: 'member', leafIndex: toLeafIndex(3) } as const;
    expect(join(changed({ content: { ...content, sender } }))).toContain('FRAME-07');
    const remove = { type: 'remove', removed: carol.ownLeaf } as const;
    const other = createProposal(bob, remove, env, { wireFormat: 'public-message' });
    expect(join(other.message)).toContain('malformed');
    expect(join(createProposal(bob, remove, env).message)).toContain('malformed');
  });
});
