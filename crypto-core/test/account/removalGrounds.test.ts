import { describe, expect, it } from 'vitest';
import { decodeRemovalGrounds, encodeRemovalGrounds } from '../../src/account/removalGrounds.ts';
import { utf8 } from '../../src/bytes.ts';
import { codeOf } from '../codeOf.ts';

const one = utf8('one');
const other = utf8('another');

describe('the grounds of a removal', () => {
  it.each([
    { departures: [one, other], revocations: [] },
    { departures: [], revocations: [other] },
    { departures: [one], revocations: [other, one] },
  ])('travel with the commit', (grounds) => {
    expect(decodeRemovalGrounds(encodeRemovalGrounds(grounds))).toEqual(grounds);
  });

  it('take no bytes when there are no grounds', () => {
    const none = { departures: [], revocations: [] };
    expect(encodeRemovalGrounds(none)).toHaveLength(0);
    expect(decodeRemovalGrounds(new Uint8Array(0))).toEqual(none);
  });

  it('are refused when cut, lengthened, or of another form', () => {
    const bytes = encodeRemovalGrounds({ departures: [one], revocations: [other] });
    for (let length = 1; length < bytes.length; length++) {
      expect(codeOf(() => decodeRemovalGrounds(bytes.subarray(0, length)))).toBe('malformed');
    }
    expect(codeOf(() => decodeRemovalGrounds(Uint8Array.of(...bytes, 0)))).toBe('malformed');
    expect(codeOf(() => decodeRemovalGrounds(utf8('a message id')))).toBe('malformed');
  });
});
