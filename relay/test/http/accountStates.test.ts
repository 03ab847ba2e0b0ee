import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { limits } from '../../contract/index.ts';
import { signedSegments, signedState } from '../devices.ts';
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
const segment = () => base64Url(300);
/** Puts a state that names segments. @param given those that come along */
const putSegments = (
  person: PersonOnDevice,
  version: number,
  named: readonly string[],
  given: readonly string[] = named,
) =>
  person.call('PUT', '/account-state', {
    version,
    sealed: signedSegments(person, named),
    segments: given,
  });
/** The segments that the relay has, in some order. */
const segmentsOf = async (person: PersonOnDevice) =>
  (await person.call<{ segments: string[] }>('GET', '/account-state')).body.segments.sort();

it('there is no account state before a device has stored one', async () => {
  expect(await get(here)).toMatchObject({ status: 200, body: { version: 0, sealed: null, segments: [] } });
});

it('what one device stores all devices of the person read, who hear of it at once', async () => {
  const sealed = signedState(here);
  const events = await recordEvents(relay, [here], async () => {
    expect(await put(here, 0, sealed)).toMatchObject({ status: 200, body: { version: 1 } });
  });
  expect(events).toContainEqual([here.id, { type: 'account' }]);
  expect((await get(elsewhere)).body).toEqual({ version: 1, sealed, segments: [] });
  const next = signedState(elsewhere, 120);
  expect(await put(elsewhere, 1, next)).toMatchObject({ status: 200, body: { version: 2 } });
  expect((await get(here)).body).toEqual({ version: 2, sealed: next, segments: [] });
});

it('a state that is not the stored one is not replaced', async () => {
  const stale = (version: number) => ({ status: 409, body: { code: 'stale-version', version } });
  expect(await put(here, 1)).toMatchObject(stale(0));
  const sealed = signedState(here);
  await put(here, 0, sealed);
  expect(await put(elsewhere, 0)).toMatchObject(stale(1));
  expect(await put(elsewhere, 2)).toMatchObject(stale(1));
  expect((await get(here)).body).toEqual({ version: 1, sealed, segments: [] });
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

it('of a state in segments the relay keeps those that are named, and takes those alone that it lacks', async () => {
  const [one, two, three] = [segment(), segment(), segment()];
  expect((await putSegments(here, 0, [one, two])).status).toBe(200);
  expect(await segmentsOf(elsewhere)).toEqual([one, two].sort());
  expect((await putSegments(elsewhere, 1, [one, three], [three])).status).toBe(200);
  expect(await segmentsOf(here)).toEqual([one, three].sort());
  // The relay keeps none that nobody has signed, and one that is there already changes nothing.
  expect((await putSegments(here, 2, [three], [segment(), three])).status).toBe(200);
  expect(await segmentsOf(here)).toEqual([three]);
  expect((await putSegments(here, 3, [])).status).toBe(200);
  expect(await segmentsOf(here)).toEqual([]);
});

it('a state that names a segment which is not there is refused, and the present one stays', async () => {
  const [one, two] = [segment(), segment()];
  await putSegments(here, 0, [one]);
  const before = await get(here);
  for (const given of [[], [segment()]]) {
    expect(await putSegments(here, 1, [one, two], given)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
  }
  expect((await get(here)).body).toEqual(before.body);
});

it('segments belong to one person: another one who has the same names their own', async () => {
  const [other, shared] = [await signUpOnDevice(relay), segment()];
  await putSegments(here, 0, [shared]);
  expect((await putSegments(other, 0, [shared], [])).status).toBe(403);
  expect((await putSegments(other, 0, [shared])).status).toBe(200);
  expect((await putSegments(here, 1, [segment()].concat(shared), [])).status).toBe(403);
  expect((await putSegments(here, 1, [])).status).toBe(200);
  expect(await segmentsOf(other)).toEqual([shared]);
});

it('a whole state does not take the place of one in segments', async () => {
  const one = segment();
  await put(here, 0);
  await putSegments(here, 1, [one]);
  expect(await put(elsewhere, 2)).toMatchObject({ status: 409, body: { code: 'stale-version', version: 2 } });
  expect(await segmentsOf(here)).toEqual([one]);
});

it('of two devices that replace a state in segments at once, one does, and its segments are there', async () => {
  await putSegments(here, 0, [segment()]);
  const [one, two] = [segment(), segment()];
  const answers = await Promise.all([putSegments(here, 1, [one]), putSegments(elsewhere, 1, [two])]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  expect(await segmentsOf(here)).toEqual([answers[0].status === 200 ? one : two]);
});

it('a state has so many segments, each of so many bytes', async () => {
  const many = Array.from({ length: limits.accountStateSegments + 1 }, () => base64Url(40));
  expect((await putSegments(here, 0, many)).status).toBe(422);
  expect((await putSegments(here, 0, many.slice(1))).status).toBe(200);
  // No more come together by one at a time.
  expect((await putSegments(here, 1, many, many.slice(0, 1))).status).toBe(403);
  expect((await putSegments(here, 1, [base64Url(limits.accountStateSegmentMax + 1)])).status).toBe(422);
  expect((await putSegments(here, 1, [base64Url(limits.accountStateSegmentMax)])).status).toBe(200);
});

it('a state in segments is refused unless the device of the session has signed it, in that form', async () => {
  const signed = Buffer.from(signedSegments(here, [segment()]), 'base64url');
  const changed = [1, 150, signed.length - 70, signed.length - 1].map((at) => {
    const bytes = Buffer.from(signed);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes.toString('base64url');
  });
  for (const sealed of [...changed, signedSegments(elsewhere, [])]) {
    expect((await put(here, 0, sealed)).status).toBe(403);
  }
});
