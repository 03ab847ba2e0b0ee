import { describe, expect, expectTypeOf, it } from 'vitest';
import { CryptoApiError } from '#src/crypto/client.ts';
import { AppError } from '#src/lib/appError.ts';
import { errorCode, type FailureCode } from '#src/lib/errorCode.ts';
import { ApiError, NetworkError } from '#src/net/errors.ts';

describe('the code of a failure', () => {
  it.each([
    [new AppError('no-device', 'Nobody is there.'), 'no-device'],
    [new CryptoApiError('unknown-message'), 'unknown-message'],
    [new ApiError({ status: 404, code: 'not-found', detail: null }), 'not-found'],
    [new NetworkError('timeout'), 'timeout'],
    [new DOMException('', 'AbortError'), 'internal'],
    [new Error('bare'), 'internal'],
    ['thrown text', 'internal'],
  ] as const)('is that of its room, or internal: %s', (error, code) => {
    expect(errorCode(error)).toBe(code);
  });

  it('is one of a closed set, which the compiler knows', () => {
    expectTypeOf<'not-found'>().toExtend<FailureCode>();
    expectTypeOf<'not-fuond'>().not.toExtend<FailureCode>();
  });
});
