import { describe, expect, it } from 'vitest';
import { ratePassword } from '#src/lib/passwordRating.ts';

describe('the rating of a password', () => {
  it.each([
    ['', 'weak', null],
    ['password', 'weak', 'common'],
    ['Salasana1', 'weak', null],
    ['aaaaaaaaaaaaaaaaaaaa', 'weak', 'pattern'],
    ['qwertyuiop', 'weak', 'common'],
    ['1.6.1987', 'weak', 'date'],
    ['matti', 'weak', 'name'],
    ['lighthouse', 'weak', 'word'],
    ['valokuva', 'weak', 'word'],
    ['kesäilta 23', 'fair', null],
    ['correct horse battery staple', 'strong', null],
    ['meloni harppu tunturi pilvi', 'strong', null],
  ] as const)('%j is %s, because %s', (password, strength, weakness) => {
    expect(ratePassword(password, [])).toEqual({ strength, weakness });
  });

  it('knows that a guesser would try the names of the person', () => {
    expect(ratePassword('Xyleptra42', []).strength).toBe('fair');
    expect(ratePassword('Xyleptra42', ['xyleptra']).strength).toBe('weak');
  });

  it('rates the beginning of one that is longer than anybody types', () => {
    expect(ratePassword('abc'.repeat(1000), []).strength).toBe('weak');
    expect(ratePassword('meloni harppu tunturi pilvi '.repeat(1000), []).strength).toBe('strong');
  });
});
