/**
 * WebCrypto, Argon2id, the thread of SQLite and its waits for the disk run on threads of their own, and would answer in
 * an order that no seed decides. Each runs here at once, on this thread.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { ThreadAnswer, ThreadCall, ThreadCalls } from '#relay/src/db/sqlite/thread/protocol.ts';

const require = createRequire(import.meta.url);

/** A key of this WebCrypto: IndexedDB keeps it like any value. */
interface Key {
  readonly type: 'secret';
  readonly extractable: boolean;
  readonly algorithm: unknown;
  readonly usages: readonly string[];
  readonly bytes: Uint8Array;
}

const bytesOf = (data: BufferSource): Uint8Array =>
  ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
const tagLength = 16;

/** As much of SubtleCrypto as the worker and the relay's tokens use: AES-256-GCM and HMAC-SHA-256. */
const subtle = {
  async generateKey(algorithm: unknown, extractable: boolean, usages: readonly string[]): Promise<Key> {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return { type: 'secret', extractable, algorithm, usages, bytes };
  },
  async importKey(
    _format: 'raw',
    data: BufferSource,
    _algorithm: unknown,
    extractable: boolean,
    usages: readonly string[],
  ) {
    const bytes = bytesOf(data);
    const algorithm = { name: 'HMAC', hash: { name: 'SHA-256' }, length: 8 * bytes.length };
    return { type: 'secret', extractable, algorithm, usages, bytes };
  },
  async encrypt({ iv, additionalData }: AesGcmParams, { bytes }: Key, data: BufferSource) {
    const cipher = createCipheriv('aes-256-gcm', bytes, bytesOf(iv));
    if (additionalData !== undefined) cipher.setAAD(bytesOf(additionalData));
    return new Uint8Array(Buffer.concat([cipher.update(bytesOf(data)), cipher.final(), cipher.getAuthTag()]))
      .buffer;
  },
  async decrypt({ iv, additionalData }: AesGcmParams, { bytes }: Key, data: BufferSource) {
    const sealed = bytesOf(data);
    const cipher = createDecipheriv('aes-256-gcm', bytes, bytesOf(iv));
    if (additionalData !== undefined) cipher.setAAD(bytesOf(additionalData));
    cipher.setAuthTag(sealed.subarray(-tagLength));
    return new Uint8Array(Buffer.concat([cipher.update(sealed.subarray(0, -tagLength)), cipher.final()]))
      .buffer;
  },
  async sign(_algorithm: unknown, { bytes }: Key, data: BufferSource) {
    return new Uint8Array(createHmac('sha256', bytes).update(bytesOf(data)).digest()).buffer;
  },
  async verify(_algorithm: unknown, { bytes }: Key, signature: BufferSource, data: BufferSource) {
    return createHmac('sha256', bytes).update(bytesOf(data)).digest().equals(bytesOf(signature));
  },
};

/** A thread of SQLite that is none. */
class SqliteInPlace extends EventEmitter {
  #calls: Promise<ThreadCalls>;

  constructor(_entry: URL, { workerData }: { workerData: { file: string } }) {
    super();
    this.#calls = serveInPlace(workerData.file);
    void this.#calls.then(() => setImmediate(() => this.emit('message', { opened: true })));
  }

  postMessage(together: readonly ThreadCall[]): void {
    const calls = structuredClone(together);
    setImmediate(() => {
      for (const call of calls) void this.#answer(call).then((answer) => this.emit('message', [answer]));
    });
  }

  async terminate(): Promise<void> {
    this.emit('exit');
  }

  async #answer({ id, name, parameters }: ThreadCall): Promise<ThreadAnswer> {
    const perform = (await this.#calls)[name] as (...given: readonly unknown[]) => Promise<unknown>;
    try {
      return { id, value: await perform(...parameters) };
    } catch (error) {
      const { message, stack } = error as Error;
      const code: unknown = Reflect.get(error as Error, 'code');
      return { id, error: { message, stack, code: typeof code === 'string' ? code : null } };
    }
  }
}

async function serveInPlace(file: string): Promise<ThreadCalls> {
  const [{ serveSqlite }, { appendAll }, { packOutcomes, unpackEntries }] = await Promise.all([
    import('#relay/src/db/sqlite/thread/serve.ts'),
    import('#relay/src/messaging/append/append.ts'),
    import('#relay/src/messaging/append/packing.ts'),
  ]);
  const append = async (queries: never, batch: never, now: never) =>
    packOutcomes(await appendAll(queries, unpackEntries(batch), now));
  return serveSqlite(file, append);
}

/** A hash in place of the relay's Argon2id, which takes a thread and some twenty milliseconds. */
const cheapArgon2 = {
  hash: async (password: string) => `$cheap$${createHash('sha256').update(password).digest('base64')}`,
  verify: async (stored: string, password: string) =>
    stored === `$cheap$${createHash('sha256').update(password).digest('base64')}`,
};

/**
 * Argon2id is replaced for as long as this process lives: its users take its functions over when they are loaded, which
 * has to be after this.
 */
export function installThreads(): () => void {
  Object.assign(require('@node-rs/argon2') as object, cheapArgon2);
  const threads = require('node:worker_threads') as { Worker: unknown };
  const files = require('node:fs') as { fdatasync: unknown };
  const kept = { Worker: threads.Worker, fdatasync: files.fdatasync };
  threads.Worker = SqliteInPlace;
  files.fdatasync = (_descriptor: number, done: (error: null) => void) => setImmediate(done, null);
  syncBuiltinESMExports();
  const web = globalThis.crypto;
  Object.defineProperty(web, 'subtle', { configurable: true, value: subtle });
  return () => {
    threads.Worker = kept.Worker;
    files.fdatasync = kept.fdatasync;
    syncBuiltinESMExports();
    Reflect.deleteProperty(web, 'subtle');
  };
}
