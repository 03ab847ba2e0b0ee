import { IDBFactory } from 'fake-indexeddb';
import { createStore } from 'jotai';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { WebSocket } from 'ws';
import type { CryptoApi } from '#src/crypto/client.ts';
import type { Clock } from '#src/lib/clock.ts';
import { createLog } from '#src/lib/log.ts';
import { type Client, createClient } from '#src/services/client/client.ts';
import { deviceStorageKey, tokenStorageKey } from '#src/services/session/token.ts';
import { chatsAtom } from '#src/store/chats.ts';
import { realtimeStatusAtom } from '#src/store/connection.ts';
import { authErrorAtom, connectionBannerAtom, currentUserAtom } from '#src/store/session.ts';
import { toastsAtom } from '#src/store/toasts.ts';
import { cheapPasswordKeys, MemoryStorage } from '#tests/support/headlessBrowser.ts';
import { Typist } from '#tests/support/typist.ts';
import { fromWire } from '#workers/api/errors.ts';
import { browserEnv } from '#workers/entry/browserEnv.ts';
import { createCryptoApi } from '#workers/entry/createCryptoApi.ts';
import { createDispatch } from '#workers/entry/dispatch.ts';
import { after, worldNow } from '../seams/time.ts';
import { ProfileLocks, TabDisk } from './disk.ts';
import { lyingClient } from './lies/lyingClient.ts';
import type { Line } from './network.ts';
import { Points } from './points.ts';

const host = 'http://relay';
const socketHost = 'ws://relay';

/** A browser profile: what outlives its tabs. */
export class Profile {
  readonly name: string;
  indexedDB = new IDBFactory();
  /** The app's own, with pieces of files that are sealed. */
  pieces = new IDBFactory();
  storage = new MemoryStorage();
  readonly locks = new ProfileLocks();
  /** How far its clock is off, in milliseconds. */
  clockSkew = 0;
  /** Somebody has set it: what is over here is over at another time than elsewhere. */
  isClockTurned = false;
  readonly logLines: string[] = [];
  /** Failures without a code that the workers of its tabs threw. */
  readonly raw: string[] = [];
  readonly tabs: Tab[] = [];
  readonly points = new Points(() => this.killTabs());
  readonly #newLine: (name: string) => Line;
  #opened = 0;

  constructor(name: string, newLine: (name: string) => Line) {
    this.name = name;
    this.#newLine = newLine;
  }

  openTab(): Tab {
    this.#opened += 1;
    const tab = new Tab(this, this.#newLine(`${this.name}#${this.#opened}`));
    this.tabs.push(tab);
    return tab;
  }

  /** As one tab sees what all share: the others are told of what it changes. */
  storageOf(tab: Tab): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
    const tell = (key: string, value: string | null) =>
      after(1, () => {
        for (const other of this.tabs.filter((one) => one !== tab)) other.storageChanged(key, value);
      });
    return {
      getItem: (key) => this.storage.getItem(key),
      setItem: (key, value) => {
        if (tab.isDead || this.storage.getItem(key) === value) return;
        this.storage.setItem(key, value);
        tell(key, value);
      },
      removeItem: (key) => {
        if (tab.isDead || this.storage.getItem(key) === null) return;
        this.storage.removeItem(key);
        tell(key, null);
      },
    };
  }

  killTabs(): void {
    for (const tab of this.tabs.slice()) tab.kill();
  }
}

/** An open tab: the whole client but for its screen. */
export class Tab {
  readonly profile: Profile;
  readonly line: Line;
  readonly disk: TabDisk;
  readonly store = createStore();
  readonly typist = new Typist();
  readonly crypto: CryptoApi;
  isVisible = true;
  isDead = false;
  readonly #id = Symbol('tab');
  #died: () => void = () => undefined;
  /** Resolves once it is gone: what it was asked for is never answered then. */
  readonly death = new Promise<void>((resolve) => {
    this.#died = resolve;
  });
  readonly #client: Client;
  readonly #pieces: TabDisk;

  constructor(profile: Profile, line: Line) {
    this.profile = profile;
    this.line = line;
    this.disk = new TabDisk(() => profile.indexedDB, profile.points.atPoint);
    this.#pieces = new TabDisk(() => profile.pieces, profile.points.atPoint);
    line.atPoint = profile.points.atPoint;
    const env = { ...browserEnv, now: () => this.clock.now() };
    this.crypto = this.#worker(
      createCryptoApi({
        env,
        indexedDB: this.disk.indexedDB,
        locks: profile.locks.of(this.#id),
        subtle: crypto.subtle,
        // Nobody sets this one.
        monotonic: worldNow,
        storage: { persisted: async () => false },
        prompt: this.typist.newPrompt(),
        DANGEROUS_passwordKeysForTesting: cheapPasswordKeys,
      }),
    );
    const keep = (text: string): void => {
      profile.logLines.push(text);
      line.note(text);
    };
    this.#client = createClient({
      indexedDB: this.#pieces.indexedDB,
      addresses: { apiHost: host, mqttUrl: `${socketHost}/mqtt`, presenceUrl: `${socketHost}/ws/presence/` },
      crypto: this.crypto,
      store: this.store,
      storage: profile.storageOf(this),
      clock: this.clock,
      random: Math.random,
      locks: profile.locks.of(this.#id),
      log: createLog({ warn: keep, error: keep }),
      newId: () => crypto.randomUUID(),
      events: new EventTarget(),
      deviceName: profile.name,
      navigate: () => undefined,
      isOnline: () => !line.isCut,
      isVisible: () => this.isVisible,
      showsReceipts: () => true,
      showsTyping: () => true,
      fetch: line.fetch,
      createSocket: (url) => {
        const socket = new WebSocket(url, { createConnection: line.connect });
        socket.on('error', () => undefined);
        return socket as unknown as globalThis.WebSocket;
      },
      connectMqtt: (url, options) => this.#connectMqtt(url, options),
    });
  }

  readonly clock: Clock = {
    now: () => worldNow() + this.profile.clockSkew,
    monotonicNow: worldNow,
    after: (ms, task) => after(ms, () => this.#whileAlive(task)),
    every: (ms, task) => {
      let timer = after(ms, again);
      const { isDead } = { isDead: () => this.isDead };
      function again(): void {
        if (isDead()) return;
        timer = after(ms, again);
        task();
      }
      return { cancel: () => timer.cancel() };
    },
  };

  get actions() {
    return this.#client.actions;
  }

  get session() {
    return this.#client.session;
  }

  get userId(): string | null {
    return this.store.get(currentUserAtom)?.id ?? null;
  }

  get isConnected(): boolean {
    return this.store.get(realtimeStatusAtom) === 'connected';
  }

  get toasts(): string[] {
    return this.store.get(toastsAtom).map(({ text }) => text);
  }

  get conversationIds(): string[] {
    return Object.values(this.store.get(chatsAtom)).flatMap(({ state }) => state?.conversationId ?? []);
  }

  /** Why the page asks for the password; null where it says nothing. */
  get askedWhy(): string | null {
    return this.store.get(authErrorAtom);
  }

  /** The page says in its banner that the session is over. */
  get hasLostSession(): boolean {
    return this.store.get(connectionBannerAtom) && this.profile.storage.getItem(tokenStorageKey) === null;
  }

  /** Another tab has changed what the profile's tabs share. One that has to load again is closed instead. */
  storageChanged(key: string, value: string | null): void {
    this.#client.onStorageChanged(key);
    const isOtherDevice = key === deviceStorageKey && value !== null;
    const isOther = key === tokenStorageKey && this.#client.session.onTokenChanged() === 'reload';
    if (isOtherDevice || isOther) this.kill();
  }

  /** The answer to a question; the other value where it fails, or is gone before it answers. */
  answer<Answer>(asked: Promise<Answer>, otherwise: Answer): Promise<Answer> {
    return Promise.race([asked.catch(() => otherwise), this.death.then(() => otherwise)]);
  }

  networkChanged(): void {
    this.#client.session.onNetworkChanged();
  }

  /** The tab is gone at once, with its worker, in the middle of whatever they were doing. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#died();
    this.disk.kill();
    this.#pieces.kill();
    this.line.kill();
    this.profile.locks.release(this.#id);
    this.#client.session.dispose();
    this.profile.tabs.splice(this.profile.tabs.indexOf(this), 1);
  }

  #whileAlive(task: () => void): void {
    if (!this.isDead) task();
  }

  #connectMqtt(url: string, options: IClientOptions): MqttClient {
    const wsOptions = { createConnection: this.line.connect };
    const client = mqtt.connect(url, { ...options, wsOptions });
    return lyingClient(client, this.line);
  }

  /** Copies everything that crosses between page and worker; failures cross as codes, and a tab that is gone gets nothing. */
  #worker(api: CryptoApi): CryptoApi {
    const worker = createDispatch(api);
    return new Proxy({} as CryptoApi, {
      get: (_target, method) => {
        if (typeof method !== 'string' || method === 'then') return undefined;
        return async (...args: unknown[]) => {
          this.profile.points.atPoint('worker');
          if (this.isDead) return new Promise(() => undefined);
          const result = await worker
            .call(method as keyof CryptoApi, structuredClone(args))
            .catch((error: unknown) => {
              this.profile.raw.push(`${method}: ${String(error)}`);
              throw error;
            });
          this.profile.points.atPoint('worker');
          if (this.isDead) return new Promise(() => undefined);
          if (!result.ok) {
            if (result.code === 'internal') this.profile.raw.push(`${method}: ${result.detail}`);
            throw fromWire(result.code, result.detail);
          }
          return structuredClone(result.value);
        };
      },
    });
  }
}
