import { beforeAll, describe, expect, it } from 'vitest';
import {
  checkDeviceCredential,
  issueDeviceCertificate,
  readDeviceCertificate,
  verifyDeviceCertificate,
} from '../../src/account/deviceCertificate.ts';
import { safetyNumber } from '../../src/account/safetyNumber.ts';
import { toHex } from '../../src/bytes.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('identity');
const suite = getSuite(0x0003);

beforeAll(ready);

function person(userId: string) {
  const accountSeed = env.random(32);
  const accountKey = suite.signatureKeyPair(accountSeed).publicKey;
  const deviceKey = suite.signatureKeyPair(env.random(32)).publicKey;
  const device = { userId, deviceId: `${userId}-laptop`, deviceKey, notBefore: 1_767_225_600n };
  return {
    accountSeed,
    accountKey,
    deviceKey,
    device,
    identity: issueDeviceCertificate(accountSeed, device),
  };
}

describe('a device certificate', () => {
  it('names the user, device and keys it was issued for', () => {
    const { identity, accountKey, device } = person('anna');
    expect(verifyDeviceCertificate(identity)).toEqual({ ...device, accountKey });
    expect(readDeviceCertificate(identity)).toEqual({ ...device, accountKey });
  });

  it('refuses every flipped bit, every cut and anything appended', () => {
    const { identity } = person('anna');
    for (let bit = 0; bit < identity.length * 8; bit++) {
      const altered = identity.slice();
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(['malformed', 'unsupported', 'invalid-credential']).toContain(
        codeOf(() => verifyDeviceCertificate(altered)),
      );
    }
    for (let length = 0; length < identity.length; length++) {
      expect(codeOf(() => verifyDeviceCertificate(identity.subarray(0, length)))).toBe('malformed');
    }
    const longer = new Uint8Array(identity.length + 1);
    longer.set(identity);
    expect(codeOf(() => verifyDeviceCertificate(longer))).toBe('malformed');
  });

  it.each([{ userId: '' }, { deviceId: '' }, { userId: 'x'.repeat(129) }, { deviceKey: new Uint8Array(31) }])(
    'is never issued for %o',
    (change) => {
      const { accountSeed, device } = person('anna');
      expect(codeOf(() => issueDeviceCertificate(accountSeed, { ...device, ...change }))).toBe('usage');
    },
  );

  it('has the same bytes as ever, since leaves of existing groups carry old ones', () => {
    const certificate = issueDeviceCertificate(new Uint8Array(32).fill(7), {
      userId: 'anna',
      deviceId: 'anna-laptop',
      deviceKey: new Uint8Array(32).fill(8),
      notBefore: 1_767_225_600n,
    });
    expect(toHex(certificate)).toMatchInlineSnapshot(
      `"0104616e6e610b616e6e612d6c6170746f7020080808080808080808080808080808080808080808080808080808080808080820ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c000000006955b9004040a902a24634af66158eb555defab3c89f73b2438b5424c167d53e347bca95f1d5b23534039f1deffe18db2820e50be431deb94a86150f0bf177f5333a26978b0d"`,
    );
  });
});

describe('checkDeviceCredential', () => {
  const nobody = () => undefined;

  it('accepts a device of the pinned account', () => {
    const anna = person('anna');
    const leaf = { identity: anna.identity, signatureKey: anna.deviceKey };
    const seen: string[] = [];
    const pinned = (userId: string): Uint8Array => {
      seen.push(userId);
      return anna.accountKey;
    };
    const certificate = checkDeviceCredential(leaf, pinned, null);
    expect(certificate.deviceId).toBe('anna-laptop');
    expect(seen).toEqual(['anna']);
  });

  it('refuses a stranger, a changed account key, another signature key and nonsense', () => {
    const anna = person('anna');
    const impostor = person('anna');
    const leaf = { identity: anna.identity, signatureKey: anna.deviceKey };
    expect(codeOf(() => checkDeviceCredential(leaf, nobody, null))).toBe('invalid-credential');
    expect(codeOf(() => checkDeviceCredential(leaf, () => impostor.accountKey, null))).toBe(
      'invalid-credential',
    );
    const otherKey = { ...leaf, signatureKey: impostor.deviceKey };
    expect(codeOf(() => checkDeviceCredential(otherKey, () => anna.accountKey, null))).toBe(
      'invalid-credential',
    );
    const nonsense = { ...leaf, identity: new Uint8Array(5) };
    expect(codeOf(() => checkDeviceCredential(nonsense, () => anna.accountKey, null))).toBe(
      'invalid-credential',
    );
  });

  it('refuses a certificate of the future for a device that is about to be added, but for a day between clocks', () => {
    const anna = person('anna');
    const { notBefore } = readDeviceCertificate(anna.identity);
    const leaf = { identity: anna.identity, signatureKey: anna.deviceKey };
    const when = (now: bigint | null) =>
      codeOf(() => checkDeviceCredential(leaf, () => anna.accountKey, now));
    const day = 86_400n;
    expect(when(notBefore)).toBe('none');
    expect(when(notBefore - day)).toBe('none');
    expect(when(notBefore - day - 1n)).toBe('invalid-credential');
    expect(when(null)).toBe('none');
  });

  it('refuses a certificate that the account key did not sign', () => {
    const anna = person('anna');
    const mallory = person('mallory');
    // Mallory puts Anna's account key where her own stood; the signature is still hers.
    const forged = mallory.identity.slice();
    const at = toHex(forged).indexOf(toHex(mallory.accountKey)) / 2;
    forged.set(anna.accountKey, at);
    const leaf = { identity: forged, signatureKey: mallory.deviceKey };
    expect(codeOf(() => checkDeviceCredential(leaf, () => anna.accountKey, null))).toBe('invalid-credential');
  });
});

describe('the safety number', () => {
  const anna = { userId: 'anna', accountKey: new Uint8Array(32).fill(1) };
  const ben = { userId: 'ben', accountKey: new Uint8Array(32).fill(2) };

  it('is 60 digits, the same on both sides', () => {
    expect(safetyNumber(anna, ben)).toMatch(/^[0-9]{60}$/);
    expect(safetyNumber(ben, anna)).toBe(safetyNumber(anna, ben));
  });

  it('changes with either key and either name', () => {
    const numbers = [
      safetyNumber(anna, ben),
      safetyNumber(anna, { ...ben, accountKey: new Uint8Array(32).fill(3) }),
      safetyNumber(anna, { ...ben, userId: 'bea' }),
      safetyNumber({ ...anna, accountKey: ben.accountKey }, { ...ben, accountKey: anna.accountKey }),
    ];
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('has the same digits as ever, since people have compared it', () => {
    expect(safetyNumber(anna, ben)).toMatchInlineSnapshot(
      `"237160094943500378403173536320329764506625148304034872162178"`,
    );
  });
});
