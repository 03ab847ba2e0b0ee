import { afterAll, beforeAll, expect, it } from 'vitest';
import { PresenceClientMessage } from '../../contract/index.ts';
import { befriend, type PersonOnDevice, signUpOnDevice, startTestRelay, type TestRelay } from '../helpers.ts';
import { arriveAt, hello, Tab } from '../presence/tab.ts';
import { createRandom } from '../random.ts';
import { everythingStored, expectNoFailureLogged, memoryInUse } from './observe.ts';
import { breakText, mutate } from './samples.ts';

/** Fixed, so that a failure repeats; change it to look elsewhere. */
const seed = 0x51ae773;
const socketCount = 300;
const memoryAllowance = 48 * 1024 * 1024;

let relay: TestRelay;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
beforeAll(async () => {
  relay = await startTestRelay({ environment: { RATE_LIMITS: 'off' } });
  [aino, eero] = [await signUpOnDevice(relay), await signUpOnDevice(relay)];
  await befriend(aino, eero);
});
afterAll(() => relay.close());

/** Not one of ours (4401), not by the schema (1008), not text (1003), too large (1009), not UTF-8 (1007). */
const refusals = [4401, 1008, 1003, 1009, 1007];

it(`${socketCount} presence sockets of broken messages break nothing but themselves (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const stored = await everythingStored(relay);
  const { tab: bystander } = await arriveAt(relay, eero);
  const memory = memoryInUse();
  let online = 0;
  for (let index = 0; index < socketCount; index++) {
    const isSignedIn = random.below(2) === 0;
    const tab = await Tab.open(relay);
    if (isSignedIn) {
      tab.send(hello(aino));
      online += 1;
    }
    switch (random.below(4)) {
      case 0:
        tab.send(breakText(random, JSON.stringify(hello(aino))));
        break;
      case 1:
        tab.socket.send(Buffer.from(JSON.stringify(hello(aino))), { binary: true });
        break;
      case 2:
        tab.send({ userId: eero.id, online: true, token: aino.token });
        break;
      default: {
        const message = mutate(random, hello(aino));
        // A mutated message may be valid still, so an invalid one is sent in its place.
        if (PresenceClientMessage.safeParse(message).success) tab.send('{');
        else tab.send(JSON.stringify(message));
      }
    }
    expect(refusals).toContain(await tab.closed);
  }
  expect(online).toBeGreaterThan(socketCount / 4);

  // The bystander has heard of a contact coming and going, and of nothing else.
  let isOnline = false;
  bystander.send({ type: 'ping' });
  for (;;) {
    const message = await bystander.next();
    if (JSON.stringify(message) === '{"type":"pong"}') break;
    isOnline = !isOnline;
    expect(message).toEqual({ userId: aino.id, online: isOnline });
  }
  expect(isOnline).toBe(false);
  expect((await arriveAt(relay, aino)).online).toEqual([eero.id]);
  expect(await everythingStored(relay)).toEqual(stored);
  expect(memoryInUse() - memory).toBeLessThan(memoryAllowance);
  expectNoFailureLogged(relay);
});
