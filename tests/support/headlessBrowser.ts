import 'fake-indexeddb/auto';
import { createHash, randomUUID } from 'node:crypto';
import type { passwordKeys } from '@sinetti/crypto-core/account';
import { IDBFactory } from 'fake-indexeddb';
import { createStore } from 'jotai';
import mqtt, { type MqttClient } from 'mqtt';
import { WebSocket } from 'ws';
import type { CryptoApi } from '../../src/crypto/client.ts';
import { activateLocale } from '../../src/i18n/i18n.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { createKeyedQueue } from '../../src/lib/keyedQueue.ts';
import { createLog } from '../../src/lib/log.ts';
import { type Client, createClient, type RelayAddresses } from '../../src/services/client/client.ts';
import type { AppActions } from '../../src/store/actions.ts';
import { type Chat, chatsAtom, emptyChat, type MessageView } from '../../src/store/chats.ts';
import { realtimeStatusAtom } from '../../src/store/connection.ts';
import { currentUserAtom } from '../../src/store/session.ts';
import { toastsAtom } from '../../src/store/toasts.ts';
import { browserEnv } from '../../workers/entry/browserEnv.ts';
import { createCryptoApi } from '../../workers/entry/createCryptoApi.ts';
import { copyDatabases } from './copyDatabases.ts';
import { Typist } from './typist.ts';

/** Polling and pings twenty times as often as in production, so that a story takes seconds. */
const hastyClock: Clock = { ...systemClock, every: (ms, task) => systemClock.every(ms / 20, task) };

await activateLocale('en');

const nowhere = 'ws://127.0.0.1:9/';

/** A hash in place of Argon2id, for stories that are not about passwords. */
export function cheapPasswordKeys(password: string, { salt }: { readonly salt: Uint8Array }) {
  const key = (label: string) =>
    new Uint8Array(createHash('sha256').update(label).update(salt).update(password).digest());
  return { authKey: key('auth'), wrapKey: key('wrap'), proofSeed: key('proof') };
}

/** Web Locks of one browser: exclusive, first come first served, shared by its tabs. */
class MemoryLocks {
  #queue = createKeyedQueue();

  request<T>(name: string, task: () => Promise<T>): Promise<T> {
    return this.#queue(name, task);
  }

  /** Releases the locks when every tab that holds one is gone. */
  releaseAll(): void {
    this.#queue = createKeyedQueue();
  }
}

export class MemoryStorage {
  readonly entries = new Map<string, string>();

  getItem(key: string): string | null {
    return this.entries.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.entries.set(key, value);
  }

  removeItem(key: string): void {
    this.entries.delete(key);
  }
}

export interface BrowserOptions {
  /** In place of the cheap hash. */
  readonly passwordKeys?: typeof passwordKeys;
  /** Sees every random value that the worker draws. */
  readonly onRandom?: (bytes: Uint8Array) => void;
  readonly withoutMqtt?: boolean;
  /** In place of the hasty one. */
  readonly clock?: Clock;
  /** In place of the browser's: what a relay that lies makes of the answers. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A browser profile: what outlives its tabs. */
export class Browser {
  readonly indexedDB = new IDBFactory();
  readonly storage = new MemoryStorage();
  readonly locks = new MemoryLocks();
  readonly logLines: string[] = [];
  readonly tabs: Tab[] = [];
  readonly #relay: { url: string; mqttUrl: string; presenceUrl: string };
  readonly #addresses: RelayAddresses;
  readonly #options: BrowserOptions;

  constructor(relay: { url: string; mqttUrl: string; presenceUrl: string }, options: BrowserOptions = {}) {
    this.#relay = relay;
    this.#addresses = { apiHost: relay.url, mqttUrl: relay.mqttUrl, presenceUrl: relay.presenceUrl };
    this.#options = options;
  }

  /** @param wrapCrypto stands between the tab's services and its worker */
  openTab(wrapCrypto: (api: CryptoApi) => CryptoApi = (api) => api): Tab {
    const typist = new Typist();
    const api = createCryptoApi({
      env: {
        now: () => browserEnv.now(),
        random: (length) => {
          const bytes = browserEnv.random(length);
          this.#options.onRandom?.(bytes);
          return bytes;
        },
      },
      indexedDB: this.indexedDB,
      locks: this.locks,
      subtle: crypto.subtle,
      monotonic: () => performance.now(),
      storage: { persisted: async () => false },
      prompt: typist.newPrompt(),
      DANGEROUS_passwordKeysForTesting: this.#options.passwordKeys ?? cheapPasswordKeys,
    });
    const tab = new Tab(this, wrapCrypto(api), typist, this.#addresses, this.#options);
    this.tabs.push(tab);
    return tab;
  }

  /** Another profile with all that this one has stored, as somebody makes it who copies the folder. */
  async copy(options: BrowserOptions = this.#options): Promise<Browser> {
    const made = new Browser(this.#relay, options);
    await copyDatabases(this.indexedDB, made.indexedDB);
    for (const [key, value] of this.storage.entries) made.storage.setItem(key, value);
    return made;
  }

  close(): void {
    for (const tab of this.tabs) tab.kill();
  }
}

/** An open tab: the whole client but for its screen. */
export class Tab {
  readonly store = createStore();
  readonly events = new EventTarget();
  readonly crypto: CryptoApi;
  /** The person at this tab, who answers what its frame of the keys asks. */
  readonly typist: Typist;
  readonly visits: string[] = [];
  visible = true;
  /** The browser's word on its network; tell it by {@link setOnline}. */
  online = true;
  readonly #client: Client;
  readonly #sockets = new Set<MqttClient>();
  #mqttCut: boolean;

  constructor(
    browser: Browser,
    api: CryptoApi,
    typist: Typist,
    addresses: RelayAddresses,
    options: BrowserOptions,
  ) {
    this.crypto = api;
    this.typist = typist;
    this.#mqttCut = options.withoutMqtt === true;
    const keep = (line: string): void => void browser.logLines.push(line);
    this.#client = createClient({
      addresses,
      crypto: api,
      store: this.store,
      storage: browser.storage,
      clock: options.clock ?? hastyClock,
      random: Math.random,
      locks: browser.locks,
      log: createLog({ warn: keep, error: keep }),
      newId: randomUUID,
      events: this.events,
      deviceName: 'A test',
      navigate: (path) => void this.visits.push(path),
      isOnline: () => this.online,
      isVisible: () => this.visible,
      showsReceipts: () => true,
      showsTyping: () => true,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
      indexedDB: browser.indexedDB,
      createSocket: (url) => {
        const socket = new WebSocket(url);
        // A browser's socket may fail unheard; this one would end the process.
        socket.on('error', () => undefined);
        return socket as unknown as globalThis.WebSocket;
      },
      connectMqtt: (url, options) => {
        const socket = mqtt.connect(this.#mqttCut ? nowhere : url, options);
        this.#sockets.add(socket);
        return socket;
      },
    });
  }

  get actions(): AppActions {
    return this.#client.actions;
  }

  get userId(): string {
    const user = this.store.get(currentUserAtom);
    if (user === null) throw new Error('nobody is signed in');
    return user.id;
  }

  get isConnected(): boolean {
    return this.store.get(realtimeStatusAtom) === 'connected';
  }

  get toastTexts(): string[] {
    return this.store.get(toastsAtom).map(({ text }) => text);
  }

  get conversationIds(): string[] {
    return Object.values(this.store.get(chatsAtom)).flatMap(({ state }) => state?.conversationId ?? []);
  }

  /** The real-time connection breaks and can't come back before {@link restoreMqtt}. */
  cutMqtt(): void {
    this.#mqttCut = true;
    for (const socket of this.#sockets) socket.stream.destroy();
    this.#sockets.clear();
  }

  restoreMqtt(): void {
    this.#mqttCut = false;
  }

  /** As a reload, or a start of the browser, does. */
  async resume(): Promise<void> {
    await this.#client.session.resume();
  }

  checkSession(): Promise<void> {
    return this.#client.session.check();
  }

  setOnline(online: boolean): void {
    this.online = online;
    this.#client.session.onNetworkChanged();
  }

  onVisible(): void {
    this.visible = true;
    this.#client.onVisible();
  }

  onTokenChanged() {
    return this.#client.session.onTokenChanged();
  }

  /** The tab is gone: no goodbye beyond what closing sockets says. */
  kill(): void {
    this.#client.session.dispose();
  }

  /** Sets up a recovery key. @returns the key, which the frame has shown */
  async setUpRecoveryKey(): Promise<string> {
    await this.actions.setUpRecoveryKey();
    return this.typist.asked.at(-1)?.recoveryKey ?? '';
  }

  /** Changes the password, and goes on by the new one. */
  async changePassword(password: string, newPassword: string): Promise<void> {
    this.typist.knows(password, newPassword);
    await this.actions.changePassword();
    this.typist.knows(newPassword);
  }

  async signUp(username: string, password = `${username}'s password`): Promise<this> {
    await this.actions.signUp({ username, email: `${username}@example.org`, password, privacyConsent: true });
    this.typist.knows(password);
    return this;
  }

  async logIn(username: string, password = `${username}'s password`): Promise<this> {
    await this.actions.logIn({ identifier: username, password });
    this.typist.knows(password);
    return this;
  }

  chat(userId: string): Chat {
    return this.store.get(chatsAtom)[userId] ?? emptyChat;
  }

  /** The messages of a chat as lines: status and text, or why there is none. */
  lines(userId: string): string[] {
    return this.chat(userId).messages.map(line);
  }
}

function line({ content, status }: MessageView): string {
  if (content.kind === 'text') return `${status}: ${content.text}`;
  return `${status}: <${content.kind === 'undecryptable' ? content.reason : content.kind}>`;
}
