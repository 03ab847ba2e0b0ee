import { beforeAll, describe, expect, it } from 'vitest';
import {
  decodeLeaveStatements,
  encodeLeaveStatements,
  type LeaveStatement,
  readLeaveStatement,
  signLeaveStatement,
  verifyLeaveStatement,
} from '../../src/account/leaveStatement.ts';
import { concat, utf8 } from '../../src/bytes.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('leave statement');

beforeAll(ready);

function signed(change: Partial<LeaveStatement> = {}) {
  const { publicKey, privateKey } = getSuite(0x0003).signatureKeyPair(env.random(32));
  const statement: LeaveStatement = {
    groupId: utf8('group:1'),
    userId: 'anna',
    deviceId: 'laptop',
    epoch: 7n,
    leafRef: env.random(32),
    ...change,
  };
  return { statement, publicKey, bytes: signLeaveStatement(statement, privateKey) };
}

describe('a leave statement', () => {
  it('says what was signed, under the key that signed it', () => {
    const { statement, publicKey, bytes } = signed();
    expect(verifyLeaveStatement(bytes, publicKey)).toEqual(statement);
    expect(readLeaveStatement(bytes)).toEqual(statement);
    expect(codeOf(() => verifyLeaveStatement(bytes, signed().publicKey))).toBe('bad-signature');
  });

  it('refuses every flipped bit, every cut and anything appended', () => {
    const { publicKey, bytes } = signed();
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = bytes.slice();
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(['malformed', 'unsupported', 'bad-signature']).toContain(
        codeOf(() => verifyLeaveStatement(altered, publicKey)),
      );
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(codeOf(() => readLeaveStatement(bytes.subarray(0, length)))).toBe('malformed');
    }
    expect(codeOf(() => readLeaveStatement(concat(bytes, new Uint8Array(1))))).toBe('malformed');
  });

  it.each([
    { userId: '' },
    { deviceId: 'x'.repeat(129) },
    { groupId: new Uint8Array(0) },
    { groupId: new Uint8Array(257) },
    { leafRef: new Uint8Array(31) },
  ])('is never signed for %o', (change) => {
    expect(codeOf(() => signed(change))).toBe('usage');
  });

  it('travels in a list', () => {
    const list = [signed().bytes, signed().bytes];
    expect(decodeLeaveStatements(encodeLeaveStatements(list))).toEqual(list);
    expect(decodeLeaveStatements(encodeLeaveStatements([]))).toEqual([]);
    expect(decodeLeaveStatements(new Uint8Array(0))).toEqual([]);
    expect(codeOf(() => decodeLeaveStatements(Uint8Array.of(2, 1)))).toBe('malformed');
    expect(codeOf(() => decodeLeaveStatements(utf8('a message id')))).toBe('malformed');
  });
});
