import { beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/bytes.ts';
import { exportGroupInfo, joinByWelcome, joinExternal, ready, toLeafIndex } from '../../src/index.ts';
import { testEnv } from '../testEnv.ts';
import { anyone, Conversation, device, groupOf, keyPackageOf, Participant } from './world.ts';

const SUITE = 0x0003;
const MEMBERS = 1000;

beforeAll(ready);

interface Cost {
  readonly message: number;
  /** Bytes of the records that changed, at the sender and at the receiver. */
  readonly written: readonly number[];
}

/** Measures a message between two members whose ratchets are open. */
function costOfMessage({ env }: Conversation, from: Participant, to: Participant): Cost {
  to.receive(from.send('first', env));
  const before = [from, to].map(({ store }) => new Map(store.records));
  const message = from.send('text', env);
  to.receive(message);
  const written = [from, to].map(({ store }, at) => {
    const changed = [...store.records].filter(([key, bytes]) => before[at]?.get(key) !== bytes);
    return changed.reduce((sum, [, bytes]) => sum + bytes.length, 0);
  });
  return { message: message.length, written };
}

describe('a group of 1,000', () => {
  it('is made by one commit, changes, and costs no more bytes a message than a group of two', () => {
    const env = testEnv('a thousand');
    const pair = new Conversation(SUITE, env);
    pair.add(pair.at(0), [device('device 1', env)]);

    const conversation = new Conversation(SUITE, env);
    const alice = conversation.at(0);
    const newcomers = Array.from({ length: MEMBERS - 1 }, (_, index) => device(`device ${index + 1}`, env));
    const bundles = newcomers.map((newcomer) => keyPackageOf(newcomer, SUITE, env));
    const created = alice.commit({ adds: bundles.map(({ bytes }) => bytes) }, env);
    alice.store.saveEpoch(created.pending);
    const told: (readonly number[])[] = [];
    // Two of them stand for all others, who would process the same messages.
    for (const at of [499, 998]) {
      const [newcomer, bundle] = [newcomers[at], bundles[at]];
      if (newcomer === undefined || bundle === undefined) throw new Error('no such newcomer');
      const group = joinByWelcome(created.welcome ?? utf8(''), bundle, newcomer.signatureKey, {
        memberCheck: anyone,
        progress: (verified, leaves) => void told.push([at, verified, leaves]),
      });
      conversation.participants.push(new Participant(newcomer, group));
    }
    const steps = [256, 512, 768, MEMBERS].map((verified) => [verified, MEMBERS]);
    expect(told).toEqual([499, 998].flatMap((at) => steps.map((step) => [at, ...step])));
    const [, middle, last] = conversation.participants;
    if (middle === undefined || last === undefined) throw new Error('not three');
    expect(alice.group.tree.leafCount).toBe(1024);

    conversation.update(last);
    conversation.update(alice);
    conversation.accept(middle, middle.commit({ removes: [1, 2, 3, 700].map(toLeafIndex) }, env));
    const authenticators = conversation.participants.map(({ group }) => group.secrets.epochAuthenticator);
    expect(authenticators).toEqual([authenticators[0], authenticators[0], authenticators[0]]);

    const { message, written } = costOfMessage(conversation, alice, last);
    const ofTwo = costOfMessage(pair, pair.at(0), pair.at(1));
    expect(written).toEqual(ofTwo.written);
    expect(Math.max(...written)).toBeLessThan(100);
    expect(message).toBe(ofTwo.message);
  });
});

describe('whoever joins a group from outside', () => {
  it('hears how far it is, and is not in it when what hears that throws', () => {
    const env = testEnv('progress');
    const info = exportGroupInfo(groupOf(3, SUITE, env).at(0).group);
    const join = (progress: (verified: number, leaves: number) => void) =>
      joinExternal(info, { ...device('outside', env), memberCheck: anyone, progress }, env);
    const told: (readonly number[])[] = [];
    join((...step) => void told.push(step));
    expect(told).toEqual([[3, 3]]);
    const stop = (): void => {
      throw new Error('the person closed the page');
    };
    expect(() => join(stop)).toThrow('the person closed the page');
  });
});
