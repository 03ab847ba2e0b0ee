import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { limits } from '../../contract/index.ts';
import { signedState } from '../devices.ts';
import {
  base64Url,
  onAnotherDevice,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { recordEvents } from './conversation.ts';

let relay: TestRelay;
let here: PersonOnDevice;
let elsewhere: PersonOnDevice;

beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.close());
beforeEach(async () => {
  here = await signUpOnDevice(relay);
  elsewhere = await onAnotherDevice(relay, here);
});

const put = (person: PersonOnDevice, version: number, sealed = signedState(person)) =>
  person.call('PUT', '/account-state', { version, sealed });
const get = (person: PersonOnDevice) => person.call('GET', '/account-state');

it('there is no account state before a device has stored one', async () => {
  expect(await get(here)).toMatchObject({ status: 200, body: { version: 0, sealed: null } });
});

it('what one device stores all devices of the person read, who hear of it at once', async () => {
  const sealed = signedState(here);
  const events = await recordEvents(relay, [here], async () => {
    expect(await put(here, 0, sealed)).toMatchObject({ status: 200, body: { version: 1 } });
  });
  expect(events).toContainEqual([here.id, { type: 'account' }]);
  expect((await get(elsewhere)).body).toEqual({ version: 1, sealed });
  const next = signedState(elsewhere, 120);
  expect(await put(elsewhere, 1, next)).toMatchObject({ status: 200, body: { version: 2 } });
  expect((await get(here)).body).toEqual({ version: 2, sealed: next });
});

it('a state that is not the stored one is not replaced', async () => {
  const stale = (version: number) => ({ status: 409, body: { code: 'stale-version', version } });
  expect(await put(here, 1)).toMatchObject(stale(0));
  const sealed = signedState(here);
  await put(here, 0, sealed);
  expect(await put(elsewhere, 0)).toMatchObject(stale(1));
  expect(await put(elsewhere, 2)).toMatchObject(stale(1));
  expect((await get(here)).body).toEqual({ version: 1, sealed });
});

it('of two devices that replace the account state at once, one does', async () => {
  await put(here, 0);
  const statuses = (await Promise.all([put(here, 1), put(elsewhere, 1)])).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 409]));
});

it('a state has a size', async () => {
  const lengthOf = (text: string) => Buffer.from(text, 'base64url').length;
  const largest = limits.accountStateMax - lengthOf(signedState(here, 20_000)) + 20_000;
  expect((await put(here, 0, signedState(here, largest + 1))).status).toBe(422);
  expect((await put(here, 0, signedState(here, largest))).status).toBe(200);
});

it('a state is refused unless the device of the session has signed it', async () => {
  await put(here, 0);
  const signed = Buffer.from(signedState(here), 'base64url');
  const changed = (at: number) => {
    const bytes = Buffer.from(signed);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes.toString('base64url');
  };
  const others = [
    base64Url(90),
    'AA',
    signedState(elsewhere),
    signedState({ ...here, deviceId: elsewhere.deviceId }),
    Buffer.concat([signed, Buffer.alloc(1)]).toString('base64url'),
    ...[0, 5, 120, signed.length - 70, signed.length - 1].map(changed),
  ];
  for (const sealed of others) {
    expect(await put(here, 1, sealed)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  }
  expect((await put(here, 1, signed.toString('base64url'))).status).toBe(200);
});
