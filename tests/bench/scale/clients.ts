// Many real clients of the product without a screen, in a process of their own: worker, services, sockets and polls of each as
// in a browser, at the product's own pace.

import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#src/lib/clock.ts';
import { forEachLimited } from '#src/lib/parallel.ts';
import { contactsAtom, incomingRequestsAtom } from '#src/store/contacts.ts';
import { Browser, type Tab } from '../../support/headlessBrowser.ts';
import { serveLines } from '../lines.ts';

const [relayUrl = '', firstNumber = '0'] = process.argv.slice(2);
const socketUrl = relayUrl.replace('http', 'ws');
const atOnce = 8;

/** Requests of all clients by method and path, without the ids in it, and the bytes that came. */
const asked = new Map<string, number>();

const countingFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const path = new URL(request.url).pathname.replaceAll(/[\w~-]{16,}(?::[\w~-]{16,})*/g, '…');
  const answer = await fetch(request);
  const key = `${request.method} ${path} ${answer.status}`;
  asked.set(key, (asked.get(key) ?? 0) + 1);
  return answer;
};

const tabs: Tab[] = [];

/** The other one of each pair. */
const friendOf = (tab: Tab): Tab => tabs[tabs.indexOf(tab) ^ 1] as Tab;

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 50) {
    if (waited > 120_000) throw new Error(`not within two minutes: ${what}`);
    await delay(50);
  }
}

const isSent = (tab: Tab) =>
  tab.chat(friendOf(tab).userId).messages.every(({ status }) => status !== 'sending');

async function befriend(one: Tab, other: Tab): Promise<void> {
  await one.actions.sendContactRequest(other.userId);
  await until('a request comes', () => other.store.get(incomingRequestsAtom).items.length > 0);
  for (const { id } of other.store.get(incomingRequestsAtom).items)
    await other.actions.acceptContactRequest(id);
  await until('a contact comes', () => one.store.get(contactsAtom).items.length > 0);
  for (const tab of [one, other]) {
    await tab.actions.openChat(friendOf(tab).userId);
    await tab.actions.sendMessage(friendOf(tab).userId, 'Hello');
    await until('the first message is sent', () => isSent(tab));
  }
}

await serveLines({
  /** Signs up so many people, two of whom are contacts each, and have written to one another. */
  async join(count) {
    const before = tabs.length;
    const places = Array.from({ length: Number(count) }, (_, at) => before + at);
    await forEachLimited(places, atOnce, async (at) => {
      const browser = new Browser(
        { url: relayUrl, mqttUrl: `${socketUrl}/mqtt`, presenceUrl: `${socketUrl}/ws/presence/` },
        { clock: systemClock, fetch: countingFetch },
      );
      tabs[at] = await browser.openTab().signUp(`client-${Number(firstNumber) + at}`);
    });
    const pairs = tabs.slice(before).filter((_, at) => at % 2 === 0);
    await forEachLimited(pairs, atOnce, (tab) => befriend(tab, friendOf(tab)));
    await until('all are connected', () => tabs.every(({ isConnected }) => isConnected));
    return '';
  },

  /** Each writes to the other of its pair so many times, evenly spread over that time. @returns once all is sent */
  async talk(times, seconds) {
    const pause = (Number(seconds) * 1_000) / Number(times);
    await Promise.all(
      tabs.map(async (tab, at) => {
        await delay((pause * at) / tabs.length);
        for (let number = 0; number < Number(times); number += 1) {
          void tab.actions.sendMessage(friendOf(tab).userId, `It goes on and on, no. ${number}`);
          await delay(pause);
        }
        await until('all is sent', () => isSent(tab));
      }),
    );
    return '';
  },

  /** Cuts all MQTT connections at once, as a relay that dies does. @returns once all are back */
  async comeBack() {
    for (const tab of tabs) tab.cutMqtt();
    await until('all have noticed', () => tabs.every(({ isConnected }) => !isConnected));
    for (const tab of tabs) tab.restoreMqtt();
    await until('all are back', () => tabs.every(({ isConnected }) => isConnected));
    return '';
  },

  /** @returns what was asked since the last time, as JSON: requests by method, path and status */
  async asked() {
    const counts = JSON.stringify(Object.fromEntries(asked));
    asked.clear();
    return counts;
  },
});
