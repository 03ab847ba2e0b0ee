/** Messages of one wire format, or with one content, where another belongs (RFC 9420 section 6). */
import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, utf8 } from '../../src/bytes.ts';
import { protectPublicMessage } from '../../src/framing/publicMessage.ts';
import { assembleCommit } from '../../src/group/assemble.ts';
import { publicKeysOf } from '../../src/group/senders.ts';
import { memberLeaf } from '../../src/group/state.ts';
import {
  createProposal,
  decodeKeyPackage,
  decryptApplication,
  exportGroupInfo,
  type Group,
  joinByWelcome,
  joinExternal,
  peekMessage,
  processCommit,
  processProposal,
  ready,
  welcomeKeyPackageRefs,
} from '../../src/index.ts';
import { decodeMlsMessage, encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { anyone, anything, device, groupOf, keyPackageOf } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';

const SUITE = 0x0003;
const env = testEnv('wire formats');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

/** A commit of a member as a public message, which this implementation processes but makes of nobody inside. */
function commitInTheOpen(by: Group): Uint8Array {
  const { suite, context } = by;
  const leafIndex = by.ownLeaf;
  const { content } = assembleCommit(
    {
      suite,
      context,
      interimTranscriptHash: by.interimTranscriptHash,
      initSecret: by.secrets.initSecret,
      pskSecret: new Uint8Array(suite.kdf.Nh),
      tree: by.tree.clone(),
      extensions: context.extensions,
      proposals: [],
      added: new Set(),
      sender: { type: 'member', leafIndex },
      leafIndex,
      leaf: memberLeaf(by.tree, leafIndex),
      signaturePrivateKey: by.signaturePrivateKey,
      withPath: true,
      wireFormat: 'public-message',
      authenticatedData: EMPTY,
    },
    env,
  );
  const publicMessage = protectPublicMessage(suite, content, publicKeysOf(by));
  return encodeMlsMessage({ wireFormat: 'public-message', publicMessage });
}

/** One message of each wire format and content, which others made, and the functions that take some of them. */
function played() {
  const conversation = groupOf(3, SUITE, env);
  const [alice, bob] = [conversation.at(0), conversation.at(1)];
  const newcomer = device('newcomer', env);
  const bundle = keyPackageOf(newcomer, SUITE, env);
  const { commit, groupInfo, welcome } = alice.commit({ adds: [bundle.bytes] }, env);
  const outside = { ...device('outside', env), memberCheck: anyone };
  const messages = {
    application: alice.send('text', env),
    proposal: createProposal(alice.group, { type: 'update' }, env).message,
    commit,
    'proposal in the open': createProposal(alice.group, { type: 'update' }, env, {
      wireFormat: 'public-message',
    }).message,
    'commit in the open': joinExternal(exportGroupInfo(alice.group), outside, env).commit,
    welcome: welcome ?? EMPTY,
    'group info': groupInfo,
    'key package': bundle.bytes,
  };
  const doors: Record<string, readonly [(bytes: Uint8Array) => unknown, (keyof typeof messages)[]]> = {
    decryptApplication: [(bytes) => decryptApplication(bob.group, bytes), ['application']],
    processProposal: [(bytes) => processProposal(bob.group, bytes), ['proposal', 'proposal in the open']],
    processCommit: [(bytes) => processCommit(bob.group, bytes, hooks), ['commit', 'commit in the open']],
    joinByWelcome: [(bytes) => joinByWelcome(bytes, bundle, newcomer.signatureKey, hooks), ['welcome']],
    welcomeKeyPackageRefs: [welcomeKeyPackageRefs, ['welcome']],
    joinExternal: [(bytes) => joinExternal(bytes, outside, env), ['group info']],
    decodeKeyPackage: [decodeKeyPackage, ['key package']],
  };
  return { messages, doors, context: bob.group.context };
}

describe('a message in the place of another', () => {
  it('is refused as malformed by each function that takes messages, and what belongs there is not', () => {
    const { messages, doors } = played();
    for (const [name, [door, taken]] of Object.entries(doors)) {
      const malformed = Object.entries(messages)
        .filter(([, bytes]) => codeOf(() => door(bytes)) === 'malformed')
        .map(([kind]) => kind);
      const others = Object.keys(messages).filter((kind) => !(taken as string[]).includes(kind));
      expect([name, malformed]).toEqual([name, others]);
    }
  });

  it('is named by its kind in the refusal', () => {
    const { messages, doors } = played();
    const refusal = (door: string, kind: keyof typeof messages) =>
      refusalOf(() => doors[door]?.[0](messages[kind]));
    expect([
      refusal('processCommit', 'application'),
      refusal('processCommit', 'welcome'),
      refusal('processCommit', 'proposal in the open'),
      refusal('processProposal', 'commit in the open'),
      refusal('joinByWelcome', 'key package'),
      refusal('joinExternal', 'commit'),
      refusal('decodeKeyPackage', 'group info'),
    ]).toEqual([
      'malformed: application instead of a commit',
      'malformed: welcome instead of a commit',
      'malformed: proposal instead of a commit',
      'malformed: commit instead of a proposal',
      'malformed: key-package instead of a welcome',
      'malformed: private-message instead of a group info',
      'malformed: group-info instead of a key package',
    ]);
  });
});

describe('a message of a member in the open', () => {
  it('is processed by the others, and known again by its sender, be it a commit or a proposal', () => {
    const conversation = groupOf(3, SUITE, env);
    const [alice, bob, carol] = [0, 1, 2].map((at) => conversation.at(at).group) as [Group, Group, Group];
    const commit = commitInTheOpen(alice);
    const [one, other] = [bob, carol].map((group) => processCommit(group, commit, hooks));
    expect([one?.sender, one?.external]).toEqual([alice.ownLeaf, false]);
    expect(one?.group.secrets).toEqual(other?.group.secrets);
    expect(codeOf(() => processCommit(alice, commit, hooks))).toBe('own-message');
    const remove = { type: 'remove', removed: carol.ownLeaf } as const;
    const proposed = createProposal(alice, remove, env, { wireFormat: 'public-message' });
    expect(processProposal(bob, proposed.message)).toEqual(proposed.proposal);
    expect(codeOf(() => processProposal(alice, proposed.message))).toBe('own-message');
  });
});

describe('peekMessage', () => {
  it('tells group, epoch and content of what is sent to a group, and of the rest its wire format alone', () => {
    const { messages, context } = played();
    const { groupId, epoch } = context;
    const inside = { groupId, epoch, authenticatedData: EMPTY };
    const privately = { wireFormat: 'private-message', ...inside };
    expect(Object.entries(messages).map(([kind, bytes]) => [kind, peekMessage(bytes)])).toEqual([
      ['application', { ...privately, contentType: 'application', authenticatedData: utf8('aad') }],
      ['proposal', { ...privately, contentType: 'proposal' }],
      ['commit', { ...privately, contentType: 'commit' }],
      ['proposal in the open', { wireFormat: 'public-message', ...inside, contentType: 'proposal' }],
      ['commit in the open', { wireFormat: 'public-message', ...inside, contentType: 'commit' }],
      ['welcome', { wireFormat: 'welcome' }],
      ['group info', { wireFormat: 'group-info' }],
      ['key package', { wireFormat: 'key-package' }],
    ]);
  });

  it('refuses another protocol version and an unknown wire format', () => {
    const { 'key package': bytes } = played().messages;
    const beginning = (...octets: number[]) => Uint8Array.of(...octets, ...bytes.subarray(octets.length));
    expect(encodeMlsMessage(decodeMlsMessage(beginning(0, 1, 0, 5)))).toEqual(bytes);
    expect([
      refusalOf(() => peekMessage(beginning(0, 2))),
      refusalOf(() => peekMessage(beginning(0, 1, 0, 0))),
      refusalOf(() => peekMessage(beginning(0, 1, 0, 6))),
    ]).toEqual([
      'unsupported: protocol version 2',
      'unsupported: wire format 0',
      'unsupported: wire format 6',
    ]);
  });
});
