import { beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { incomingRequestsAtom } from '../../src/store/contacts.ts';
import { type Browser, befriend, type Tab, until, untilConnected } from './support/browser.ts';
import { newBrowser, withRelay } from './support/world.ts';

/** Without the polling, which would find sooner or later what a start has missed. */
const unpolled: Clock = { ...systemClock, every: () => ({ cancel: () => undefined }) };

withRelay();

let annas: Browser;
let anna: Tab;
let bert: Tab;
/** Records what Anna's browser asks for. */
let asked: string[];
/** Holds the relay's answer to a call back. */
let hold: (call: string) => Promise<void>;

beforeEach(async () => {
  asked = [];
  hold = () => Promise.resolve();
  annas = newBrowser({
    clock: unpolled,
    async fetch(input, init) {
      const request = new Request(input, init);
      const call = `${request.method} ${new URL(request.url).pathname.slice('/api'.length)}`;
      asked.push(call);
      const answer = await fetch(request);
      await hold(call);
      return answer;
    },
  });
  anna = await annas.openTab().signUp('anna');
  bert = await newBrowser().openTab().signUp('bert');
  await untilConnected(anna, bert);
});

async function startAgain(): Promise<void> {
  anna.kill();
  anna = annas.openTab();
  asked = [];
  await anna.resume();
}

async function askForContact(): Promise<void> {
  const [found] = await bert.actions.searchUsers('anna');
  await bert.actions.sendContactRequest(found?.id ?? '');
}

const requests = () => anna.store.get(incomingRequestsAtom);

it('a start asks for each list once, also where the log has grown meanwhile', async () => {
  await befriend(bert, anna);
  const bertId = bert.userId;
  await bert.actions.sendMessage(anna.userId, 'before');
  await until(() => anna.chat(bertId).state?.unread, 1);
  const annaId = anna.userId;
  anna.kill();
  await bert.actions.openChat(annaId);
  await bert.actions.sendMessage(annaId, 'while away');
  await until(() => bert.lines(annaId), ['sent: before', 'sent: while away']);
  await startAgain();
  await until(() => anna.chat(bertId).state?.unread, 2);
  await until(() => asked.includes('GET /history'), true);
  const lists = asked.filter((call) => call.startsWith('GET '));
  expect(lists.toSorted()).toEqual([...new Set(lists)].toSorted());
  expect(lists).toContain(`GET /messages/user/${bertId}`);
});

it('hears of what changes after the relay has looked, and before its answer is there', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  hold = async (call) => {
    if (call !== 'GET /contacts/requests' || isHeld) return;
    isHeld = true;
    await held;
  };
  await startAgain();
  await until(() => isHeld, true);
  await askForContact();
  expect(requests().items).toEqual([]);
  release();
  await until(() => requests().items.map(({ from_user }) => from_user.username), ['bert']);
});

it('a start reads again what it has read before it could hear of changes', async () => {
  anna.kill();
  anna = annas.openTab();
  anna.cutMqtt();
  await anna.resume();
  await until(() => asked.includes('GET /history') && requests().loaded, true);
  await askForContact();
  asked = [];
  anna.restoreMqtt();
  await untilConnected(anna);
  await until(() => requests().items.map(({ from_user }) => from_user.username), ['bert']);
  expect(asked.filter((call) => call === 'GET /contacts/requests')).toHaveLength(1);
});
