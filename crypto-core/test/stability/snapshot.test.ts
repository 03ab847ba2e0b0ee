import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { concat, fromUtf8, utf8 } from '../../src/bytes.ts';
import {
  createProposal,
  decryptApplication,
  type Group,
  loadGroup,
  ready,
  reloadSecretTree,
  saveEpoch,
  toLeafIndex,
} from '../../src/index.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { fromHex } from '../kat/vectors.ts';
import { Conversation, device, SUITES } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';

beforeAll(ready);

function ofThree(suite: (typeof SUITES)[number]): Conversation {
  const conversation = new Conversation(suite, testEnv('snapshot'));
  const { env } = conversation;
  conversation.add(conversation.at(0), [device('device 1', env), device('device 2', env)]);
  return conversation;
}

/** Returns everything but the secret tree, which has its own records. */
function contents(group: Group): unknown {
  const { tree, secretTree: _, ...rest } = group;
  return [rest, tree.toNodes()];
}

it('reads an epoch that was stored as record version 1, and goes on with it', () => {
  const file = new URL('./golden/epoch-record-1.json', import.meta.url);
  const { epochRecord, records, message, text } = JSON.parse(readFileSync(file, 'utf8')) as {
    epochRecord: string;
    records: Record<string, string>;
    message: string;
    text: string;
  };
  const lookup = (key: string) => (records[key] === undefined ? undefined : fromHex(records[key]));
  expect(fromHex(epochRecord)[0]).toBe(1);
  const group = loadGroup(fromHex(epochRecord), lookup);
  expect(saveEpoch(group)[0]).toBe(2);
  const again = loadGroup(saveEpoch(group), lookup);
  expect(fromUtf8(decryptApplication(again, fromHex(message)).plaintext)).toBe(text);
});

describe.each(SUITES)('a saved group in suite %i', (suite) => {
  it('is loaded as it was, in every status and with an update that waits', () => {
    const conversation = ofThree(suite);
    const { group } = conversation.at(1);
    const waiting = createProposal(group, { type: 'update' }, conversation.env).group;
    expect(waiting.pendingUpdates.size).toBe(1);
    for (const state of [group, waiting, { ...group, status: 'removed' } as const]) {
      const loaded = loadGroup(saveEpoch(state), () => undefined);
      expect(contents(loaded)).toEqual(contents(state));
      expect(saveEpoch(loaded)).toEqual(saveEpoch(state));
    }
  });

  it('keeps the ReInit that ended it, and takes no other proposal in its place', () => {
    const { group } = ofThree(suite).at(0);
    const { type } = { type: 'reinit' } as const;
    const reInit = { type, groupId: utf8('next'), version: 1, cipherSuite: 0xf04d, extensions: [] };
    const ended = { ...group, status: 'reinitialized', reInit } as const;
    expect(loadGroup(saveEpoch(ended), () => undefined).reInit).toEqual(reInit);
    const other = { type: 'remove', removed: toLeafIndex(0) } as unknown as typeof reInit;
    expect(refusalOf(() => loadGroup(saveEpoch({ ...ended, reInit: other }), () => undefined))).toBe(
      'malformed: no ReInit in an epoch record',
    );
  });

  it('is refused in another version, cut, or longer', () => {
    const record = saveEpoch(ofThree(suite).at(0).group);
    const load = (bytes: Uint8Array) => () => loadGroup(bytes, () => undefined);
    const beginning = (...octets: number[]) =>
      concat(Uint8Array.of(...octets), record.subarray(octets.length));
    expect([0, 3, 255].map((version) => codeOf(load(beginning(version))))).toEqual(
      Array.from({ length: 3 }, () => 'unsupported'),
    );
    expect([0, 1, 2].map((status) => load(beginning(2, status))().status)).toEqual([
      'active',
      'removed',
      'reinitialized',
    ]);
    expect([3, 255].map((status) => codeOf(load(beginning(2, status))))).toEqual(['malformed', 'malformed']);
    expect(codeOf(load(concat(record, Uint8Array.of(0))))).toBe('malformed');
    const cuts = [0, 1, 2, 50, 200, record.length - 1].map((length) =>
      codeOf(load(record.subarray(0, length))),
    );
    expect(new Set(cuts)).toEqual(new Set(['malformed']));
  });

  it('does not hold the secret tree: without its records nothing can be read', () => {
    const conversation = ofThree(suite);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const message = alice.send('text', conversation.env);
    bob.store.records.clear();
    expect(codeOf(() => bob.receive(message))).toBe('missing-key');
  });

  it('continues from the secret tree that another tab has moved in the same epoch', () => {
    const conversation = ofThree(suite);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const inThisTab = bob.group;
    const first = alice.send('first', conversation.env);
    expect(bob.receive(first)).toBe('first');
    const reloaded = reloadSecretTree(inThisTab, (key) => bob.store.records.get(key));
    expect(reloaded.context).toBe(inThisTab.context);
    bob.store.saveStep(reloaded);
    expect(codeOf(() => bob.receive(first))).toBe('replayed');
    expect(conversation.disagreements()).toEqual([]);
  });
});
