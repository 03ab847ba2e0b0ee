import 'fake-indexeddb/auto';
import { createHash } from 'node:crypto';
import { IDBFactory } from 'fake-indexeddb';
import { Typist } from '#tests/support/typist.ts';
import type { CryptoApi } from '#workers/api/cryptoApi.ts';
import { createCryptoApi } from '#workers/entry/createCryptoApi.ts';
import type { Locks } from '#workers/session/locks.ts';

/** The one clock of a test. */
export class Clock {
  #now = Date.UTC(2026, 2, 1);
  #elapsed = 0;

  now(): number {
    return this.#now;
  }

  /** Milliseconds that have passed, whatever the clock was set to. */
  elapsed(): number {
    return this.#elapsed;
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    this.#elapsed += milliseconds;
  }

  /** Sets the clock of the machine, which takes no time. */
  set(now: number): void {
    this.#now = now;
  }
}

/** Web Locks of one browser: exclusive, first come first served, shared by its tabs. */
export class MemoryLocks implements Locks {
  readonly #tails = new Map<string, Promise<void>>();

  async request<T>(name: string, callback: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(name);
    let release = (): void => {};
    this.#tails.set(name, new Promise<void>((resolve) => (release = resolve)));
    await before;
    try {
      return await callback();
    } finally {
      release();
    }
  }
}

/** Draws bytes from SHA-256 in counter mode. */
export function seededRandom(seed: string): (length: number) => Uint8Array {
  let counter = 0;
  return (length) => {
    const out = new Uint8Array(length);
    for (let offset = 0; offset < length; offset += 32) {
      const block = createHash('sha256').update(`${seed}/${counter++}`).digest();
      out.set(block.subarray(0, Math.min(32, length - offset)), offset);
    }
    return out;
  };
}

/** Hashes in place of Argon2id, since these tests open many vaults and guess no passwords. */
export function cheapPasswordKeys(password: string, { salt }: { readonly salt: Uint8Array }) {
  const key = (label: string) =>
    new Uint8Array(createHash('sha256').update(label).update(salt).update(password).digest());
  return { authKey: key('auth'), wrapKey: key('wrap'), proofSeed: key('proof') };
}

/** One browser profile: its storage and locks outlive the tabs. */
export class Browser {
  readonly indexedDB = new IDBFactory();
  readonly locks = new MemoryLocks();
  readonly typist = new Typist();
  /** Its answer to whoever asks whether it keeps what is stored. */
  isStorageKept = false;
  /** Every random value that the tabs ever drew: seeds, keys and nonces. */
  readonly drawn: Uint8Array[] = [];
  readonly #random: (length: number) => Uint8Array;
  readonly #clock: Clock;

  constructor(seed: string, clock: Clock) {
    const random = seededRandom(seed);
    this.#random = (length) => {
      const bytes = random(length);
      this.drawn.push(bytes.slice());
      return bytes;
    };
    this.#clock = clock;
  }

  /** Opens a new tab, whose worker knows nothing but the stored records. */
  tab(options: { realPasswordKeys?: boolean } = {}): CryptoApi {
    return createCryptoApi({
      env: { random: this.#random, now: () => this.#clock.now() },
      indexedDB: this.indexedDB,
      locks: this.locks,
      subtle: crypto.subtle,
      monotonic: () => this.#clock.elapsed(),
      storage: { persisted: async () => this.isStorageKept },
      prompt: this.typist.newPrompt(),
      ...(options.realPasswordKeys === true ? {} : { DANGEROUS_passwordKeysForTesting: cheapPasswordKeys }),
    });
  }
}
