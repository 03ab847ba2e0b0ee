import { createSignatureKeyPair, ready } from '@sinetti/crypto-core';
import { issueDeviceCertificate } from '@sinetti/crypto-core/account';
import { beforeAll, expect, it, vi } from 'vitest';
import type * as limitsModule from '#workers/codec/limits.ts';
import { seededRandom } from './support/browser.ts';
import type { TestDevice } from './support/device.ts';
import { twoDevices } from './support/revisions.ts';

vi.mock('#workers/codec/limits.ts', async (original) => {
  const { limits } = await original<typeof limitsModule>();
  return { limits: { ...limits, pinnedPeople: 130 } };
});

beforeAll(ready);

const random = seededRandom('too many people');
const idOf = (at: number) => `c0a1c0a1-5a7e-4f3a-9d0e-${at.toString(16).padStart(12, '0')}`;

async function meet(device: TestDevice, at: number): Promise<void> {
  const { publicKey: deviceKey } = createSignatureKeyPair({ random, now: () => 0 });
  const claims = { userId: idOf(at), deviceId: idOf(at).replace('c', 'd'), deviceKey, notBefore: 0n };
  const certificate = issueDeviceCertificate(random(32), claims);
  await device.api.observeDevices(idOf(at), [Buffer.from(certificate).toString('base64url')]);
}

const verified = async (device: TestDevice) =>
  (await device.api.contactTrust())
    .filter(({ verifiedAt }) => verifiedAt !== null)
    .map(({ userId }) => userId)
    .sort();

it('more people than an account state has room for, verified ones among the last, leave it as it is once it is written', async () => {
  const { laptop, phone } = await twoDevices();
  for (let at = 0; at < 135; at += 1) await meet(laptop, at);
  await laptop.readState();
  for (const at of [131, 133, 134]) await laptop.mark(idOf(at), true);
  await phone.readState();
  const written = laptop.state();
  // Neither has anything to put in its place, whoever of them reads it.
  for (const device of [laptop, phone]) {
    expect(await device.api.adoptState(written)).toBeNull();
    expect(await verified(device)).toEqual([131, 133, 134].map(idOf));
  }
  expect((await phone.api.contactTrust()).length).toBe(130);
  // Further people of the other device are no reason, either.
  for (let at = 135; at < 138; at += 1) await meet(phone, at);
  expect(await phone.api.adoptState(written)).toBeNull();
});
