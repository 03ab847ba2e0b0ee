/**
 * A conversation of two under a seeded Env, compared byte for byte with what it was when its golden file was written.
 * A difference means that peers or stored states of the previous version may no longer be understood. If that is
 * intended, run this test with UPDATE_GOLDEN=1 and say so in the commit.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { fromUtf8, toHex } from '../../src/bytes.ts';
import {
  type CipherSuiteId,
  decryptApplication,
  encodeKeyPackageBundle,
  joinByWelcome,
  joinExternal,
  loadGroup,
  ready,
} from '../../src/index.ts';
import { fromHex } from '../kat/vectors.ts';
import {
  anyone,
  authenticatorOf,
  Conversation,
  device,
  keyPackageOf,
  Participant,
  SUITES as SUITES_OF_TESTS,
} from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';

interface Golden {
  /** Everything that was sent, published or stored, in order. */
  readonly steps: Record<string, string>;
  /** Bob's state before the last message, and that message. */
  readonly state: { epochRecord: string; records: Record<string, string>; message: string; text: string };
}

const SUITES: readonly CipherSuiteId[] = [...SUITES_OF_TESTS, 0x004d];

const LAST_TEXT = 'Until tomorrow.';

function goldenFile(suite: CipherSuiteId): string {
  const name = suite.toString(16).padStart(4, '0');
  return fileURLToPath(new URL(`./golden/conversation-${name}.json`, import.meta.url));
}

function readGolden(suite: CipherSuiteId): Golden {
  return JSON.parse(readFileSync(goldenFile(suite), 'utf8')) as Golden;
}

/**
 * Plays a conversation: Alice and Bob meet, talk, heal; Alice's second device joins from outside and is removed
 * again.
 */
function play(suite: CipherSuiteId): Golden {
  const env = testEnv('golden conversation');
  const steps: Record<string, string> = {};
  const note = (name: string, bytes: Uint8Array): Uint8Array => {
    steps[name] = toHex(bytes);
    return bytes;
  };
  const conversation = new Conversation(suite, env);
  const alice = conversation.at(0);
  const bobsDevice = device('bob', env);
  const bundle = keyPackageOf(bobsDevice, suite, env);
  note('key package', bundle.bytes);
  note('key package bundle', encodeKeyPackageBundle(bundle));

  const created = alice.commit({ adds: [bundle.bytes] }, env);
  note('commit: add bob', created.commit);
  note('welcome', created.welcome ?? new Uint8Array(0));
  note('group info', created.groupInfo);
  alice.store.saveEpoch(created.pending);
  const joined = joinByWelcome(fromHex(steps['welcome'] ?? ''), bundle, bobsDevice.signatureKey, {
    memberCheck: anyone,
  });
  const bob = new Participant(bobsDevice, joined);
  conversation.participants.push(bob);

  bob.receive(note('alice: hello', alice.send('Hello, Bob.', env)));
  alice.receive(note('bob: hello', bob.send('Hello, Alice.', env)));
  const healing = bob.commit({}, env);
  note('commit: bob heals', healing.commit);
  conversation.accept(bob, healing);
  alice.receive(note('bob: healed', bob.send('Fresh keys.', env)));

  const second = device('alice, second device', env);
  const join = joinExternal(healing.groupInfo, { ...second, memberCheck: anyone }, env);
  note('external commit', join.commit);
  for (const participant of conversation.participants) participant.process(join.commit);
  const laptop = new Participant(second, join.pending);
  conversation.participants.push(laptop);
  const toBoth = note('bob: to both', bob.send('Both of you?', env));
  for (const participant of [alice, laptop]) participant.receive(toBoth);
  const removal = alice.commit({ removes: [laptop.group.ownLeaf] }, env);
  note('commit: remove the second device', removal.commit);
  conversation.accept(alice, removal);
  note('epoch authenticator', fromHex(authenticatorOf(bob)));
  note('epoch record of bob', bob.store.epochRecord);

  const records = Object.fromEntries([...bob.store.records].map(([key, bytes]) => [key, toHex(bytes)]));
  const message = note('alice: last', alice.send(LAST_TEXT, env));
  const state = {
    epochRecord: toHex(bob.store.epochRecord),
    records,
    message: toHex(message),
    text: LAST_TEXT,
  };
  expect(bob.receive(message)).toBe(LAST_TEXT);
  return { steps, state };
}

beforeAll(async () => {
  await ready();
  for (const suite of SUITES) {
    if (process.env['UPDATE_GOLDEN'] !== '1') continue;
    writeFileSync(goldenFile(suite), `${JSON.stringify(play(suite), null, 1)}\n`);
  }
});

describe.each(SUITES)('the golden conversation of suite %i', (suite) => {
  it('replays byte for byte', () => {
    const { steps, state } = play(suite);
    const golden = readGolden(suite);
    expect(Object.keys(steps)).toEqual(Object.keys(golden.steps));
    const changed = Object.keys(golden.steps).filter((name) => steps[name] !== golden.steps[name]);
    expect(changed).toEqual([]);
    expect(state).toEqual(golden.state);
  });

  it('decrypts a message with the state that was stored in the golden file', () => {
    const { epochRecord, records, message, text } = readGolden(suite).state;
    const group = loadGroup(fromHex(epochRecord), (key) => {
      const record = records[key];
      return record === undefined ? undefined : fromHex(record);
    });
    expect(fromUtf8(decryptApplication(group, fromHex(message)).plaintext)).toBe(text);
  });
});
