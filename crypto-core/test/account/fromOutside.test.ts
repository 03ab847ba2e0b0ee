import { describe, expect, it } from 'vitest';
import { FROM_OUTSIDE_EXTENSION, fromOutsideExtension, isFromOutside } from '../../src/account/index.ts';

describe('a signer of a GroupInfo that came in from outside', () => {
  it('says so by one byte, in an extension of the range for private use', () => {
    expect(fromOutsideExtension()).toEqual({ type: 0xf0a3, data: Uint8Array.of(1) });
    expect(isFromOutside([{ type: 0xf0a2, data: new Uint8Array() }, fromOutsideExtension()])).toBe(true);
  });

  it('is understood in whatever form a later version says it', () => {
    for (const data of [new Uint8Array(), Uint8Array.of(2, 3)])
      expect(isFromOutside([{ type: FROM_OUTSIDE_EXTENSION, data }])).toBe(true);
  });

  it('is no signer that says nothing of it', () => {
    expect(isFromOutside([])).toBe(false);
    expect(isFromOutside([{ type: 0xf0a2, data: Uint8Array.of(1) }])).toBe(false);
  });
});
