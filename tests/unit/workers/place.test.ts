import { beforeEach, describe, expect, it } from 'vitest';
import { copyDatabases } from '#tests/support/copyDatabases.ts';
import type { CryptoApi, SignedStart } from '#workers/api/cryptoApi.ts';
import { Browser, Clock } from './support/browser.ts';
import { change, payloadsKept } from './support/changes.ts';
import { ALICE, ALICE_AND_BOB, createPair, DAY, type TestDevice, textOf } from './support/device.ts';

type Start = Pick<SignedStart, 'number' | 'tag'>;

/** Keeps the start of one device as the relay does. */
class Starts {
  registered: Start | null = null;

  put({ from, number, tag }: SignedStart): Start {
    const { registered } = this;
    if (registered !== null && !from.includes(registered.tag)) return registered;
    this.registered = { number, tag };
    return this.registered;
  }
}

async function copyOf(
  { browser }: Pick<TestDevice, 'browser'>,
  seed: string,
  clock = new Clock(),
): Promise<Browser> {
  const made = new Browser(seed, clock);
  await copyDatabases(browser.indexedDB, made.indexedDB);
  return made;
}

async function tabOf(browser: Browser): Promise<CryptoApi> {
  const api = browser.tab();
  if (!(await api.resume(ALICE))) throw new Error('the session is gone');
  return api;
}

/** Registers the newest start, as the page does. */
async function register(api: CryptoApi, starts: Starts): Promise<'registered' | 'copied'> {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const outcome = await api.startAnswered(starts.put(await api.start()));
    if (outcome !== 'again') return outcome;
  }
  throw new Error('the starts go on for ever');
}

let alice: TestDevice;
let bob: TestDevice;
let starts: Starts;
beforeEach(async () => {
  ({ alice, bob } = await createPair());
  starts = new Starts();
});

/** The start that a message of this tab names. */
async function named(api: CryptoApi): Promise<string | null> {
  const messageId = alice.relay.uuid();
  await api.queueMessage({
    conversationId: ALICE_AND_BOB,
    messageId,
    text: 'hello',
    sentAt: '2026-03-01T10:00:00.000Z',
  });
  const prepared = await api.prepareMessage(messageId);
  if (prepared.kind !== 'message') throw new Error(`prepared ${prepared.kind}`);
  return prepared.start;
}

describe('a message', () => {
  beforeEach(async () => {
    // The first one of a conversation waits for a commit.
    await alice.send(ALICE_AND_BOB, 'first');
    await alice.sync();
  });

  it('names no start before this worker has registered its own', async () => {
    expect(await named(alice.api)).toBeNull();
    await register(alice.api, starts);
    expect(await named(alice.api)).toBe(starts.registered?.tag);
    // The start that another worker of the storage has registered says nothing of this one, which may be a copy.
    const tab = await tabOf(alice.browser);
    expect(await named(tab)).toBeNull();
    await register(tab, starts);
    for (const api of [alice.api, tab]) expect(await named(api)).toBe(starts.registered?.tag);
  });

  it('is encrypted no more once the data is known to be in two places', async () => {
    await register(alice.api, starts);
    await alice.api.markCopied();
    const messageId = await alice.queue(ALICE_AND_BOB, 'waits');
    await expect(alice.api.prepareMessage(messageId)).rejects.toMatchObject({ code: 'device-copied' });
    await expect(alice.api.start()).rejects.toMatchObject({ code: 'device-copied' });
    expect(await alice.waiting(messageId)).toMatchObject({ status: 'sending' });
  });
});

describe('the next sign-in of a device in two places', () => {
  it('makes another device with the messages of the one before, and ends that', async () => {
    await alice.send(ALICE_AND_BOB, 'first');
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'second');
    await alice.sync();
    const waiting = await alice.queue(ALICE_AND_BOB, 'waits');
    await alice.api.prepareMessage(waiting);
    await alice.api.markCopied();
    await alice.logIn();
    const { former, isNew } = await alice.api.openDevice();
    expect({ former: former?.deviceId, isNew }).toEqual({ former: alice.deviceId, isNew: true });
    const ended = { userId: ALICE, deviceId: alice.deviceId, statement: former?.statement ?? '' };
    await alice.registerAnew();
    expect((await alice.api.openDevice()).former?.deviceId).toBe(ended.deviceId);
    await alice.api.formerTold(ended.deviceId);
    expect((await alice.api.openDevice()).former).toBeNull();
    await bob.api.setRevoked([ended]);
    await alice.sync();
    await alice.flush(waiting);
    await bob.sync();
    expect((await bob.history(ALICE_AND_BOB)).map(textOf)).toEqual(['first', 'second', 'waits']);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(
      expect.arrayContaining(['first', 'second']),
    );
    await bob.send(ALICE_AND_BOB, 'third');
    const [state] = await bob.api.conversations();
    const own = state?.members.find(({ userId }) => userId === ALICE);
    expect(own?.deviceIds).toEqual([alice.deviceId]);
    // It has starts of its own.
    expect(await register(alice.api, new Starts())).toBe('registered');
  });
});

describe('a deletion that the relay has taken as the device becomes another one', () => {
  it('leaves no text of its message in this browser', async () => {
    const id = await alice.send(ALICE_AND_BOB, 'secret');
    await alice.sync();
    const before = await payloadsKept(alice);
    await change(alice, ALICE_AND_BOB, { kind: 'deletion', of: id });
    await alice.api.markCopied();
    await alice.logIn();
    expect((await alice.api.openDevice()).isNew).toBe(true);
    // The deletion instead of the message.
    expect(await payloadsKept(alice)).toBe(before);
    expect((await alice.history(ALICE_AND_BOB)).map(textOf)).toEqual(['(deleted)']);
  });
});

describe('an entry of the log from this device', () => {
  it('that is none it has sent is proof: its sender data names its leaf', async () => {
    await alice.send(ALICE_AND_BOB, 'first');
    await alice.sync();
    const copy = await copyOf(alice, 'copy');
    const there = await tabOf(copy);
    const elsewhere = Object.assign(Object.create(alice) as TestDevice, { browser: copy, api: there });
    await elsewhere.send(ALICE_AND_BOB, 'from elsewhere');
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const entries = alice.relay.entries(ALICE_AND_BOB, lastSeq);
    expect(await alice.api.processEntries(ALICE_AND_BOB, entries)).toMatchObject({ isCopied: true });
    await expect(alice.api.start()).rejects.toMatchObject({ code: 'device-copied' });
  });

  it('that is a commit it has not made is proof, and no refused change of the conversation', async () => {
    await alice.send(ALICE_AND_BOB, 'first');
    await alice.sync();
    const later = new Clock();
    later.advance(DAY);
    const copy = await copyOf(alice, 'copy', later);
    const elsewhere = Object.assign(Object.create(alice) as TestDevice, {
      browser: copy,
      api: await tabOf(copy),
    });
    await elsewhere.send(ALICE_AND_BOB, 'after a commit');
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const entries = alice.relay.entries(ALICE_AND_BOB, lastSeq);
    expect(entries.map(({ kind }) => kind)).toEqual(['commit', 'application']);
    const result = await alice.api.processEntries(ALICE_AND_BOB, entries);
    expect(result).toMatchObject({ isCopied: true, events: [] });
  });

  it('that does not open is only damaged', async () => {
    await alice.send(ALICE_AND_BOB, 'first');
    await alice.sync();
    await bob.sync();
    await bob.send(ALICE_AND_BOB, 'second');
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const [theirs] = alice.relay.entries(ALICE_AND_BOB, lastSeq).slice(-1);
    if (theirs === undefined) throw new Error('nothing was sent');
    // Somebody else's ciphertext, and bytes that are nobody's, under this device's name.
    const given = alice.relay
      .entries(ALICE_AND_BOB, lastSeq)
      .map((entry) =>
        entry === theirs || entry.seq === theirs.seq
          ? { ...entry, sender_id: ALICE, sender_device_id: alice.deviceId }
          : entry,
      );
    expect(await alice.api.processEntries(ALICE_AND_BOB, given)).not.toHaveProperty('isCopied');
    expect(await register(alice.api, starts)).toBe('registered');
  });

  it('whose row in the outbox went, or that comes again, is no proof', async () => {
    await alice.send(ALICE_AND_BOB, 'first');
    await alice.send(ALICE_AND_BOB, 'second');
    await alice.sync();
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const [last] = alice.relay.entries(ALICE_AND_BOB, lastSeq - 1);
    if (last === undefined) throw new Error('nothing was sent');
    const again = { ...last, seq: lastSeq + 1 };
    const result = await alice.api.processEntries(ALICE_AND_BOB, [again]);
    expect(result).not.toHaveProperty('isCopied');
    expect(result.messages.map(textOf)).toEqual(['(damaged)']);
  });
});

describe('a ciphertext of this device that a contact sends once more', () => {
  it('is not shown, and no proof of anything', async () => {
    await alice.send(ALICE_AND_BOB, 'first');
    await alice.sync();
    const { lastSeq } = await alice.api.conversation(ALICE_AND_BOB);
    const [own] = alice.relay.entries(ALICE_AND_BOB, lastSeq - 1);
    if (own === undefined) throw new Error('nothing was sent');
    const messageId = alice.relay.uuid();
    const { content, epoch } = own;
    alice.relay.send(bob, { conversationId: ALICE_AND_BOB, messageId, epoch, content });
    const entries = alice.relay.entries(ALICE_AND_BOB, lastSeq);
    const result = await alice.api.processEntries(ALICE_AND_BOB, entries);
    expect(result).not.toHaveProperty('isCopied');
    expect(result.messages.map(textOf)).toEqual(['(rules)']);
    expect(await register(alice.api, starts)).toBe('registered');
  });
});

/** A play of one device: tabs that start, requests that are late, lost or doubled, and storages that are copied. */
class Play {
  readonly starts = new Starts();
  readonly places: { browser: Browser; tabs: CryptoApi[]; isCopied: boolean }[];
  readonly #requests: { place: number; api: CryptoApi; request: SignedStart }[] = [];
  readonly #answers: { place: number; api: CryptoApi; answer: Start }[] = [];
  #state: number;

  constructor(browser: Browser, seed: number) {
    this.places = [{ browser, tabs: [], isCopied: false }];
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  async step(): Promise<void> {
    const index = this.below(this.places.length);
    const place = this.places[index];
    if (place === undefined) throw new Error('no place');
    switch (this.below(6)) {
      case 0:
        return void place.tabs.push(await tabOf(place.browser));
      case 1:
        // A killed tab: its requests may be under way, and its answers reach nobody.
        return void place.tabs.splice(this.below(place.tabs.length + 1), 1);
      case 2:
      case 3: {
        const api = place.tabs[this.below(place.tabs.length)];
        if (api === undefined || place.isCopied) return;
        this.#requests.push({ place: index, api, request: await api.start() });
        return;
      }
      case 4: {
        const at = this.below(this.#requests.length);
        const arriving = this.#requests[at];
        if (arriving === undefined) return;
        const answer = this.starts.put(arriving.request);
        if (this.below(4) > 0) this.#requests.splice(at, 1);
        if (this.below(3) > 0) this.#answers.push({ ...arriving, answer });
        return;
      }
      default: {
        const [arriving] = this.#answers.splice(this.below(this.#answers.length), 1);
        if (arriving !== undefined) await this.#hear(arriving);
      }
    }
  }

  /** Every place is used until it is known where the device is. @returns the places that may send */
  async settle(): Promise<number[]> {
    const able: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      able.length = 0;
      for (const [index, place] of this.places.entries()) {
        if (place.isCopied) continue;
        const tab = place.tabs[0] ?? (await tabOf(place.browser));
        place.tabs[0] = tab;
        if ((await register(tab, this.starts)) === 'copied') place.isCopied = true;
        else able.push(index);
      }
    }
    return able;
  }

  async #hear({
    answer,
    api,
    place: index,
  }: {
    place: number;
    api: CryptoApi;
    answer: Start;
  }): Promise<void> {
    const place = this.places[index];
    if (place === undefined || place.isCopied || !place.tabs.includes(api)) return;
    place.isCopied = (await api.startAnswered(answer)) === 'copied';
  }
}

describe('starts', () => {
  it('raise no alarm in one place: 60 plays of tabs, killed, with requests and answers late, lost and doubled', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const play = new Play(await copyOf(alice, `play ${seed}`), seed);
      for (let step = 0; step < 40; step += 1) await play.step();
      expect(await play.settle(), `seed ${seed}`).toEqual([0]);
    }
  });

  it('raise no alarm after a lost answer and any number of starts that reach nobody, while a copy is noticed', async () => {
    const browser = await copyOf(alice, 'offline');
    expect(await register(await tabOf(browser), starts)).toBe('registered');
    // The relay has taken this one, and the answer is lost.
    starts.put(await (await tabOf(browser)).start());
    for (let i = 0; i < 70; i += 1) await (await tabOf(browser)).start();
    const copy = await copyOf({ browser }, 'a copy of it');
    const [here, there] = [await tabOf(browser), await tabOf(copy)];
    const { from } = await here.start();
    expect(from.length).toBeLessThanOrEqual(64);
    expect(await register(here, starts)).toBe('registered');
    expect(await register(there, starts)).toBe('copied');
  });

  it('leave one place at most that may send: 60 plays in which the storage is copied or restored', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const play = new Play(await copyOf(alice, `play ${seed}`), seed);
      for (let step = 0; step < 20; step += 1) await play.step();
      const browser = await copyOf(play.places[0] ?? alice, `copy ${seed}`);
      play.places.push({ browser, tabs: [], isCopied: false });
      for (let step = 0; step < 20; step += 1) await play.step();
      const able = await play.settle();
      expect(able.length, `seed ${seed}`).toBe(1);
    }
  });
});
