import { createHash } from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const hash = createHash;

/** Draws from SHA-256 in counter mode. */
export class Random {
  readonly #seed: string;
  #counter = 0;
  #left = Buffer.alloc(0);

  constructor(seed: string) {
    this.#seed = seed;
  }

  bytes(length: number): Buffer {
    const parts = [this.#left];
    for (let have = this.#left.length; have < length; have += 32) {
      parts.push(hash('sha256').update(`${this.#seed}/${this.#counter}`).digest());
      this.#counter += 1;
    }
    const all = Buffer.concat(parts);
    this.#left = all.subarray(length);
    return Buffer.from(all.subarray(0, length));
  }

  /** In [0, 1). */
  fraction(): number {
    return this.bytes(4).readUInt32BE() / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const bytes = this.bytes(16);
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}

/**
 * Lets every random value of this process come from a seed: keys, nonces, ids, jitter, salts.
 * @returns what undoes it
 */
export function installRandom(seed: string): () => void {
  const random = new Random(seed);
  const builtin = createRequire(import.meta.url)('node:crypto') as Record<string, unknown>;
  const kept = { randomBytes: builtin['randomBytes'], randomUUID: builtin['randomUUID'] };
  const { random: fraction } = Math;
  const web = globalThis.crypto;
  Object.assign(builtin, {
    randomBytes: (length: number) => random.bytes(length),
    randomUUID: () => random.uuid(),
  });
  syncBuiltinESMExports();
  Math.random = () => random.fraction();
  Object.defineProperty(web, 'randomUUID', { configurable: true, value: () => random.uuid() });
  Object.defineProperty(web, 'getRandomValues', {
    configurable: true,
    value: (into: Uint8Array) => {
      into.set(random.bytes(into.length));
      return into;
    },
  });
  return () => {
    Object.assign(builtin, kept);
    syncBuiltinESMExports();
    Math.random = fraction;
    Reflect.deleteProperty(web, 'randomUUID');
    Reflect.deleteProperty(web, 'getRandomValues');
  };
}
