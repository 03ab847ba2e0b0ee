import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { getSuite } from '../../crypto-core/src/suite/suites.ts';
import { authErrorAtom } from '../../src/store/session.ts';
import { type Browser, befriend, isSignedIn, type Tab, until, untilConnected } from './support/browser.ts';
import { browsers, newBrowser, relay, withRelay } from './support/world.ts';

withRelay();

const copiedHere = expect.stringContaining('in use in two places');
const copiedAnew = expect.stringContaining('It is a new device now');

/** The key of each ciphertext that a worker has made: one is for one message, whatever the nonce. */
let keys: Map<string, string>;
/** The ciphertexts that left a browser, each once: sending one again is no second use. */
let left: Set<string>;
/** Replaces the relay's answer to a call, or passes it on. */
let lie: (request: Request, answer: () => Promise<Response>) => Promise<Response>;

beforeEach(() => {
  keys = new Map();
  left = new Set();
  lie = (_request, answer) => answer();
  const { aead } = getSuite(0xf04d);
  const seal = aead.seal.bind(aead);
  vi.spyOn(aead, 'seal').mockImplementation((key, ...rest) => {
    const ciphertext = seal(key, ...rest);
    keys.set(hex(ciphertext), hex(key));
    return ciphertext;
  });
});
afterEach(() => vi.restoreAllMocks());

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** All that is sent goes through here. */
const options = {
  withoutMqtt: true,
  async fetch(input: Parameters<typeof fetch>[0], init?: RequestInit) {
    const request = new Request(input, init);
    const isJson = request.headers.get('content-type') === 'application/json';
    const body = (isJson ? await request.clone().json() : {}) as { content?: string };
    if (body.content !== undefined) left.add(Buffer.from(body.content, 'base64url').toString('hex'));
    return lie(request, () => fetch(request.clone()));
  },
};

/** The keys under which more than one ciphertext has left. */
function usedTwice(): string[] {
  const used = new Map<string, Set<string>>();
  for (const message of left) {
    // The ciphertext is the last field of a PrivateMessage.
    const [ciphertext, key] = [...keys].find(([sealed]) => message.endsWith(sealed)) ?? [];
    if (ciphertext === undefined || key === undefined) throw new Error('what left was never encrypted');
    used.set(key, (used.get(key) ?? new Set()).add(ciphertext));
  }
  return [...used].filter(([, ciphertexts]) => ciphertexts.size > 1).map(([key]) => key);
}

let annas: Browser;
let anna: Tab;
let bert: Tab;
let bertId: string;
let annaId: string;

beforeEach(async () => {
  annas = newBrowser(options);
  anna = await annas.openTab().signUp('anna');
  bert = await newBrowser(options).openTab().signUp('bert');
  await befriend(anna, bert);
  [annaId, bertId] = [anna.userId, bert.userId];
  await bert.actions.openChat(annaId);
  await send(anna, 'one');
  await until(() => bert.lines(annaId).at(-1), 'received: one');
});

async function send(tab: Tab, text: string): Promise<void> {
  await tab.actions.openChat(bertId);
  await tab.actions.sendMessage(bertId, text);
}

async function startOf(browser: Browser): Promise<Tab> {
  const tab = browser.openTab();
  await tab.resume();
  return tab;
}

async function copyOf(browser: Browser): Promise<Browser> {
  const made = await browser.copy();
  browsers.push(made);
  return made;
}

/** The page asks for the password and says why; after it the browser is a new device that has its messages. */
async function logsInAnew(tab: Tab, lines: readonly string[]): Promise<void> {
  await until(() => tab.store.get(authErrorAtom), copiedHere);
  expect(isSignedIn(tab)).toBe(false);
  await tab.logIn('anna');
  expect(tab.toastTexts).toContainEqual(copiedAnew);
  await tab.actions.openChat(bertId);
  expect(tab.lines(bertId)).toEqual(expect.arrayContaining([...lines]));
}

/** Ids of Anna's devices in Bert's tree. */
async function leaves(): Promise<readonly string[]> {
  const [state] = await bert.crypto.conversations();
  return state?.members.find(({ userId }) => userId === annaId)?.deviceIds ?? [];
}

const arrived = (texts: readonly string[]) =>
  until(
    () => bert.lines(annaId).filter((line) => line.startsWith('received')),
    texts.map((text) => `received: ${text}`),
  );

describe('a profile that was copied', () => {
  it('is noticed before anything leaves: both places ask for the password and become new devices', async () => {
    const { deviceId } = await anna.crypto.openDevice();
    anna.kill();
    const copy = await copyOf(annas);
    const here = await startOf(annas);
    await send(here, 'two');
    await arrived(['one', 'two']);
    const sent = left.size;
    const there = await startOf(copy);
    await logsInAnew(there, ['sent: one']);
    expect(left.size).toBe(sent);
    await logsInAnew(here, ['sent: one', 'sent: two']);

    await send(there, 'three');
    await arrived(['one', 'two', 'three']);
    await send(here, 'four');
    await arrived(['one', 'two', 'three', 'four']);
    await until(() => here.lines(bertId).at(-1), 'sent: four');
    await until(() => there.lines(bertId).at(-1), 'received: four');
    expect(await leaves()).not.toContain(deviceId);
    expect(await leaves()).toHaveLength(2);
    expect(usedTwice()).toEqual([]);
  });

  it('is noticed by the place that runs as soon as the other one starts', async () => {
    const carls = newBrowser({ ...options, withoutMqtt: false });
    const running = await carls.openTab().signUp('carl');
    await untilConnected(running);
    const sent = left.size;
    await startOf(await copyOf(carls));
    await until(() => running.store.get(authErrorAtom), copiedHere);
    expect(isSignedIn(running)).toBe(false);
    expect(left.size).toBe(sent);
  });

  it('sends what waited in both places once', async () => {
    anna.setOnline(false);
    await anna.actions.sendMessage(bertId, 'waiting');
    anna.kill();
    const copy = await copyOf(annas);
    const here = await startOf(annas);
    await arrived(['one', 'waiting']);
    const there = await startOf(copy);
    await logsInAnew(there, ['sent: one']);
    await logsInAnew(here, ['sent: one']);
    await send(there, 'two');
    await arrived(['one', 'waiting', 'two']);
    expect(usedTwice()).toEqual([]);
  });

  it('is noticed when it is used while the other place is away, and by that when it is back', async () => {
    anna.kill();
    const copy = await copyOf(annas);
    const there = await startOf(copy);
    await send(there, 'two');
    await arrived(['one', 'two']);
    there.kill();
    const here = await startOf(annas);
    await logsInAnew(here, ['sent: one']);
    await send(here, 'three');
    await arrived(['one', 'two', 'three']);
    const again = await startOf(copy);
    await logsInAnew(again, ['sent: one', 'sent: two']);
    await send(again, 'four');
    await arrived(['one', 'two', 'three', 'four']);
    expect(usedTwice()).toEqual([]);
  });

  it('is noticed by its own entries where the relay lies about starts', async () => {
    lie = async (request, answer) => {
      if (request.url.endsWith('/devices/me/start')) {
        const { number, tag } = (await request.json()) as { number: number; tag: string };
        return Response.json({ number, tag });
      }
      return answer();
    };
    // The relay keeps no start, and takes whatever names one.
    await relay.relay.database.db
      .updateTable('devices')
      .set({ start_number: null, start_tag: null })
      .execute();
    anna.kill();
    const copy = await copyOf(annas);
    const here = await startOf(annas);
    await send(here, 'two');
    await arrived(['one', 'two']);
    const there = await startOf(copy);
    await logsInAnew(there, ['sent: one']);
    await logsInAnew(here, ['sent: one', 'sent: two']);
    expect(usedTwice()).toEqual([]);
  });
});

describe('a profile that was restored', () => {
  /** Starts it, logs in anew and goes on. @returns how many messages had left by the log-in */
  async function leftUntilLogIn(old: Parameters<typeof startOf>[0]): Promise<number> {
    const sent = left.size;
    const restored = await startOf(old);
    await logsInAnew(restored, ['sent: one']);
    const leaked = left.size - sent;
    await send(restored, 'three');
    await arrived(['one', 'two', 'three']);
    return leaked;
  }

  it('from before other starts is noticed before anything leaves', async () => {
    anna.kill();
    const old = await copyOf(annas);
    const later = await startOf(annas);
    await send(later, 'two');
    await arrived(['one', 'two']);
    later.kill();
    expect(await leftUntilLogIn(old)).toBe(0);
    expect(usedTwice()).toEqual([]);
  });

  it('from within the same start is noticed in the log before anything leaves', async () => {
    const old = await copyOf(annas);
    await send(anna, 'two');
    await arrived(['one', 'two']);
    anna.kill();
    expect(await leftUntilLogIn(old)).toBe(0);
    expect(usedTwice()).toEqual([]);
  });
});

it('reads the log of a conversation before the first message of a start, however soon that is written', async () => {
  const old = await copyOf(annas);
  await send(anna, 'two');
  await arrived(['one', 'two']);
  anna.kill();
  const sent = left.size;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  // The list that a start reads by itself comes late.
  lie = async (request, answer) => {
    if (request.method === 'GET' && request.url.endsWith('/conversations')) await held;
    return answer();
  };
  const restored = await startOf(old);
  await restored.actions.sendMessage(bertId, 'at once').catch(() => undefined);
  await until(() => restored.store.get(authErrorAtom), copiedHere);
  expect(left.size).toBe(sent);
  release();
});

describe('no alarm', () => {
  it('is raised for two tabs, whichever has started last', async () => {
    const other = await startOf(annas);
    await send(anna, 'two');
    await send(other, 'three');
    const third = await startOf(annas);
    for (const [tab, text] of [
      [anna, 'four'],
      [third, 'five'],
      [other, 'six'],
    ] as const) {
      await send(tab, text);
    }
    await arrived(['one', 'two', 'three', 'four', 'five', 'six']);
    for (const tab of [anna, other, third]) expect(isSignedIn(tab)).toBe(true);
  });

  it('is raised where the answers to starts are lost', async () => {
    let lost = 0;
    lie = async (request, answer) => {
      if (!request.url.endsWith('/devices/me/start') || lost >= 3) return answer();
      lost += 1;
      await answer();
      throw new TypeError('the connection broke');
    };
    for (let start = 0; start < 3; start += 1) {
      anna.kill();
      anna = await startOf(annas);
      await until(() => lost > start, true);
    }
    await send(anna, 'two');
    await arrived(['one', 'two']);
    expect(isSignedIn(anna)).toBe(true);
  });

  it('is raised for a relay that was restored from a backup', async () => {
    const { db } = relay.relay.database;
    const backup = await db.selectFrom('devices').select(['id', 'start_number', 'start_tag']).execute();
    for (let start = 0; start < 3; start += 1) {
      anna.kill();
      anna = await startOf(annas);
      await send(anna, `start ${start}`);
    }
    await arrived(['one', 'start 0', 'start 1', 'start 2']);
    for (const { id, ...start } of backup) {
      await db.updateTable('devices').set(start).where('id', '=', id).execute();
    }
    await send(anna, 'two');
    await arrived(['one', 'start 0', 'start 1', 'start 2', 'two']);
    await db.updateTable('devices').set({ start_number: null, start_tag: null }).execute();
    anna.kill();
    anna = await startOf(annas);
    await send(anna, 'three');
    await arrived(['one', 'start 0', 'start 1', 'start 2', 'two', 'three']);
    expect(isSignedIn(anna)).toBe(true);
  });
});
