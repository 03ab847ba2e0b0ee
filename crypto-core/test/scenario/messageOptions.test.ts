/** The padding and the window of application messages, as an application chooses them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, utf8 } from '../../src/bytes.ts';
import {
  decryptApplication,
  encryptApplication,
  type Group,
  type RatchetWindow,
  ready,
} from '../../src/index.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';
import { Conversation, device } from './world.ts';

const env = testEnv('message options');

beforeAll(ready);

function pair(): [Group, Group] {
  const conversation = new Conversation(0x0003, env);
  conversation.add(conversation.at(0), [device('bob', env)]);
  return [conversation.at(0).group, conversation.at(1).group];
}

describe('the padding of a message', () => {
  it('is what the application says, none included, and the other side needs not be told', () => {
    const [alice, bob] = pair();
    const lengths = [(length: number) => length, () => 512, () => 4096].map((padTo) => {
      const message = encryptApplication(alice, utf8('text'), EMPTY, env, { padTo });
      expect(decryptApplication(bob, message).plaintext).toEqual(utf8('text'));
      return message.length;
    });
    expect((lengths[2] ?? 0) - (lengths[1] ?? 0)).toBe(4096 - 512);
    expect(lengths[0]).toBeLessThan(encryptApplication(alice, utf8('text'), EMPTY, env).length);
  });

  it('is not less than none', () => {
    const [alice] = pair();
    const answers = [0, -1, 300.5, Number.NaN, Infinity].map((length) =>
      codeOf(() => encryptApplication(alice, utf8('text'), EMPTY, env, { padTo: () => length })),
    );
    expect(new Set(answers)).toEqual(new Set(['usage']));
  });
});

describe('the window of a sender’s messages', () => {
  const answer = (bob: Group, message: Uint8Array | undefined, window?: RatchetWindow) =>
    codeOf(() => decryptApplication(bob, message ?? EMPTY, window && { window }));
  const messages = (alice: Group, count: number) =>
    Array.from({ length: count }, (_, at) => encryptApplication(alice, utf8(`${at}`), EMPTY, env));

  it('lets messages come as far ahead and behind as the application says', () => {
    const [alice, bob] = pair();
    const sent = messages(alice, 8);
    const window = { ahead: 4, skipped: 2 };
    expect(answer(bob, sent[5], window)).toBe('generation-too-far');
    expect(answer(bob, sent[4], window)).toBe('none');
    // The keys of the last two that it skipped are kept.
    expect([0, 1, 2, 3].map((at) => answer(bob, sent[at], window))).toEqual([
      'replayed',
      'replayed',
      'none',
      'none',
    ]);
    expect(answer(bob, sent[7], { ahead: 2, skipped: 0 })).toBe('none');
    expect(answer(bob, sent[6], { ahead: 2, skipped: 0 })).toBe('replayed');
  });

  it('drops the keys that were kept before, where none is to be kept', () => {
    const [alice, bob] = pair();
    const sent = messages(alice, 4);
    expect(answer(bob, sent[1])).toBe('none');
    expect(answer(bob, sent[3], { ahead: 4, skipped: 0 })).toBe('none');
    expect(answer(bob, sent[0])).toBe('replayed');
  });

  it('has whole numbers', () => {
    const [alice, bob] = pair();
    const [message] = messages(alice, 1);
    const answers = [-1, 0.5, Number.NaN, Infinity].flatMap((size) => [
      answer(bob, message, { ahead: size, skipped: 1 }),
      answer(bob, message, { ahead: 1, skipped: size }),
    ]);
    expect(new Set(answers)).toEqual(new Set(['usage']));
    expect(answer(bob, message)).toBe('none');
  });
});
