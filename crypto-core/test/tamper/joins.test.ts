/** Refusals of members who create a group or join one, at the bounds of what may be. */
import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, utf8 } from '../../src/bytes.ts';
import { welcomeGroupInfo } from '../../src/group/groupInfo.ts';
import {
  appDataDictionaryExtension,
  ComponentId,
  createCommit,
  createGroup,
  createProposal,
  encodeComponentIds,
  exportGroupInfo,
  type Group,
  joinByWelcome,
  joinExternal,
  ProposalTypeValue,
  processCommit,
  ready,
  verifyingSelfRemoves,
} from '../../src/index.ts';
import { encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { KeyIndex } from '../../src/tree/keyIndex.ts';
import { followPath } from '../../src/tree/treekem.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { anyone, anything, Conversation, device, groupOf, keyPackageOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';

const SUITE = 0x0003;
const env = testEnv('joins');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

describe('whoever joins from outside', () => {
  it('LEAF-03: finds out that its own leaf lacks what the group uses', () => {
    const extension = { type: 0xf00d, data: EMPTY };
    const leaf = { capabilities: { extensions: [extension.type] } };
    const creator = device('creator', env, leaf);
    const group = createGroup({ suite: SUITE, groupId: utf8('g'), ...creator, extensions: [extension] }, env);
    const join = (options: object) => () =>
      joinExternal(exportGroupInfo(group), { ...device('x', env, options), memberCheck: anyone }, env);
    expect(refusalOf(join({}))).toBe('invalid-leaf: LEAF-03: group extension 61453');
    expect(refusalOf(join(leaf))).toBe('none');
  });

  it('LEAF-08: finds its signature key in the group, unless it comes back', () => {
    const conversation = groupOf(3, SUITE, env);
    const info = exportGroupInfo(conversation.at(0).group);
    const args = { ...conversation.at(1).device, memberCheck: anyone };
    expect(refusalOf(() => joinExternal(info, args, env))).toContain('invalid-leaf: LEAF-08');
    expect(joinExternal(info, { ...args, resync: true }, env).pending.ownLeaf).toBe(1);
  });

  it('needs a GroupInfo with external_pub, and a tree with it', () => {
    const { group } = groupOf(2, SUITE, env).at(0);
    const args = { ...device('x', env), memberCheck: anyone };
    const forWelcomes = encodeMlsMessage({ wireFormat: 'group-info', groupInfo: welcomeGroupInfo(group) });
    expect(refusalOf(() => joinExternal(forWelcomes, args, env))).toBe(
      'unsupported: the group info has no external_pub',
    );
    const info = exportGroupInfo(group, [], 'beside');
    expect(refusalOf(() => joinExternal(info, args, env))).toBe(
      'missing-tree: no ratchet tree with the group info',
    );
  });

  it('takes the place that a removal has freed, in a tree no larger than the others have', () => {
    const conversation = groupOf(5, SUITE, env);
    const { group } = conversation.at(0);
    const args = { ...conversation.at(4).device, memberCheck: anyone, resync: true };
    const joined = joinExternal(exportGroupInfo(group), args, env);
    const { group: after } = processCommit(group, joined.commit, hooks);
    expect([joined.pending.ownLeaf, joined.pending.tree.leafCount]).toEqual([4, 8]);
    expect(after.context.treeHash).toEqual(joined.pending.context.treeHash);
  });

  it('COMP-05: judges the authenticated data of a SelfRemove as members do', () => {
    const safeAad = appDataDictionaryExtension([
      { componentId: ComponentId.safeAad, data: encodeComponentIds([]) },
    ]);
    const leaf = {
      capabilities: { extensions: [safeAad.type], proposals: [ProposalTypeValue['self-remove']] },
    };
    const conversation = new Conversation(SUITE, env, leaf);
    conversation.add(conversation.at(0), [device('bob', env, leaf)]);
    const entered = createCommit(conversation.at(0).group, { ...hooks, extensions: [safeAad] }, env);
    const bob = processCommit(conversation.at(1).group, entered.commit, hooks).group;
    const unaware: Group = { ...bob, context: { ...bob.context, extensions: [] } };
    const leave = (by: Group, authenticatedData?: Uint8Array) =>
      createProposal(by, { type: 'self-remove' }, env, authenticatedData && { authenticatedData }).message;
    const join = (message: Uint8Array) => () => {
      const args = { ...device('x', env, leaf), memberCheck: anyone };
      return joinExternal(entered.groupInfo, { ...args, selfRemoves: verifyingSelfRemoves([message]) }, env);
    };
    expect(refusalOf(join(leave(bob)))).toBe('none');
    expect(refusalOf(join(leave(unaware, utf8('no framing'))))).toContain('malformed: COMP-05');
  });
});

describe('whoever joins by a Welcome', () => {
  it('brings the signature key of its KeyPackage', () => {
    const newcomer = device('newcomer', env);
    const bundle = keyPackageOf(newcomer, SUITE, env);
    const { welcome } = groupOf(2, SUITE, env)
      .at(0)
      .commit({ adds: [bundle.bytes] }, env);
    const join = (owner: typeof newcomer) => () =>
      joinByWelcome(welcome ?? EMPTY, bundle, owner.signatureKey, hooks);
    expect(refusalOf(join(device('another', env)))).toBe('missing-key: signature key of another key package');
    expect(refusalOf(join(newcomer))).toBe('none');
  });

  it('takes no path secret but one of Nh bytes', () => {
    const { group } = groupOf(2, SUITE, env).at(0);
    const follow = (length: number) =>
      refusalOf(() => followPath(group.suite, group.tree, [], new Uint8Array(length)));
    expect([31, 32, 33].map(follow)).toEqual([
      'malformed: length of a path secret',
      'none',
      'malformed: length of a path secret',
    ]);
  });
});

describe('whoever creates a group', () => {
  it('is a member from an hour ago on, and for 400 days in all, where the caller says nothing else', () => {
    const lifetimeOf = (lifetime?: { notBefore: bigint; notAfter: bigint }) => {
      const args = { suite: SUITE, groupId: utf8('g'), ...device('creator', env) } as const;
      const { tree, ownLeaf } = createGroup(lifetime ? { ...args, lifetime } : args, env);
      const source = tree.leaf(ownLeaf)?.source;
      return source?.type === 'key-package' ? source.lifetime : null;
    };
    const now = BigInt(Math.floor(env.now() / 1000));
    const notBefore = now - 3600n;
    expect(lifetimeOf()).toEqual({ notBefore, notAfter: notBefore + 400n * 86_400n });
    const own = { notBefore: now, notAfter: now + 1n };
    expect(lifetimeOf(own)).toEqual(own);
  });

  it('refuses a suite that is none of these', () => {
    const args = { groupId: utf8('g'), ...device('creator', env) };
    const create = (suite: number) =>
      codeOf(() => createGroup({ ...args, suite: suite as typeof SUITE }, env));
    expect([0x0001, 0x0002, 0x0003, 0x0004, 0x004c, 0x004d, 0x004e, 0xf04d, 0xf04e].map(create)).toEqual([
      'unsupported',
      'unsupported',
      'none',
      'unsupported',
      'unsupported',
      'none',
      'unsupported',
      'none',
      'unsupported',
    ]);
  });
});

describe('the counts of a tree', () => {
  it('LEAF-10: ask of each leaf the credential types that some leaf has, and no others', () => {
    const { tree, ownLeaf } = groupOf(2, SUITE, env).at(0).group;
    const basic = tree.leaf(ownLeaf);
    if (basic === null) throw new Error('no leaf');
    const knowing = (credentials: readonly number[], leaf = basic) =>
      ({ type: 'leaf', leaf: { ...leaf, capabilities: { ...leaf.capabilities, credentials } } }) as const;
    const certified = { ...basic, credential: { type: 'x509', certificates: [] } } as const;
    const supports = (...nodes: ReturnType<typeof knowing>[]) => KeyIndex.of(nodes).supportsCredentials;
    expect([
      supports(knowing([1]), knowing([1])),
      supports(knowing([1]), knowing([1, 2])),
      supports(knowing([1]), knowing([2])),
      supports(knowing([1]), knowing([1, 2], certified)),
      supports(knowing([1, 2]), knowing([1, 2], certified)),
      supports(knowing([2, 1], certified)),
      supports(knowing([1], certified)),
    ]).toEqual([true, true, false, false, true, true, false]);
  });
});
