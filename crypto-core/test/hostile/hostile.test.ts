import { beforeAll, describe, expect, it } from 'vitest';
import { ready } from '../../src/index.ts';
import { codeOf } from '../codeOf.ts';
import { SUITES } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { memberAttacks, messageAttacks } from './messages.ts';
import { treeAttacks } from './trees.ts';

beforeAll(ready);

describe.each(SUITES)('two megabytes of the worst, in suite %i,', (suite) => {
  const env = testEnv('hostile');
  it.each([
    ['a tree that a stranger made', treeAttacks],
    ['a message of a stranger', messageAttacks],
    ['a message of a member', memberAttacks],
  ])('are refused with the right code when they are %s', (_, attacks) => {
    const wrong = attacks(suite, env).flatMap(({ name, code, receive }) => {
      const answer = codeOf(receive);
      return answer === code ? [] : [`${name}: ${answer} instead of ${code}`];
    });
    expect(wrong).toEqual([]);
  });
});
