/** Proposals of every kind, made by the functions of the library: by value, by reference, from outside, and after a restart. */
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { GROUP_BINDING_EXTENSION, groupBindingExtension } from '../../src/account/index.ts';
import { utf8 } from '../../src/bytes.ts';
import {
  applicationIdExtension,
  applyingAppData,
  type CreateCommitArgs,
  createCommit,
  createProposal,
  decodeStoredProposal,
  encodeStoredProposal,
  exportGroupInfo,
  externalSendersExtension,
  findApplicationId,
  findExternalSenders,
  findRequiredCapabilities,
  type Group,
  greaseExtension,
  groupView,
  joinByWelcome,
  joinExternal,
  type LeafOptions,
  type PreSharedKeyId,
  type ProposalRequest,
  ProposalTypeValue,
  peekMessage,
  processCommit,
  processProposal,
  proposeFromOutside,
  proposeOwnAdd,
  ready,
  requiredCapabilitiesExtension,
  toHex,
  toLeafIndex,
} from '../../src/index.ts';
import { decodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, device, keyPackageOf } from './world.ts';

const SUITE = 0x0003;
const env = testEnv('every proposal');
/** Component data is what the last update says. */
const appData = applyingAppData({
  update: (_component, _before, updates) => updates.at(-1)!.update,
  remove: () => undefined,
});
const open = { memberCheck: anyone, policy: anything, appData };
const leaf: LeafOptions = {
  capabilities: {
    extensions: [GROUP_BINDING_EXTENSION, 0x0006],
    proposals: [ProposalTypeValue['app-data-update']],
  },
};
const bot = device('bot', env);
const secret = env.random(32);
const psk: PreSharedKeyId = { type: 'external', pskId: utf8('psk'), nonce: env.random(32) };
const psks = () => secret;
const watched = [
  externalSendersExtension([{ signatureKey: bot.signatureKey.publicKey, credential: bot.credential }]),
];

const binding = groupBindingExtension({ creatorId: 'device 0' });

beforeAll(ready);

/** A group of three in which the bot may propose. */
function ofThree(): Conversation {
  const conversation = new Conversation(SUITE, env, leaf);
  conversation.add(conversation.at(0), [device('device 1', env, leaf), device('device 2', env, leaf)]);
  conversation.accept(conversation.at(0), conversation.at(0).commit({ extensions: watched }, env));
  return conversation;
}

type Outside = Exclude<ProposalRequest, { readonly type: 'update' | 'self-remove' }>;

const requests = (): Record<Outside['type'], Outside> => ({
  add: { type: 'add', keyPackage: keyPackageOf(device('newcomer', env), SUITE, env).bytes },
  remove: { type: 'remove', removed: toLeafIndex(2) },
  psk: { type: 'psk', psk },
  reinit: { type: 'reinit', reInit: { groupId: utf8('next'), suite: 0xf04d, extensions: [] } },
  'group-context-extensions': {
    type: 'group-context-extensions',
    extensions: [...watched, requiredCapabilitiesExtension({ credentials: [1] })],
  },
  'app-data-update': { type: 'app-data-update', op: 'update', componentId: 0x8001, update: utf8('news') },
});
const kinds = Object.keys(requests()) as Outside['type'][];

/** The part of a view that a proposal of each kind changes. */
function changed({ status, reInit, context, tree }: Group): unknown {
  return [status, reInit, context.extensions, [...tree.members()].map(({ leafIndex }) => leafIndex)];
}

function committed(
  by: Group,
  args: Partial<CreateCommitArgs>,
  others: readonly Group[],
  messages: readonly Uint8Array[],
) {
  const before = others.map((group) => messages.map((bytes) => processProposal(group, bytes)));
  const created = createCommit(by, { ...open, pskLookup: psks, ...args }, env);
  // Others store what they received, and have restarted when the commit comes.
  const after = others.map((group, at) => {
    const proposals = (before[at] ?? []).map((stored) => decodeStoredProposal(encodeStoredProposal(stored)));
    expect(proposals).toEqual(before[at]);
    return processCommit(group, created.commit, { ...open, proposals, psks }).group;
  });
  for (const group of after) {
    expect(toHex(groupView(group).epochAuthenticator)).toBe(
      toHex(groupView(created.pending).epochAuthenticator),
    );
    expect(changed(group)).toEqual(changed(created.pending));
  }
  return created;
}

describe('a proposal of kind', () => {
  const byValue = (request: Outside): Partial<CreateCommitArgs> => {
    if (request.type === 'add') return { adds: [request.keyPackage] };
    if (request.type === 'remove') return { removes: [request.removed] };
    if (request.type === 'psk') return { psks: [request.psk] };
    if (request.type === 'app-data-update') return { appDataUpdates: [request] };
    return request.type === 'reinit' ? { reInit: request.reInit } : { extensions: request.extensions };
  };

  it.each(kinds)('%s is committed by value', (kind) => {
    const [alice, bob] = ofThree().participants;
    const { group } = alice!;
    const { pending } = committed(group, byValue(requests()[kind]), [bob!.group], []);
    // A PSK changes nothing that can be seen, but the secrets.
    const isSame = isDeepStrictEqual(changed(pending), changed(group));
    expect(isSame).toBe(kind === 'psk');
  });

  it.each(kinds)('%s is told to the policy as what ends the group if it is a ReInit', (kind) => {
    const [alice, bob] = ofThree().participants;
    const told: boolean[] = [];
    const policy = ({ endsGroup }: { endsGroup: boolean }) => void told.push(endsGroup);
    const args = { ...open, pskLookup: psks, ...byValue(requests()[kind]), policy };
    const { commit } = createCommit(alice!.group, args, env);
    processCommit(bob!.group, commit, { ...open, psks, policy });
    expect(told).toEqual([kind === 'reinit', kind === 'reinit']);
  });

  it.each(['private-message', 'public-message'] as const)(
    'any is committed by reference from a %s',
    (wireFormat) => {
      for (const kind of kinds) {
        const [alice, bob, carol] = ofThree().participants;
        const authenticatedData = utf8('why');
        const made = createProposal(bob!.group, requests()[kind], env, { wireFormat, authenticatedData });
        expect(peekMessage(made.message).wireFormat).toBe(wireFormat);
        const stored = processProposal(alice!.group, made.message);
        expect(stored).toEqual(made.proposal);
        const others = kind === 'remove' ? [] : [carol!.group];
        const { pending, commit } = committed(alice!.group, { proposals: [stored] }, others, [made.message]);
        const own = processCommit(made.group, commit, { ...open, proposals: [made.proposal], psks });
        expect(changed(own.group)).toEqual(changed(pending));
      }
    },
  );

  it.each(kinds)('%s is committed when an external sender of the group makes it', (kind) => {
    const [alice, bob] = ofThree().participants;
    const { groupId, epoch } = alice!.group.context;
    const args = { suite: SUITE, groupId, epoch, signatureKey: bot.signatureKey, senderIndex: 0 } as const;
    const message = proposeFromOutside({ ...args, proposal: requests()[kind] });
    const stored = processProposal(alice!.group, message);
    committed(alice!.group, { proposals: [stored] }, [bob!.group], [message]);
    const wrongEpoch = proposeFromOutside({ ...args, epoch: epoch + 1n, proposal: requests()[kind] });
    expect(codeOf(() => processProposal(alice!.group, wrongEpoch))).toBe('wrong-epoch');
    const stranger = { ...args, signatureKey: device('other', env).signatureKey };
    const forged = proposeFromOutside({ ...stranger, proposal: requests()[kind] });
    expect(codeOf(() => processProposal(alice!.group, forged))).toBe('bad-signature');
  });

  it('update changes what its member chooses for its leaf', () => {
    const [alice, bob] = ofThree().participants;
    const leaf = { extensions: [applicationIdExtension(utf8('bob’s phone'))] };
    const made = createProposal(bob!.group, { type: 'update', leaf }, env);
    const stored = processProposal(alice!.group, made.message);
    const { pending, commit } = createCommit(alice!.group, { ...open, proposals: [stored] }, env);
    const after = pending.tree.leaf(bob!.group.ownLeaf);
    expect(findApplicationId(after?.extensions ?? [])).toEqual(utf8('bob’s phone'));
    const own = processCommit(made.group, commit, { ...open, proposals: [made.proposal] });
    expect(own.group.secrets).toEqual(pending.secrets);
  });

  it('add is committed when the newcomer itself makes it, who then joins', () => {
    const [alice, bob] = ofThree().participants;
    const newcomer = device('newcomer', env);
    const bundle = keyPackageOf(newcomer, SUITE, env);
    const { groupId, epoch } = alice!.group.context;
    const { signatureKey } = newcomer;
    const message = proposeOwnAdd({ suite: SUITE, groupId, epoch, signatureKey, keyPackage: bundle.bytes });
    const stored = processProposal(alice!.group, message);
    const { pending, welcome } = committed(alice!.group, { proposals: [stored] }, [bob!.group], [message]);
    const joined = joinByWelcome(welcome!, bundle, signatureKey, { memberCheck: anyone });
    expect(joined.secrets).toEqual(pending.secrets);
  });
});

describe('an application', () => {
  it('joins from outside with pre-shared keys that the members hold, and not without', () => {
    const conversation = ofThree();
    const { group } = conversation.at(0);
    const info = exportGroupInfo(group);
    const joiner = device('joiner', env);
    const authenticatedData = utf8('why');
    const join = joinExternal(
      info,
      { ...joiner, memberCheck: anyone, psks: [psk], pskLookup: psks, authenticatedData },
      env,
    );
    const processed = processCommit(group, join.commit, { ...open, psks });
    expect(processed.group.secrets).toEqual(join.pending.secrets);
    expect(processed.authenticatedData).toEqual(authenticatedData);
    expect(codeOf(() => processCommit(group, join.commit, open))).toBe('missing-psk');
    const otherSecret = () => env.random(32);
    expect(codeOf(() => processCommit(group, join.commit, { ...open, psks: otherSecret }))).toBe(
      'bad-confirmation-tag',
    );
    const without = { ...joiner, memberCheck: anyone, psks: [psk] };
    expect(codeOf(() => joinExternal(info, without, env))).toBe('missing-psk');
    const twice = { ...joiner, memberCheck: anyone, psks: [psk, psk], pskLookup: psks };
    expect(refusalOf(() => joinExternal(info, twice, env))).toContain('PROP-04');
  });

  it('renews what its leaf says with a commit, within what the group requires', () => {
    const [alice, bob] = ofThree().participants;
    const leaf = {
      extensions: [applicationIdExtension(utf8('alice’s phone'))],
      capabilities: { proposals: [0xf0f0], extensions: [GROUP_BINDING_EXTENSION] },
    };
    const { pending } = committed(alice!.group, { leaf }, [bob!.group], []);
    const own = pending.tree.leaf(pending.ownLeaf);
    expect(findApplicationId(own?.extensions ?? [])).toEqual(utf8('alice’s phone'));
    expect(own?.capabilities.proposals).toContain(0xf0f0);
    const bound = createCommit(pending, { ...open, extensions: [binding] }, env).pending;
    expect(refusalOf(() => createCommit(bound, { ...open, leaf: {} }, env))).toContain('LEAF-03');
    const extensions = [requiredCapabilitiesExtension({ proposals: [0xf0f0] })];
    expect(codeOf(() => createCommit(pending, { ...open, extensions }, env))).toBe('invalid-proposal');
  });

  it('reads back the extensions that it made', () => {
    const required = { extensions: [0xf0a1], proposals: [9], credentials: [1] };
    expect(findRequiredCapabilities([requiredCapabilitiesExtension(required)])).toEqual(required);
    expect(findExternalSenders(watched)).toEqual([
      { signatureKey: bot.signatureKey.publicKey, credential: bot.credential },
    ]);
    expect([findRequiredCapabilities([]), findExternalSenders([]), findApplicationId([])]).toEqual([
      null,
      [],
      null,
    ]);
    const cut = watched.map(({ type, data }) => ({ type, data: data.subarray(1) }));
    expect(codeOf(() => findExternalSenders(cut))).toBe('malformed');
  });

  it('puts GREASE into every list that takes it, and nobody minds', () => {
    const isGrease = (type: number) => (type & 0x0f0f) === 0x0a0a && type >> 12 === ((type >> 4) & 0xf);
    const conversation = new Conversation(SUITE, env);
    const { group } = conversation.at(0);
    const greased = { ...device('greased', env), leaf: { grease: true } };
    const bundle = keyPackageOf(greased, SUITE, env);
    const { leafNode, extensions } = bundle.keyPackage;
    expect(extensions.filter(({ type }) => isGrease(type))).toHaveLength(1);
    const [own] = leafNode.extensions;
    expect([leafNode.extensions.length, isGrease(own?.type ?? 0)]).toEqual([1, true]);
    expect(leafNode.capabilities.extensions).toContain(own?.type);
    const { versions, ...lists } = leafNode.capabilities;
    expect(Object.values(lists).every((list) => list.some(isGrease))).toBe(true);
    expect(versions).toEqual([1]);
    const infoExtensions = [greaseExtension(env)];
    const created = createCommit(group, { ...open, adds: [bundle.bytes], infoExtensions }, env);
    const joined = joinByWelcome(created.welcome!, bundle, greased.signatureKey, { memberCheck: anyone });
    const info = decodeMlsMessage(created.groupInfo);
    expect(
      info.wireFormat === 'group-info' && info.groupInfo.extensions.some(({ type }) => isGrease(type)),
    ).toBe(true);
    const outside = joinExternal(
      created.groupInfo,
      { ...device('outside', env), leaf: { grease: true }, memberCheck: anyone },
      env,
    );
    expect(processCommit(joined, outside.commit, open).group.secrets).toEqual(outside.pending.secrets);
  });
});

describe('a stored proposal', () => {
  it('is refused in another version, cut, or longer', () => {
    const { group } = ofThree().at(0);
    const record = encodeStoredProposal(createProposal(group, { type: 'update' }, env).proposal);
    const read = (bytes: Uint8Array) => codeOf(() => decodeStoredProposal(bytes));
    expect(read(record)).toBe('none');
    expect(read(Uint8Array.of(2, ...record.subarray(1)))).toBe('unsupported');
    expect([read(record.subarray(0, -1)), read(Uint8Array.of(...record, 0)), read(new Uint8Array())]).toEqual(
      ['malformed', 'malformed', 'malformed'],
    );
  });
});
