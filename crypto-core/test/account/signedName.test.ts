import { beforeAll, expect, it } from 'vitest';
import { issueDeviceCertificate } from '../../src/account/deviceCertificate.ts';
import { signName, verifyName } from '../../src/account/signedName.ts';
import { publicKeyOf } from '../../src/account/signedStatement.ts';
import { ready } from '../../src/suite/sodium.ts';
import { codeOf } from '../codeOf.ts';
import { testEnv } from '../testEnv.ts';

beforeAll(ready);

const env = testEnv('signed name');
const [accountSeed, deviceSeed] = [env.random(32), env.random(32)];
const device = { userId: 'u1', deviceId: 'd1', deviceKey: publicKeyOf(deviceSeed), notBefore: 0n };
const certificate = issueDeviceCertificate(accountSeed, device);
const nameOf = (username: string, by = deviceSeed) => signName({ certificate, username, revision: 3 }, by);

it('a name says whose it is, and how new', () => {
  const { revision, signer, username } = verifyName(nameOf('Äijä'));
  expect([username, revision, signer.userId, signer.deviceId]).toEqual(['Äijä', 3, 'u1', 'd1']);
  expect(signer.accountKey).toEqual(publicKeyOf(accountSeed));
});

it('a name holds in no part that is changed, and by no other key', () => {
  const signed = nameOf('bob');
  for (let at = 0; at < signed.length; at += 1) {
    const changed = signed.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(
      codeOf(() => verifyName(changed)),
      `byte ${at}`,
    ).not.toBe('none');
  }
  expect(codeOf(() => verifyName(nameOf('bob', env.random(32))))).toBe('bad-signature');
});

it('a name has a length', () => {
  expect(codeOf(() => nameOf(''))).toBe('usage');
  expect(codeOf(() => nameOf('n'.repeat(257)))).toBe('usage');
  expect(codeOf(() => nameOf('n'.repeat(256)))).toBe('none');
});
