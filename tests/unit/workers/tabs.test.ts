import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seededRandom } from './support/browser.ts';
import { ALICE_AND_BOB, createPair, type TestDevice, textOf } from './support/device.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');

describe('two tabs of one device', () => {
  it(`send and receive in any order, and show the same messages (SINETTI_TEST_SEED=${seed})`, async () => {
    const { alice, bob } = await createPair(seed);
    const otherTab = await alice.openTab();
    const random = seededRandom(seed);
    const pick = <T>(items: readonly T[]): T => items[random(1)[0]! % items.length]!;
    const sent: string[] = [];
    const act = async (device: TestDevice): Promise<void> => {
      if (pick([true, true, false])) {
        const text = `message ${sent.length}`;
        sent.push(text);
        await device.send(ALICE_AND_BOB, text);
      } else {
        await device.sync();
      }
    };
    for (let round = 0; round < 40; round++) {
      const devices = Array.from({ length: 1 + (random(1)[0]! % 4) }, () => pick([alice, otherTab, bob]));
      await Promise.all(devices.map(act));
    }
    for (const device of [alice, otherTab, bob]) await device.sync();

    const atAlice = (await alice.history(ALICE_AND_BOB)).map(textOf);
    expect([...atAlice].sort()).toEqual([...sent].sort());
    expect((await otherTab.history(ALICE_AND_BOB)).map(textOf)).toEqual(atAlice);
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toEqual(atAlice);
    for (const device of [alice, otherTab, bob]) expect(await device.api.outbox()).toEqual([]);
  });

  it('process the same entries at the same time, and count each once', async () => {
    const { alice, bob } = await createPair();
    const otherTab = await bob.openTab();
    for (let i = 0; i < 10; i++) await alice.send(ALICE_AND_BOB, `${i}`);
    const [here, there] = await Promise.all([bob.sync(), otherTab.sync()]);
    expect(here.map(textOf)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(there).toEqual(here);
    expect(await bob.api.conversation(ALICE_AND_BOB)).toMatchObject({ unread: 10 });
  });

  it('get the same ciphertext when they prepare one message at the same time', async () => {
    const { alice } = await createPair();
    const otherTab = await alice.openTab();
    const messageId = await alice.queue(ALICE_AND_BOB, 'twice?');
    const [one, two] = await Promise.all([
      alice.api.prepareMessage(messageId),
      otherTab.api.prepareMessage(messageId),
    ]);
    expect(one).toMatchObject({ kind: 'message' });
    expect(two).toEqual(one);
  });
});
