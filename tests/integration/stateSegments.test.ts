import { randomBytes } from 'node:crypto';
import { createSignatureKeyPair } from '@sinetti/crypto-core';
import { issueDeviceCertificate } from '@sinetti/crypto-core/account';
import { expect, it } from 'vitest';
import { answered, textOf } from '../../relay/test/parts.ts';
import { olderStatesAtom } from '../../src/store/keys.ts';
import { type Tab, until, untilConnected } from './support/browser.ts';
import { browsers, newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

interface Answer {
  readonly segments: readonly string[];
}

const people = 150;
const random = (length: number) => new Uint8Array(randomBytes(length));
const idOf = (at: number) => `c0a1c0a1-5a7e-4f3a-9d0e-${at.toString(16).padStart(12, '0')}`;

/** Has a browser meet somebody who is at no relay, by the door of its worker. */
async function meet({ crypto }: Tab, at: number, part = 'd'): Promise<void> {
  const { publicKey: deviceKey } = createSignatureKeyPair({ random, now: () => 0 });
  const claims = { userId: idOf(at), deviceId: idOf(at).replace('c', part), deviceKey, notBefore: 0n };
  const certificate = issueDeviceCertificate(random(32), claims);
  await crypto.observeDevices(idOf(at), [Buffer.from(certificate).toString('base64url')]);
}

const known = async ({ crypto }: Tab) =>
  (await crypto.contactTrust()).filter(({ userId }) => userId.startsWith('c0a1c0a1')).length;

/** The relay's segments, as it answers them. */
const segments = async () =>
  (await relay.relay.database.db.selectFrom('account_state_segments').select('sealed').execute()).map(
    ({ sealed }) => Buffer.from(sealed).toString('base64url'),
  );

/** Opens Anna's laptop again, which puts into the state what its worker has met meanwhile. */
async function reopen(tab: Tab): Promise<Tab> {
  tab.kill();
  const again = browsers[0]?.openTab();
  if (again === undefined) throw new Error('no browser');
  await again.resume();
  return again;
}

/** Anna's laptop, which has met so many people that they are in segments at the relay. */
async function manyPeople(): Promise<Tab> {
  const laptop = await newBrowser().openTab().signUp('anna');
  await untilConnected(laptop);
  for (let at = 0; at < people; at += 1) await meet(laptop, at);
  const again = await reopen(laptop);
  await until(async () => (await segments()).length, 3);
  return again;
}

/** A browser that is given other segments than the relay has. */
const lied = (change: (given: readonly string[]) => readonly string[]) =>
  newBrowser({
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const isState = request.method === 'GET' && new URL(request.url).pathname === '/api/account-state';
      const response = await fetch(request);
      if (!isState || !response.ok) return response;
      const type = response.headers.get('content-type');
      const text = textOf(Buffer.from(await response.arrayBuffer()), type, ['sealed', 'segments']);
      const answer = JSON.parse(text) as Answer;
      const body = answered('GET', '/account-state', { ...answer, segments: change(answer.segments) });
      return new Response(body, { headers: { 'content-type': type ?? '' } });
    },
  });

it('a second browser has everybody whom the first one has met, in segments', async () => {
  const laptop = await manyPeople();
  const phone = await newBrowser().openTab().logIn('anna');
  expect(await known(phone)).toBe(people);
  expect(await known(laptop)).toBe(people);
  for (const tab of [laptop, phone]) expect(tab.store.get(olderStatesAtom)).toEqual([]);
});

it.each<[string, (given: readonly string[], former: readonly string[]) => readonly string[]]>([
  ['withholds a segment', ([, ...others]) => others],
  ['gives a former segment in the place of one', ([, ...others], [former = '']) => [former, ...others]],
])('a relay that %s from a new browser is noticed by it and by another', async (_, lie) => {
  const first = await manyPeople();
  const former = await segments();
  // Another key of somebody makes their segment another one.
  await meet(first, 0, 'e');
  const laptop = await reopen(first);
  await until(async () => (await segments()).filter((segment) => !former.includes(segment)).length, 1);
  const phone = await newBrowser().openTab().logIn('anna');
  await untilConnected(laptop, phone);
  const given = await segments();
  const gone = former.filter((segment) => !given.includes(segment));
  const tablet = await lied((all) => lie(all, gone))
    .openTab()
    .logIn('anna');
  await untilConnected(laptop, phone, tablet);
  expect(gone).toHaveLength(1);
  for (const tab of [laptop, tablet]) await until(() => tab.store.get(olderStatesAtom).length > 0, true);
});
