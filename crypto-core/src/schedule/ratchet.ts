/** A sender ratchet (RFC 9420 section 9.1): a value; stepping it gives a new one and leaves the old as it was. */
import { wipe } from '../bytes.ts';
import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { deriveTreeSecret } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';

/**
 * The most generations that a message may be ahead of the ratchet. Each is an HMAC, so this bounds the work that a
 * hostile generation number can cause.
 */
const MAX_FORWARD_DISTANCE = 1000;

/**
 * The most keys of skipped generations that a ratchet keeps; it drops the oldest. The log of a conversation is ordered,
 * so a gap is a message that was refused. The bound keeps the record of a ratchet within 3 KB.
 */
const MAX_SKIPPED_KEYS = 64;

/** How far the messages of one sender may come out of order, in generations. */
export interface RatchetWindow {
  /** The most that a message may be ahead of the ratchet; each costs an HMAC. */
  readonly ahead: number;
  /** The most keys of skipped generations that are kept, 52 bytes each; the oldest go first. */
  readonly skipped: number;
}

const DEFAULT_WINDOW: RatchetWindow = { ahead: MAX_FORWARD_DISTANCE, skipped: MAX_SKIPPED_KEYS };

const MAX_GENERATION = 0xffffffff;

/** A single-use AEAD key. */
export interface MessageKey {
  readonly generation: number;
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

interface RatchetPosition {
  readonly generation: number;
  /** ratchet_secret_[N]_[generation] */
  readonly secret: Uint8Array;
}

export interface Ratchet {
  /** Null once the last generation was used. */
  readonly next: RatchetPosition | null;
  /** Keys of generations before `next` that were passed over, in ascending order. */
  readonly skipped: readonly MessageKey[];
}

export function startRatchet(secret: Uint8Array): Ratchet {
  return { next: { generation: 0, secret }, skipped: [] };
}

/** Takes the next key for sending. @throws CryptoError 'key-exhausted' */
export function stepRatchet(
  suite: CipherSuite,
  ratchet: Ratchet,
): { readonly messageKey: MessageKey; readonly ratchet: Ratchet } {
  if (ratchet.next === null) throw new CryptoError('key-exhausted', 'ratchet generation');
  const { generation, secret } = ratchet.next;
  return {
    messageKey: deriveMessageKey(suite, secret, generation),
    ratchet: {
      next: generation === MAX_GENERATION ? null : successor(suite, secret, generation),
      skipped: ratchet.skipped,
    },
  };
}

/**
 * Takes the key of a received generation; returns it with the ratchet that no longer has it.
 * FRAME-08 (section 9.2): a key opens one message.
 * @throws CryptoError 'replayed' when the key was used or dropped, 'generation-too-far' beyond the window, 'usage' for a
 * window of no size
 */
export function seekRatchet(
  suite: CipherSuite,
  ratchet: Ratchet,
  generation: number,
  { ahead, skipped: kept }: RatchetWindow = DEFAULT_WINDOW,
): { readonly messageKey: MessageKey; readonly ratchet: Ratchet } {
  for (const size of [ahead, kept]) {
    if (!Number.isSafeInteger(size) || size < 0) throw new CryptoError('usage', `a window of ${size}`);
  }
  if (ratchet.next === null || generation < ratchet.next.generation) {
    const messageKey = ratchet.skipped.find((key) => key.generation === generation);
    if (messageKey === undefined) throw new CryptoError('replayed', `FRAME-08: generation ${generation}`);
    return {
      messageKey,
      ratchet: { next: ratchet.next, skipped: ratchet.skipped.filter((key) => key !== messageKey) },
    };
  }
  if (generation - ratchet.next.generation > ahead) {
    throw new CryptoError('generation-too-far', `generation ${generation} after ${ratchet.next.generation}`);
  }
  if (generation === ratchet.next.generation) return stepRatchet(suite, ratchet);

  let next = ratchet.next;
  const passedOver: MessageKey[] = [];
  while (next.generation < generation) {
    // Keys that the bound would drop at once are not derived.
    if (generation - next.generation <= kept) {
      passedOver.push(deriveMessageKey(suite, next.secret, next.generation));
    }
    const stale = next;
    next = successor(suite, stale.secret, stale.generation);
    if (stale !== ratchet.next) wipe(stale.secret);
  }
  const all = [...ratchet.skipped, ...passedOver];
  const skipped = all.slice(Math.max(0, all.length - kept));
  const step = stepRatchet(suite, { next, skipped });
  wipe(next.secret);
  return step;
}

export function wipeRatchet({ next, skipped }: Ratchet): void {
  if (next !== null) wipe(next.secret);
  for (const { key, nonce } of skipped) wipe(key, nonce);
}

function deriveMessageKey(suite: CipherSuite, secret: Uint8Array, generation: number): MessageKey {
  return {
    generation,
    key: deriveTreeSecret(suite, secret, 'key', generation, suite.aead.Nk),
    nonce: deriveTreeSecret(suite, secret, 'nonce', generation, suite.aead.Nn),
  };
}

function successor(suite: CipherSuite, secret: Uint8Array, generation: number): RatchetPosition {
  return {
    generation: generation + 1,
    secret: deriveTreeSecret(suite, secret, 'secret', generation, suite.kdf.Nh),
  };
}

export function writeRatchet(writer: Writer, ratchet: Ratchet): void {
  writer.optional(ratchet.next, (w, next) => {
    w.u32(next.generation);
    w.opaque(next.secret);
  });
  writer.vector(ratchet.skipped, (w, { generation, key, nonce }) => {
    w.u32(generation);
    w.opaque(key);
    w.opaque(nonce);
  });
}

/** Copies the byte strings, because a ratchet outlives the record it came from. */
export function readRatchet(reader: Reader): Ratchet {
  return {
    next: reader.optional((r) => ({ generation: r.u32(), secret: r.opaque().slice() })),
    skipped: reader.unlimitedVector((r) => ({
      generation: r.u32(),
      key: r.opaque().slice(),
      nonce: r.opaque().slice(),
    })),
  };
}
