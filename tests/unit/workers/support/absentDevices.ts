import { createKeyPackage, createSignatureKeyPair } from '@sinetti/crypto-core';
import { issueDeviceCertificate } from '@sinetti/crypto-core/account';
import type { ClaimedKeyPackage } from '#workers/api/cryptoApi.ts';
import { toBase64Url } from '#workers/codec/base64url.ts';
import { leafOptions } from '#workers/identity/leafOptions.ts';
import { seededRandom } from './browser.ts';

/** Creates KeyPackages of devices that never come online; a group knows no more of them. */
export function absentDevices(count: number): ClaimedKeyPackage[] {
  const env = { random: seededRandom('absent'), now: () => Date.UTC(2026, 2, 1) };
  const now = BigInt(env.now() / 1000);
  return Array.from({ length: count }, (_, i) => {
    const id = (kind: string) => `${i.toString(16).padStart(8, '0')}-0000-4000-8000-00000000000${kind}`;
    // Each person has two devices.
    const accountSeed = seededRandom(`account ${i >> 1}`)(32);
    const userId = `${(i >> 1).toString(16).padStart(8, '0')}-0000-4000-8000-000000000001`;
    const signatureKey = createSignatureKeyPair(env);
    const device = { userId, deviceId: id('2'), deviceKey: signatureKey.publicKey, notBefore: now };
    const identity = issueDeviceCertificate(accountSeed, device);
    const { bytes } = createKeyPackage(
      {
        suite: 0xf04d,
        credential: { type: 'basic', identity },
        signatureKey,
        leaf: leafOptions,
        lifetime: { notBefore: now - 86_400n, notAfter: now + 86_400n },
      },
      env,
    );
    return { userId, deviceId: device.deviceId, keyPackage: toBase64Url(bytes) };
  });
}
