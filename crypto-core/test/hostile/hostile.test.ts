import { beforeAll, describe, expect, it } from 'vitest';
import { CryptoError, ready } from '../../src/index.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { SUITES } from '../scenario/world.ts';
import { testEnv } from '../testEnv.ts';
import { dearCommit, dearTrees } from './dear.ts';
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

describe.each(SUITES)('a tree that is right up to its last leaf, in suite %i,', (suite) => {
  it('is refused for that leaf, and its twin verified', () => {
    for (const { honest, hostile, receive } of dearTrees(suite, 16, testEnv('dear'))) {
      expect(codeOf(() => receive(honest))).toBe('none');
      expect(codeOf(() => receive(hostile))).toBe('bad-signature');
    }
  });
});

describe.each(SUITES)(
  "a member's commit that is right up to the last client that it adds, in suite %i,",
  (suite) => {
    it('is refused for that client, which the error names, and its twin accepted', () => {
      const { honest, hostile, receive } = dearCommit(suite, 8, testEnv('dear commit'));
      expect(codeOf(() => receive(honest))).toBe('none');
      expect(refusalOf(() => receive(hostile))).toContain(
        'bad-signature: KP-02: key package (proposal 7 of the commit)',
      );
      let asked = 0;
      const nobody = (): never => {
        asked += 1;
        throw new CryptoError('invalid-credential');
      };
      expect(codeOf(() => receive(hostile, nobody))).toBe('invalid-credential');
      expect(asked).toBe(1);
    });
  },
);
