import { describe, expect, it } from 'vitest';
import { inOtherShares, shareOf } from './share.mjs';

describe('a part of the longest stories', () => {
  const names = ['zoom', 'calls', 'attention', 'lists', 'updates', 'banners', 'toasts'];

  it('and the others have each story once', () => {
    const played = [1, 2, 3].flatMap((number) => {
      const left = inOtherShares(names, { number, of: 3 });
      return names.filter((name) => !left.includes(name));
    });
    expect(played.toSorted()).toEqual(names.toSorted());
  });

  it('is all of them unless one is asked for', () => {
    expect(shareOf(undefined)).toBeUndefined();
    expect(shareOf('')).toBeUndefined();
    expect(inOtherShares(names, undefined)).toEqual([]);
  });

  it.each(['0/3', '4/3', '1', '1/', '-1/3', '1/3/3', 'x/y'])('is not %s', (text) => {
    expect(() => shareOf(text)).toThrow('SINETTI_TEST_SHARE is no part');
  });
});
