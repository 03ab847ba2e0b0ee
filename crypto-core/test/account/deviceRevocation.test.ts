import { beforeAll, describe, expect, it } from 'vitest';
import { issueDeviceCertificate } from '../../src/account/deviceCertificate.ts';
import { signDeviceRevocation, verifyDeviceRevocation } from '../../src/account/deviceRevocation.ts';
import { toHex } from '../../src/bytes.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

const env = testEnv('revocation');
const suite = getSuite(0x0003);
const device = { userId: 'anna', deviceId: 'anna-phone' };

beforeAll(ready);

describe('a revocation', () => {
  it('names the device and the account key that signed', () => {
    const accountSeed = env.random(32);
    const accountKey = suite.signatureKeyPair(accountSeed).publicKey;
    expect(verifyDeviceRevocation(signDeviceRevocation(accountSeed, device))).toEqual({
      ...device,
      accountKey,
    });
  });

  it('refuses every flipped bit, every cut and anything appended', () => {
    const bytes = signDeviceRevocation(env.random(32), device);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = bytes.slice();
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(['malformed', 'unsupported', 'bad-signature']).toContain(
        codeOf(() => verifyDeviceRevocation(altered)),
      );
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(codeOf(() => verifyDeviceRevocation(bytes.subarray(0, length)))).toBe('malformed');
    }
    expect(codeOf(() => verifyDeviceRevocation(Uint8Array.of(...bytes, 0)))).toBe('malformed');
  });

  it('is not read from the bytes of a certificate', () => {
    const accountSeed = env.random(32);
    const { publicKey: deviceKey } = suite.signatureKeyPair(env.random(32));
    const certificate = issueDeviceCertificate(accountSeed, { ...device, deviceKey, notBefore: 0n });
    expect(codeOf(() => verifyDeviceRevocation(certificate))).not.toBe('none');
  });

  it.each([{ userId: '' }, { deviceId: '' }, { deviceId: 'x'.repeat(129) }])(
    'is never signed for %o',
    (change) => {
      expect(codeOf(() => signDeviceRevocation(env.random(32), { ...device, ...change }))).toBe('usage');
    },
  );

  it('has the same bytes as ever, since relays keep old ones', () => {
    const bytes = signDeviceRevocation(new Uint8Array(32).fill(7), device);
    expect(toHex(bytes)).toMatchInlineSnapshot(
      `"0104616e6e610a616e6e612d70686f6e6520ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c404070cc337e01b00b0aaa7f2726591679b46b54bb7e30d802605172979fa56eed0286c6c278fe56db141976e7198db1b78a2f02fa078f7b692d3aaeda02a5240d09"`,
    );
  });
});
