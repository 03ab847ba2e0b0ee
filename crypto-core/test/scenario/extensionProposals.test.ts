/** SelfRemove and AppDataUpdate, proposals of the draft of MLS extensions: made, committed and refused. */
import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { byReference, byValue } from '../../src/group/proposalList.ts';
import {
  type AppDataLogic,
  type AppDataUpdateProposal,
  appDataDictionaryExtension,
  applyingAppData,
  type CommitProposal,
  type CreateCommitArgs,
  CryptoError,
  createCommit,
  createProposal,
  DEFAULT_LIMITS,
  exportGroupInfo,
  findAppData,
  type Group,
  groupView,
  type JoinExternalArgs,
  joinExternal,
  type LeafOptions,
  ProposalTypeValue,
  processCommit,
  processProposal,
  ready,
  requiredCapabilitiesExtension,
  toLeafIndex,
  verifyingSelfRemoves,
} from '../../src/index.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import type { Proposal } from '../../src/structs/proposal.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { flip, forgeCommit, forgeExternal, privateMessageOf } from '../tamper/forge.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, device } from './world.ts';

const SUITE = 0x0003;
const env = testEnv('extension proposals');
const hooks = { memberCheck: anyone, policy: anything };
const [ONE, OTHER] = [0x8001, 0x8002];
const leaf: LeafOptions = {
  capabilities: { extensions: [0x0006], proposals: Object.values(ProposalTypeValue) },
};
const without = (type: 'app-data-update' | 'self-remove'): LeafOptions => ({
  capabilities: {
    extensions: [0x0006],
    proposals: Object.values(ProposalTypeValue).filter((value) => value !== ProposalTypeValue[type]),
  },
});

beforeAll(ready);

function groupOf(count: number, last: LeafOptions = leaf): Group[] {
  const conversation = new Conversation(SUITE, env, leaf);
  const newcomers = Array.from({ length: count - 1 }, (_, at) =>
    device(`device ${at + 1}`, env, at === count - 2 ? last : leaf),
  );
  conversation.add(conversation.at(0), newcomers);
  return conversation.participants.map(({ group }) => group);
}

const membersOf = (group: Group) => groupView(group).members.map(({ leafIndex }) => Number(leafIndex));
const leave = (group: Group) => createProposal(group, { type: 'self-remove' }, env);
const joiner = () => ({ ...device('joiner', env, leaf), memberCheck: anyone });
const commit = (group: Group, args: Partial<CreateCommitArgs>) =>
  createCommit(group, { ...hooks, ...args }, env);

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

const update = (componentId: number, text: string): AppDataUpdateProposal => ({
  type: 'app-data-update',
  op: 'update',
  componentId,
  update: utf8(text),
});
const removal = (componentId: number): AppDataUpdateProposal => ({
  type: 'app-data-update',
  op: 'remove',
  componentId,
});

/** Keeps a text to which each update appends, of component ONE by anybody and of OTHER by members. */
const logic: AppDataLogic = {
  update: (componentId, before, updates) => {
    if (componentId !== ONE && componentId !== OTHER) throw new CryptoError('invalid-proposal', 'unknown');
    if (componentId === OTHER && updates.some(({ sender }) => sender.type !== 'member')) {
      throw new CryptoError('policy', 'members only');
    }
    return Uint8Array.of(...(before ?? []), ...updates.flatMap(({ update: more }) => [...more]));
  },
  remove: (componentId, before) => {
    if (componentId === OTHER) throw new CryptoError('policy', `keeps ${before.length} bytes`);
  },
};
const appData = applyingAppData(logic);
const known = { ...hooks, appData };
const dataOf = ({ context }: Group) =>
  findAppData(context.extensions).map(({ componentId, data }) => [
    componentId,
    Buffer.from(data).toString('utf8'),
  ]);

describe('an AppDataUpdate', () => {
  it('changes the data of its component for all, in the order of the commit and without a path', () => {
    const [alice, bob] = groupOf(3) as [Group, Group, Group];
    const proposed = createProposal(bob, update(ONE, 'a'), env);
    const proposals = [processProposal(alice, proposed.message)];
    const updates = [update(OTHER, 'x'), update(ONE, 'b'), update(ONE, 'c')];
    const created = commit(alice, { appData, proposals, appDataUpdates: updates });
    expect(created.pending.tree.toNodes()).toEqual(alice.tree.toNodes());
    const told: boolean[] = [];
    const policy = ({ changesExtensions }: CommitProposal) => void told.push(changesExtensions);
    const processed = processCommit(bob, created.commit, {
      ...known,
      policy,
      proposals: [proposed.proposal],
    });
    expect(processed.group.secrets).toEqual(created.pending.secrets);
    expect([dataOf(processed.group), told]).toEqual([
      [
        [ONE, 'abc'],
        [OTHER, 'x'],
      ],
      [true],
    ]);
    const second = commit(created.pending, { appData, appDataUpdates: [update(OTHER, 'y'), removal(ONE)] });
    const after = processCommit(processed.group, second.commit, known).group;
    expect(after.secrets).toEqual(second.pending.secrets);
    expect(dataOf(after)).toEqual([[OTHER, 'xy']]);
  });

  it('leaves the dictionary in its place among the extensions, and new ones come last', () => {
    const [alice] = groupOf(2) as [Group, Group];
    const required = requiredCapabilitiesExtension({ credentials: [1] });
    const grown = (group: Group, args: Partial<CreateCommitArgs>) =>
      commit(group, { appData, ...args }).pending;
    const typesOf = ({ context }: Group) => context.extensions.map(({ type }) => type);
    const last = grown(alice, { extensions: [required], appDataUpdates: [update(ONE, 'a')] });
    expect(typesOf(last)).toEqual([3, 6]);
    const first = grown(alice, { extensions: [appDataDictionaryExtension([]), required] });
    const changed = grown(first, { appDataUpdates: [update(ONE, 'a')] });
    expect([typesOf(changed), dataOf(changed)]).toEqual([[6, 3], [[ONE, 'a']]]);
    const emptied = grown(changed, { appDataUpdates: [removal(ONE)] });
    expect([typesOf(emptied), dataOf(emptied)]).toEqual([[6, 3], []]);
  });

  it('comes from outside too, where the application has it so', () => {
    const [alice, bob] = groupOf(3) as [Group, Group, Group];
    const info = exportGroupInfo(alice);
    const join = (args: Partial<JoinExternalArgs>) =>
      joinExternal(info, { ...joiner(), appData, ...args }, env);
    const joined = join({ appDataUpdates: [update(ONE, 'hello')] });
    const processed = processCommit(bob, joined.commit, known);
    expect(processed.group.secrets).toEqual(joined.pending.secrets);
    expect(dataOf(joined.pending)).toEqual([[ONE, 'hello']]);
    expect(refusalOf(() => join({ appDataUpdates: [update(OTHER, 'x')] }))).toContain(
      'policy: COMP-04: members only',
    );
  });

  it('COMP-02: is refused for a removal beside another change, or of what is not there', () => {
    const [alice, bob] = groupOf(2) as [Group, Group];
    const { pending, commit: first } = commit(alice, { appData, appDataUpdates: [update(ONE, 'a')] });
    const bobs = processCommit(bob, first, known).group;
    const lists = [[update(ONE, 'b'), removal(ONE)], [removal(ONE), removal(ONE)], [removal(OTHER)]];
    for (const proposals of lists) {
      expect(refusalOf(() => commit(pending, { appData, appDataUpdates: proposals }))).toContain('COMP-02');
      const forged = forgeCommit(pending, { proposals: proposals.map(byValue) }, env);
      expect(refusalOf(() => processCommit(bobs, forged, known))).toContain('invalid-proposal: COMP-02');
    }
  });

  it('COMP-03: is the only way to change component data where the group requires it', () => {
    const [alice, bob] = groupOf(2) as [Group, Group];
    const dictionary = appDataDictionaryExtension([{ componentId: ONE, data: utf8('a') }]);
    const requires = requiredCapabilitiesExtension({ proposals: [8] });
    // Sets both, because nothing required it before.
    const { pending, commit: first } = commit(alice, { extensions: [dictionary, requires] });
    const bobs = processCommit(bob, first, hooks).group;
    const other = appDataDictionaryExtension([{ componentId: ONE, data: utf8('b') }]);
    for (const extensions of [[requires], [other, requires], [other]]) {
      const proposal = { type: 'group-context-extensions', extensions } as const;
      expect(refusalOf(() => commit(pending, { extensions }))).toContain('invalid-proposal: COMP-03');
      const forged = forgeCommit(pending, { proposals: [byValue(proposal)] }, env);
      expect(refusalOf(() => processCommit(bobs, forged, hooks))).toContain('invalid-proposal: COMP-03');
    }
    expect(codeOf(() => commit(pending, { extensions: [dictionary] }))).toBe('none');
    const none = commit(alice, { extensions: [requires] }).pending;
    expect(refusalOf(() => commit(none, { extensions: [dictionary, requires] }))).toContain('COMP-03');
    expect(codeOf(() => commit(none, { extensions: [] }))).toBe('none');
  });

  it('COMP-04: is refused where the application does not know the component, or refuses the change', () => {
    const [alice, bob] = groupOf(2) as [Group, Group];
    const proposed = createProposal(bob, update(9, 'a'), env);
    const stored = processProposal(alice, proposed.message);
    let error: unknown;
    try {
      commit(alice, { appData, proposals: [stored] });
    } catch (caught) {
      error = caught;
    }
    expect(error instanceof CryptoError && [error.code, error.proposalRef]).toEqual([
      'invalid-proposal',
      stored.ref,
    ]);
    expect(refusalOf(() => commit(alice, { appDataUpdates: [update(ONE, 'a')] }))).toContain('COMP-04');
    const { pending } = commit(alice, { appData, appDataUpdates: [update(OTHER, 'a')] });
    expect(refusalOf(() => commit(pending, { appData, appDataUpdates: [removal(OTHER)] }))).toContain(
      'policy: COMP-04: keeps 1 bytes',
    );
    const fault = () => {
      throw new TypeError('a bug of the application');
    };
    const broken = applyingAppData({ ...logic, update: fault });
    expect(() => commit(alice, { appData: broken, appDataUpdates: [update(ONE, 'a')] })).toThrow(TypeError);
  });

  it('PROP-13: is refused where a member supports neither it nor the dictionary', () => {
    const appDataUpdates = [update(ONE, 'a')];
    const [alice, bob] = groupOf(3, without('app-data-update')) as [Group, Group, Group];
    expect(refusalOf(() => commit(alice, { appData, appDataUpdates }))).toContain('PROP-13');
    expect(refusalOf(() => createProposal(bob, update(ONE, 'a'), env))).toContain('PROP-13');
    const forged = forgeCommit(bob, { proposals: appDataUpdates.map(byValue) }, env);
    expect(refusalOf(() => processCommit(alice, forged, known))).toContain('invalid-proposal: PROP-13');
    const outside = { ...joiner(), appData, appDataUpdates };
    expect(refusalOf(() => joinExternal(exportGroupInfo(alice), outside, env))).toContain('PROP-13');
    const [anna] = groupOf(2, { capabilities: { proposals: [8] } }) as [Group];
    expect(refusalOf(() => commit(anna, { appData, appDataUpdates }))).toContain('PROP-11');
  });

  it('is refused beyond the limit of components', () => {
    const [alice] = groupOf(2) as [Group, Group];
    const limits = { ...DEFAULT_LIMITS, components: 1 };
    const appDataUpdates = [update(ONE, 'a'), update(OTHER, 'b')];
    expect(codeOf(() => commit(alice, { appData, appDataUpdates, limits }))).toBe('unsupported');
    expect(codeOf(() => commit(alice, { appData, appDataUpdates: [update(ONE, 'a')], limits }))).toBe('none');
  });

  it('is refused with an operation that nobody knows', () => {
    const [alice] = groupOf(2) as [Group, Group];
    const { message } = createProposal(alice, removal(ONE), env, { wireFormat: 'public-message' });
    const at = Buffer.from(message).indexOf(Buffer.from([0, 8, 0x80, 1, 2]));
    expect(codeOf(() => decodeMlsMessage(message))).toBe('none');
    for (const operation of [0, 3]) {
      const changed = message.slice();
      changed[at + 4] = operation;
      expect(codeOf(() => decodeMlsMessage(changed))).toBe('malformed');
    }
  });
});
