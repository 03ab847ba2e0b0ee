import { beforeAll, describe, expect, it } from 'vitest';
import { decodeRemovalGrounds, encodeRemovalGrounds } from '../../src/account/removalGrounds.ts';
import { EMPTY } from '../../src/bytes.ts';
import { DEFAULT_LIMITS, type Limits } from '../../src/codec/limits.ts';
import { decode } from '../../src/codec/reader.ts';
import { encode } from '../../src/codec/writer.ts';
import { byValue } from '../../src/group/proposalList.ts';
import {
  createCommit,
  exportGroupInfo,
  joinByWelcome,
  joinExternal,
  processCommit,
  ready,
} from '../../src/index.ts';
import { readCapabilities, writeCapabilities } from '../../src/structs/capabilities.ts';
import { readCommit, writeCommit } from '../../src/structs/commit.ts';
import { readComponents, writeComponents } from '../../src/structs/component.ts';
import { readCredential, writeCredential } from '../../src/structs/credential.ts';
import { readExtensions, writeExtensions } from '../../src/structs/extension.ts';
import { readExternalSenders, writeExternalSender } from '../../src/structs/externalSender.ts';
import { readGroupContext, writeGroupContext } from '../../src/structs/groupContext.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import {
  readParentNode,
  readRatchetTreeNodes,
  writeParentNode,
  writeRatchetTreeNodes,
} from '../../src/structs/node.ts';
import {
  readUpdatePath,
  readUpdatePathNode,
  writeUpdatePath,
  writeUpdatePathNode,
} from '../../src/structs/updatePath.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { anyone, anything, device, groupOf, keyPackageOf } from '../scenario/world.ts';
import { forgeCommit } from '../tamper/forge.ts';
import { testEnv } from '../testEnv.ts';

const SUITE = 0x0003;
const env = testEnv('limits');
const hooks = { memberCheck: anyone, policy: anything };
const few: Limits = { ...DEFAULT_LIMITS, leaves: 4, nodes: 7, proposals: 2 };

beforeAll(ready);

function many<T>(count: number, item: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => item(at));
}

const leafNode = {
  encryptionKey: EMPTY,
  signatureKey: EMPTY,
  credential: { type: 'basic', identity: EMPTY },
  capabilities: { versions: [], cipherSuites: [], extensions: [], proposals: [], credentials: [] },
  source: { type: 'update' },
  extensions: [],
  signature: EMPTY,
} as const;

/** The groups that the limits are for, when a caller names none. */
const DEVICES = 4096;
/** Encodes so many of what a limit is for, and decodes it; the most that there may be, in groups of that size. */
const decoders: readonly [keyof Limits, number, (count: number) => unknown][] = [
  [
    'groupIdBytes',
    256,
    (count) => {
      const context = {
        cipherSuite: SUITE,
        groupId: new Uint8Array(count),
        epoch: 0n,
        treeHash: EMPTY,
        confirmedTranscriptHash: EMPTY,
        extensions: [],
      };
      return decode(encode(context, writeGroupContext), readGroupContext);
    },
  ],
  [
    'nodes',
    2 * DEVICES - 1,
    (count) =>
      decode(
        encode(
          many(count, () => null),
          writeRatchetTreeNodes,
        ),
        readRatchetTreeNodes,
      ),
  ],
  [
    'leaves',
    DEVICES,
    (count) => {
      const parent = { encryptionKey: EMPTY, parentHash: EMPTY, unmergedLeaves: many(count, toLeafIndex) };
      return decode(encode(parent, writeParentNode), readParentNode);
    },
  ],
  [
    'leaves',
    DEVICES,
    (count) => {
      const encryptedPathSecret = many(count, () => ({ kemOutput: EMPTY, ciphertext: EMPTY }));
      const node = { encryptionKey: EMPTY, encryptedPathSecret };
      return decode(encode(node, writeUpdatePathNode), readUpdatePathNode);
    },
  ],
  [
    'pathNodes',
    Math.log2(DEVICES),
    (count) => {
      const nodes = many(count, () => ({ encryptionKey: EMPTY, encryptedPathSecret: [] }));
      return decode(encode({ leafNode, nodes }, writeUpdatePath), readUpdatePath);
    },
  ],
  [
    'components',
    256,
    (count) =>
      decode(
        encode(
          many(count, (componentId) => ({ componentId, data: EMPTY })),
          writeComponents,
        ),
        readComponents,
      ),
  ],
  [
    'proposals',
    DEVICES / 2,
    (count) => {
      const remove = byValue({ type: 'remove', removed: toLeafIndex(0) });
      return decode(encode({ proposals: many(count, () => remove), path: null }, writeCommit), readCommit);
    },
  ],
  [
    'extensions',
    32,
    (count) =>
      decode(
        encode(
          many(count, (type) => ({ type, data: EMPTY })),
          writeExtensions,
        ),
        readExtensions,
      ),
  ],
  [
    'capabilities',
    64,
    (count) => {
      const none = { versions: [], cipherSuites: [], extensions: [], proposals: [], credentials: [] };
      return decode(
        encode({ ...none, credentials: many(count, (at) => at) }, writeCapabilities),
        readCapabilities,
      );
    },
  ],
  [
    'externalSenders',
    16,
    (count) => {
      const sender = { signatureKey: EMPTY, credential: { type: 'basic', identity: EMPTY } } as const;
      const list = many(count, () => sender);
      return decode(
        encode(list, (w, items) => w.vector(items, writeExternalSender)),
        readExternalSenders,
      );
    },
  ],
  [
    'certificates',
    16,
    (count) =>
      decode(
        encode({ type: 'x509', certificates: many(count, () => EMPTY) }, writeCredential),
        readCredential,
      ),
  ],
  [
    'statements',
    DEVICES / 2,
    (count) =>
      decodeRemovalGrounds(encodeRemovalGrounds({ departures: many(count, () => EMPTY), revocations: [] })),
  ],
];

describe('a limit', () => {
  it.each(decoders)(
    'of %s is the most that is read, %i, when the caller names none',
    (limit, most, decodeMany) => {
      expect(codeOf(() => decodeMany(most))).toBe('none');
      expect(refusalOf(() => decodeMany(most + 1))).toContain(
        limit === 'groupIdBytes'
          ? 'malformed: length of a group id'
          : `unsupported: more than ${most} ${limit}`,
      );
    },
  );

  it('that a caller names holds for what it joins, by a welcome and from outside', () => {
    const conversation = groupOf(5, SUITE, env);
    const newcomer = device('newcomer', env);
    const bundle = keyPackageOf(newcomer, SUITE, env);
    const info = exportGroupInfo(conversation.at(0).group);
    const { welcome } = conversation.at(0).commit({ adds: [bundle.bytes] }, env);
    const join = (limits?: Limits) => () =>
      joinByWelcome(welcome ?? EMPTY, bundle, newcomer.signatureKey, {
        memberCheck: anyone,
        ...(limits && { limits }),
      });
    const enter = (limits?: Limits) => () =>
      joinExternal(info, { ...newcomer, memberCheck: anyone, ...(limits && { limits }) }, env);
    expect([refusalOf(join()), refusalOf(enter())]).toEqual(['none', 'none']);
    expect(refusalOf(join(few))).toBe('unsupported: more than 7 nodes');
    expect(refusalOf(enter(few))).toBe('unsupported: more than 7 nodes');
  });

  it('that a caller names holds for commits, and a committer makes none beyond its own', () => {
    const conversation = groupOf(4, SUITE, env);
    const [alice, bob] = [conversation.at(0).group, conversation.at(1).group];
    const removes = [2, 3].map(toLeafIndex);
    const adds = many(3, (at) => keyPackageOf(device(`newcomer ${at}`, env), SUITE, env).bytes);
    const create = (args: object) => () => createCommit(alice, { ...hooks, ...args }, env);
    expect(refusalOf(create({ adds, limits: few }))).toBe('unsupported: more than 2 proposals');
    expect(refusalOf(create({ adds: adds.slice(1), limits: few }))).toBe('unsupported: more than 4 leaves');
    expect(refusalOf(create({ removes, limits: few }))).toBe('none');

    const proposals = many(3, () =>
      byValue({ type: 'psk', psk: { type: 'external', pskId: EMPTY, nonce: EMPTY } }),
    );
    const commit = forgeCommit(bob, { proposals }, env);
    expect(refusalOf(() => processCommit(alice, commit, { ...hooks, limits: few }))).toBe(
      'unsupported: more than 2 proposals',
    );
    expect(refusalOf(() => processCommit(alice, commit, hooks))).toContain('invalid-proposal: PROP-03');
  });
});
