/** Messages that were changed, cut, repeated or misdirected on their way, at the level the application sees. */
import { beforeAll, describe, expect, it } from 'vitest';
import { concat, utf8 } from '../../src/bytes.ts';
import {
  type CryptoErrorCode,
  decodeKeyPackageBundle,
  decryptApplication,
  encodeKeyPackageBundle,
  encryptApplication,
  exportGroupInfo,
  joinByWelcome,
  joinExternal,
  loadGroup,
  peekMessage,
  processCommit,
  processProposal,
  ready,
  saveEpoch,
  toLeafIndex,
} from '../../src/index.ts';
import { codeOf } from '../codeOf.ts';
import {
  anyone,
  anything,
  Conversation,
  device,
  keyPackageOf,
  type Participant,
  SUITES,
} from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { flip } from './forge.ts';

const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

function ofThree(suite: (typeof SUITES)[number], seed: string): Conversation {
  const conversation = new Conversation(suite, testEnv(seed));
  conversation.add(conversation.at(0), [
    device('device 1', conversation.env),
    device('device 2', conversation.env),
  ]);
  return conversation;
}

/** Lengths of the fields of an MLSMessage that start it, in order; the group id here has 5 bytes. */
const HEADER = [
  ['version', 2],
  ['wire format', 2],
  ['group id length', 1],
  ['group id', 5],
  ['epoch', 8],
] as const;

interface ByteClass {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

function byteClasses(fields: readonly (readonly [string, number])[], total: number): ByteClass[] {
  let start = 0;
  const classes = fields.map(([name, length]) => ({ name, start, end: (start += length) }));
  return [...classes, { name: 'rest', start, end: total }];
}

type ExpectedCodes = Readonly<Record<string, readonly CryptoErrorCode[]>>;

/** Flips bits of every byte, one at a time; names each place where the answer isn't among the expected codes. */
function unexpected(
  message: Uint8Array,
  classes: readonly ByteClass[],
  codes: ExpectedCodes,
  open: (changed: Uint8Array) => unknown,
): string[] {
  const found: string[] = [];
  for (const { name, start, end } of classes) {
    for (let at = start; at < end; at += 1) {
      for (const bit of [0x01, 0x40]) {
        const changed = message.slice();
        changed[at] = (changed[at] ?? 0) ^ bit;
        const code = codeOf(() => open(changed));
        if (!codes[name]?.some((expected) => expected === code)) found.push(`${name} at ${at}: ${code}`);
      }
    }
  }
  return found;
}

/** Cuts a message at every length; names each length that isn't refused as malformed. */
function unexpectedCuts(message: Uint8Array, open: (cut: Uint8Array) => unknown): number[] {
  return [...message.keys()].filter(
    (length) => codeOf(() => open(message.subarray(0, length))) !== 'malformed',
  );
}

function stateOf({ store }: Participant): unknown {
  return structuredClone([store.epochRecord, [...store.records]]);
}

describe.each(SUITES)('an application message in suite %i', (suite) => {
  const codes: ExpectedCodes = {
    version: ['unsupported'],
    'wire format': ['unsupported', 'malformed'],
    'group id length': ['malformed', 'wrong-group'],
    'group id': ['wrong-group'],
    epoch: ['wrong-epoch'],
    'content type': ['malformed'],
    'authenticated data length': ['malformed', 'decrypt-failed'],
    'authenticated data': ['decrypt-failed'],
    'sender data length': ['malformed', 'decrypt-failed'],
    'sender data': ['decrypt-failed'],
    rest: ['malformed', 'decrypt-failed'],
  };
  const fields = [
    ...HEADER,
    ['content type', 1],
    ['authenticated data length', 1],
    ['authenticated data', 3],
    ['sender data length', 1],
    ['sender data', 28],
  ] as const;

  it('is refused with the right code whichever bit is flipped, and read afterwards when unchanged', () => {
    const conversation = ofThree(suite, 'flips');
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const message = alice.send('the true one', conversation.env);
    const before = stateOf(bob);
    const { group } = bob;
    const classes = byteClasses(fields, message.length);
    expect(unexpected(message, classes, codes, (changed) => decryptApplication(group, changed))).toEqual([]);
    bob.store.saveStep(group);
    expect(stateOf(bob)).toEqual(before);
    expect(bob.receive(message)).toBe('the true one');
    expect(conversation.disagreements()).toEqual([]);
  });

  it('is refused as malformed when it is cut or longer', () => {
    const conversation = ofThree(suite, 'cut');
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const message = alice.send('text', conversation.env);
    const { group } = bob;
    expect(unexpectedCuts(message, (cut) => decryptApplication(group, cut))).toEqual([]);
    expect(codeOf(() => decryptApplication(group, concat(message, Uint8Array.of(0))))).toBe('malformed');
    expect(bob.receive(message)).toBe('text');
  });

  it('is refused when it is replayed, of another epoch, or our own', () => {
    const conversation = ofThree(suite, 'replayed');
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const old = alice.send('old', conversation.env);
    const unread = alice.send('unread', conversation.env);
    expect(bob.receive(old)).toBe('old');
    expect(codeOf(() => bob.receive(old))).toBe('replayed');
    expect(codeOf(() => alice.receive(old))).toBe('own-message');
    conversation.update(alice);
    expect(codeOf(() => bob.receive(unread))).toBe('wrong-epoch');
    const future = conversation.at(2).commit({}, conversation.env).pending;
    const early = encryptApplication(future, utf8('early'), utf8(''), conversation.env);
    expect(codeOf(() => bob.receive(early))).toBe('wrong-epoch');
    expect(conversation.disagreements()).toEqual([]);
  });

  it('is refused when its sender is a blank leaf or pretends to be another member', () => {
    const conversation = ofThree(suite, 'sender');
    const [alice, mallory] = [conversation.at(0), conversation.at(1)];
    const from = (leaf: number): Uint8Array =>
      encryptApplication(
        { ...mallory.group, ownLeaf: toLeafIndex(leaf) },
        utf8('hi'),
        utf8(''),
        conversation.env,
      );
    expect(codeOf(() => alice.receive(from(3)))).toBe('unknown-sender');
    expect(codeOf(() => alice.receive(from(2)))).toBe('bad-signature');
    expect(conversation.disagreements()).toEqual([]);
  });

  it('is refused too many generations ahead, and read within the limit', () => {
    const conversation = ofThree(suite, 'far');
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const { group } = alice;
    const messages = Array.from({ length: 1002 }, (_, index) =>
      encryptApplication(group, utf8(`text ${index}`), utf8(''), conversation.env),
    );
    alice.store.saveStep(group);
    expect(codeOf(() => bob.receive(messages[1001] ?? new Uint8Array(0)))).toBe('generation-too-far');
    expect(bob.receive(messages[1000] ?? new Uint8Array(0))).toBe('text 1000');
    expect(bob.receive(messages[1001] ?? new Uint8Array(0))).toBe('text 1001');
  });
});

describe('a commit that was changed on its way', () => {
  const publicCodes: ExpectedCodes = {
    version: ['unsupported'],
    'wire format': ['unsupported', 'malformed'],
    'group id length': ['malformed', 'wrong-group'],
    'group id': ['wrong-group'],
    epoch: ['wrong-epoch'],
    rest: [
      'malformed',
      'unsupported',
      'bad-signature',
      'bad-confirmation-tag',
      'unknown-sender',
      'bad-membership-tag',
      'invalid-commit',
    ],
  };

  /**
   * Lists the wrong answers to a commit changed or cut anywhere, and the records of the secret tree that they moved.
   */
  function wrongAnswers(participant: Participant, commit: Uint8Array, codes: ExpectedCodes): unknown[] {
    const { group } = participant;
    const open = (changed: Uint8Array): unknown => processCommit(group, changed, hooks);
    const answers = unexpected(commit, byteClasses(HEADER, commit.length), codes, open);
    const cuts = unexpectedCuts(commit, open);
    const { puts, deletes } = group.secretTree.takeChanges();
    return [...answers, ...cuts, ...puts, ...deletes];
  }

  it.each(SUITES)(
    'is refused at every byte as a private message, and processed when unchanged (suite %i)',
    (suite) => {
      const conversation = ofThree(suite, 'private commit');
      const [alice, bob] = [conversation.at(0), conversation.at(1)];
      const created = alice.commit({}, conversation.env);
      const codes: ExpectedCodes = { ...publicCodes, rest: ['malformed', 'decrypt-failed'] };
      expect(wrongAnswers(bob, created.commit, codes)).toEqual([]);
      expect(codeOf(() => alice.process(created.commit))).toBe('own-message');
      conversation.accept(alice, created);
      expect(conversation.disagreements()).toEqual([]);
      expect(codeOf(() => bob.process(created.commit))).toBe('wrong-epoch');
    },
  );

  it.each(SUITES)(
    'is refused at every byte as an external commit, and processed when unchanged (suite %i)',
    (suite) => {
      const conversation = ofThree(suite, 'external commit');
      const bob = conversation.at(1);
      const joiner = device('joiner', conversation.env);
      const join = joinExternal(
        exportGroupInfo(bob.group),
        { ...joiner, memberCheck: anyone },
        conversation.env,
      );
      expect(wrongAnswers(bob, join.commit, publicCodes)).toEqual([]);
      expect(bob.process(join.commit).external).toBe(true);
    },
  );
});

describe('an invitation that was changed on its way', () => {
  it('is refused at every byte of the welcome, and accepted when unchanged', () => {
    const conversation = ofThree(3, 'welcome');
    const newcomer = device('newcomer', conversation.env);
    const bundle = keyPackageOf(newcomer, 3, conversation.env);
    const { welcome, pending } = conversation.at(0).commit({ adds: [bundle.bytes] }, conversation.env);
    if (welcome === null) throw new Error('no welcome');
    const join = (bytes: Uint8Array) => joinByWelcome(bytes, bundle, newcomer.signatureKey, hooks);
    const codes = ['malformed', 'unsupported', 'missing-key', 'decrypt-failed'];
    for (let at = 0; at < welcome.length; at += 1) {
      expect(codes).toContain(codeOf(() => join(flip(welcome, at))));
      expect(codeOf(() => join(welcome.subarray(0, at)))).toBe('malformed');
    }
    expect(join(welcome).secrets).toEqual(pending.secrets);
  });

  it('is refused at every byte of the group info', () => {
    const conversation = ofThree(3, 'group info');
    const joiner = { ...device('joiner', conversation.env), memberCheck: anyone };
    const info = exportGroupInfo(conversation.at(0).group);
    const codes: CryptoErrorCode[] = [
      'malformed',
      'unsupported',
      'missing-tree',
      'bad-signature',
      'unknown-sender',
      'invalid-tree',
      'invalid-leaf',
    ];
    for (let at = 0; at < info.length; at += 1) {
      expect(codes).toContain(codeOf(() => joinExternal(flip(info, at), joiner, conversation.env)));
    }
    joinExternal(info, joiner, conversation.env);
  });
});

describe('bytes of any kind', () => {
  it('make every function that takes bytes from outside throw a CryptoError and no other error', () => {
    const conversation = ofThree(3, 'noise');
    const { env } = conversation;
    const alice = conversation.at(0).group;
    const owner = device('newcomer', env);
    const bundle = keyPackageOf(owner, 3, env);
    const created = conversation.at(0).commit({ adds: [bundle.bytes] }, env);
    const samples = [
      bundle.bytes,
      created.commit,
      created.welcome ?? new Uint8Array(0),
      created.groupInfo,
      saveEpoch(alice),
      encodeKeyPackageBundle(bundle),
    ];
    const doors: ((bytes: Uint8Array) => unknown)[] = [
      peekMessage,
      (bytes) => decryptApplication(alice, bytes),
      (bytes) => processCommit(alice, bytes, hooks),
      (bytes) => processProposal(alice, bytes),
      (bytes) => joinByWelcome(bytes, bundle, owner.signatureKey, hooks),
      (bytes) => joinExternal(bytes, { ...owner, memberCheck: anyone }, env),
      (bytes) => loadGroup(bytes, () => undefined),
      decodeKeyPackageBundle,
    ];
    const draw = (below: number): number => {
      const [high = 0, low = 0] = env.random(2);
      return (high * 256 + low) % below;
    };
    const answers = new Set<string>();
    for (let round = 0; round < 400; round += 1) {
      const sample = samples[round % samples.length] ?? new Uint8Array(0);
      const bytes = round % 4 === 0 ? env.random(draw(200)) : sample.slice(0, sample.length - draw(3));
      for (let change = draw(4); change > 0 && bytes.length > 0; change -= 1) {
        bytes[draw(bytes.length)] = draw(256);
      }
      // `codeOf` rethrows any error that isn't a CryptoError, which fails the test.
      for (const door of doors) answers.add(codeOf(() => door(bytes)));
    }
    expect(answers).toContain('malformed');
    // 'usage' is for bugs of the caller, so that bytes from outside never cause it.
    expect(answers).not.toContain('usage');
  });
});
