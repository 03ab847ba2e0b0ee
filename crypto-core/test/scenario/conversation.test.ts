import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCommit,
  exportGroupInfo,
  joinByWelcome,
  joinExternal,
  processCommit,
  ready,
} from '../../src/index.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, anything, Conversation, device, keyPackageOf, Participant, SUITES } from './world.ts';

beforeAll(ready);

/** Draws a third of the items, so that runs of 30 members don't send 900 messages at every step. */
function some<T>(items: readonly T[], draw: (below: number) => number): T[] {
  return items.filter(() => draw(3) === 0);
}

describe.each(SUITES)('a conversation in suite %i', (suite) => {
  it('reads messages of both after an add and after an update', () => {
    const conversation = new Conversation(suite, testEnv('two'));
    conversation.add(conversation.at(0), [device('device 1', conversation.env)]);
    expect(conversation.disagreements()).toEqual([]);
    conversation.update(conversation.at(1));
    expect(conversation.disagreements()).toEqual([]);
    conversation.update(conversation.at(0));
    expect(conversation.disagreements()).toEqual([]);
    expect(conversation.at(0).group.context.epoch).toBe(3n);
  });

  it('grows to 30 members one commit at a time, each by another, and shrinks to one', () => {
    const conversation = new Conversation(suite, testEnv('thirty'));
    for (let count = 1; count < 30; count += 1) {
      const by = conversation.at((count * 7) % count);
      conversation.add(by, [device(`device ${count}`, conversation.env)]);
      if (count % 5 === 0) conversation.update(conversation.at((count * 3) % count));
      expect(conversation.disagreements([conversation.at(count)])).toEqual([]);
    }
    expect(conversation.disagreements(conversation.participants.slice(0, 3))).toEqual([]);
    for (let count = 30; count > 1; count -= 1) {
      const by = conversation.at((count * 5) % count);
      const gone = conversation.at((count * 5 + 1) % count);
      conversation.remove(by, [gone]);
      expect(conversation.disagreements([conversation.at((count * 11) % (count - 1))])).toEqual([]);
    }
    expect(conversation.participants).toHaveLength(1);
    expect(
      conversation
        .at(0)
        .group.tree.toNodes()
        .filter((node) => node?.type === 'leaf'),
    ).toHaveLength(1);
  });

  it('stays in agreement through adds, removes, updates and external joins in a random order', () => {
    const env = testEnv(`lot ${suite}`);
    const draw = (below: number): number => (env.random(1)[0] ?? 0) % below;
    const conversation = new Conversation(suite, env);
    let made = 1;
    for (let step = 0; step < 60; step += 1) {
      const { participants } = conversation;
      const by = conversation.at(draw(participants.length));
      const others = participants.filter((other) => other !== by);
      const kind = draw(6);
      if (kind === 0 && others.length > 3) conversation.remove(by, some(others, draw).slice(0, 4));
      else if (kind === 1 && others.length > 0) conversation.update(by);
      else if (kind === 2 && participants.length < 16)
        conversation.joinFromOutside(device(`device ${made++}`, env));
      else if (kind === 3 && others.length > 0) conversation.comeBack(by);
      else if (participants.length < 16) {
        const newcomers = Array.from({ length: 1 + draw(3) }, () => device(`device ${made++}`, env));
        conversation.add(by, newcomers, others.length > 2 && draw(2) === 0 ? others.slice(0, 1) : []);
      } else conversation.remove(by, others.slice(0, 8));
      expect(conversation.disagreements(some(conversation.participants, draw).slice(0, 3))).toEqual([]);
    }
    expect(conversation.participants.length).toBeGreaterThan(1);
  });

  it('lets a device join from outside, and come back from outside when its state is lost', () => {
    const conversation = new Conversation(suite, testEnv('external'));
    const { env } = conversation;
    const newcomers = ['device 1', 'device 2', 'device 3', 'device 4'].map((name) => device(name, env));
    conversation.add(conversation.at(0), newcomers);
    const second = device('device 5', env);
    const join = joinExternal(
      exportGroupInfo(conversation.at(2).group),
      { ...second, memberCheck: anyone },
      env,
    );
    conversation.participants.forEach((participant) => {
      const result = participant.process(join.commit);
      expect(result).toMatchObject({ external: true, sender: join.pending.ownLeaf, selfRemoved: false });
    });
    conversation.participants.push(new Participant(second, join.pending));
    expect(conversation.disagreements()).toEqual([]);

    // The group info that came with the commit serves the next joiner.
    const third = device('device 6', env);
    const next = joinExternal(join.groupInfo, { ...third, memberCheck: anyone }, env);
    for (const participant of conversation.participants) participant.process(next.commit);
    conversation.participants.push(new Participant(third, next.pending));
    expect(conversation.disagreements()).toEqual([]);

    const lost = conversation.at(1);
    const current = exportGroupInfo(conversation.at(0).group);
    expect(codeOf(() => joinExternal(current, { ...lost.device, memberCheck: anyone }, env))).toBe(
      'invalid-leaf',
    );
    const back = joinExternal(current, { ...lost.device, memberCheck: anyone, resync: true }, env);
    conversation.participants = conversation.participants.filter((participant) => participant !== lost);
    for (const participant of conversation.participants) {
      const result = participant.process(back.commit);
      expect(result.removes.map(({ signatureKey }) => signatureKey)).toEqual([
        lost.device.signatureKey.publicKey,
      ]);
    }
    // Its old appearance learns that it was replaced.
    expect(lost.process(back.commit).selfRemoved).toBe(true);
    expect(codeOf(() => lost.send('from the past', env))).toBe('removed');
    conversation.participants.push(new Participant(lost.device, back.pending));
    expect(conversation.disagreements()).toEqual([]);
    conversation.update(conversation.participants.at(-1) ?? conversation.at(0));
    expect(conversation.disagreements()).toEqual([]);
  });

  it('merges one of several concurrent commits and discards the others without a trace', () => {
    const conversation = new Conversation(suite, testEnv('concurrent'));
    const { env } = conversation;
    conversation.add(conversation.at(0), [device('device 1', env), device('device 2', env)]);
    for (let round = 0; round < 3; round += 1) {
      const created = conversation.participants.map((participant) => participant.commit({}, env));
      const winner = created[round];
      if (winner === undefined) throw new Error('no commit');
      conversation.accept(conversation.at(round), winner);
      expect(conversation.disagreements()).toEqual([]);
      for (const [index, { commit }] of created.entries()) {
        if (index === round) continue;
        const before = conversation.at(round).store.epochRecord;
        expect(codeOf(() => conversation.at(round).process(commit))).toBe('wrong-epoch');
        expect(conversation.at(round).store.epochRecord).toEqual(before);
      }
    }
  });

  it('lets the loser of two concurrent starts discard its group and join by its welcome', () => {
    const env = testEnv('both start');
    const [winners, losers] = [new Conversation(suite, env), new Conversation(suite, env)];
    const [winner, loser] = [winners.at(0), losers.at(0)];
    const bundle = keyPackageOf(loser.device, suite, env);
    const created = winner.commit({ adds: [bundle.bytes] }, env);
    const discarded = loser.commit({ adds: [keyPackageOf(winner.device, suite, env).bytes] }, env);
    // The same group id and epoch, but another group.
    expect(codeOf(() => winner.process(discarded.commit))).toBe('decrypt-failed');
    expect(codeOf(() => loser.process(created.commit))).toBe('decrypt-failed');
    winner.store.saveEpoch(created.pending);
    if (created.welcome === null) throw new Error('no welcome');
    const joined = joinByWelcome(created.welcome, bundle, loser.device.signatureKey, { memberCheck: anyone });
    winners.participants.push(new Participant(loser.device, joined));
    expect(winners.disagreements()).toEqual([]);
  });

  it('reads the messages of an epoch in any order, each once', () => {
    const conversation = new Conversation(suite, testEnv('order'));
    const { env } = conversation;
    conversation.add(conversation.at(0), [device('device 1', env)]);
    const [alice, bob] = [conversation.at(0), conversation.at(1)];
    const messages = ['a', 'b', 'c', 'd', 'e'].map((text) => alice.send(text, env));
    const order = [3, 0, 4, 2, 1];
    const texts = order.map((index) => bob.receive(messages[index] ?? new Uint8Array(0)));
    expect(texts).toEqual(['d', 'a', 'e', 'c', 'b']);
    for (const message of messages) expect(codeOf(() => bob.receive(message))).toBe('replayed');
    expect(conversation.disagreements()).toEqual([]);
  });

  it('writes no more records for a message when the group is larger', () => {
    const conversation = new Conversation(suite, testEnv('bytes'));
    const { env } = conversation;
    const written = (sender: Participant): number => {
      const { group } = sender;
      sender.send('opens the ratchet', env);
      const before = new Map(sender.store.records);
      sender.send('text', env);
      const changed = [...sender.store.records].filter(([key, bytes]) => before.get(key) !== bytes);
      expect(changed.map(([key]) => key)).toEqual([`l${group.ownLeaf}`]);
      return changed.reduce((sum, [, bytes]) => sum + bytes.length, 0);
    };
    const alone = written(conversation.at(0));
    conversation.add(
      conversation.at(0),
      Array.from({ length: 20 }, (_, index) => device(`device ${index + 1}`, env)),
    );
    expect(written(conversation.at(0))).toBe(alone);
    expect(written(conversation.at(17))).toBe(alone);
    expect(alone).toBeLessThan(200);
  });

  it('leaves the state that a commit was made in, or processed by, as it was', () => {
    const conversation = new Conversation(suite, testEnv('immutable'));
    const { env } = conversation;
    conversation.add(conversation.at(0), [device('device 1', env), device('device 2', env)]);
    const alice = conversation.at(0).group;
    const bob = conversation.at(1).group;
    const hooks = { memberCheck: anyone, policy: anything };
    const contents = (): unknown =>
      [alice, bob].map(({ context, tree, privateKeys, secrets }) =>
        structuredClone([context, tree.toNodes(), [...privateKeys], secrets]),
      );
    const before = contents();
    const { commit } = createCommit(alice, { removes: [conversation.at(2).group.ownLeaf], ...hooks }, env);
    const first = processCommit(bob, commit, hooks);
    const second = processCommit(bob, commit, hooks);
    expect(contents()).toEqual(before);
    expect(second.group.secrets).toEqual(first.group.secrets);
    expect(bob.secretTree.takeChanges()).toEqual({ puts: [], deletes: [] });
  });
});
