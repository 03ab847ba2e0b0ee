/** Messages of one wire format, or with one content, where another belongs (RFC 9420 section 6). */
import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY } from '../../src/bytes.ts';
import {
  createProposal,
  decodeKeyPackage,
  decryptApplication,
  exportGroupInfo,
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
    'commit in the open': joinExternal(exportGroupInfo(alice.group), outside, env).commit,
    welcome: welcome ?? EMPTY,
    'group info': groupInfo,
    'key package': bundle.bytes,
  };
  const doors: Record<string, readonly [(bytes: Uint8Array) => unknown, (keyof typeof messages)[]]> = {
    decryptApplication: [(bytes) => decryptApplication(bob.group, bytes), ['application']],
    processProposal: [(bytes) => processProposal(bob.group, bytes), ['proposal']],
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
      refusal('processProposal', 'commit in the open'),
      refusal('joinByWelcome', 'key package'),
      refusal('joinExternal', 'commit'),
      refusal('decodeKeyPackage', 'group info'),
    ]).toEqual([
      'malformed: application instead of a commit',
      'malformed: welcome instead of a commit',
      'malformed: commit instead of a proposal',
      'malformed: key-package instead of a welcome',
      'malformed: private-message instead of a group info',
      'malformed: group-info instead of a key package',
    ]);
  });
});

describe('peekMessage', () => {
  it('tells group, epoch and content of what is sent to a group, and of the rest its wire format alone', () => {
    const { messages, context } = played();
    const { groupId, epoch } = context;
    const privately = { wireFormat: 'private-message', groupId, epoch };
    expect(Object.entries(messages).map(([kind, bytes]) => [kind, peekMessage(bytes)])).toEqual([
      ['application', { ...privately, contentType: 'application' }],
      ['proposal', { ...privately, contentType: 'proposal' }],
      ['commit', { ...privately, contentType: 'commit' }],
      ['commit in the open', { wireFormat: 'public-message', groupId, epoch, contentType: 'commit' }],
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
