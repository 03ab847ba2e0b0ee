import { beforeAll, describe, expect, it } from 'vitest';
import {
  type LeaveStatement,
  readLeaveStatement,
  signLeaveStatement,
  verifyLeaveStatement,
} from '../../src/account/leaveStatement.ts';
import { concat, toHex, utf8 } from '../../src/bytes.ts';
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
  it('reads as it was signed, and verifies under the key that signed it', () => {
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

  it('has the same bytes as ever, since other clients have to read it', () => {
    const statement = {
      groupId: utf8('group:1'),
      userId: 'anna',
      deviceId: 'laptop',
      epoch: 7n,
      leafRef: new Uint8Array(32).fill(9),
    };
    expect(toHex(signLeaveStatement(statement, new Uint8Array(32).fill(7)))).toMatchInlineSnapshot(
      `"010767726f75703a3104616e6e61066c6170746f7000000000000000072009090909090909090909090909090909090909090909090909090909090909094040e17ac641b1897ec41212b9c231972459db3bcda4adb293944dbb6b8dccd7a3080a1e4383d0ad1d3fe6cc0b67b34aeb61a0b548c289b0c8df48971bafb9241706"`,
    );
  });
});
