import { createHash } from 'node:crypto';
import { worldNow } from '../seams/time.ts';

/** All that passed between clients and relay, as one hash: the same for the same seed. */
export class Trace {
  #hash = createHash('sha256');
  readonly lines: string[] = [];
  /** Ciphertexts that have left a browser. */
  readonly released: Buffer[] = [];
  /** Keeps the lines too, for whoever reads a run. */
  isKept = false;

  note(what: string, content = ''): void {
    this.#hash.update(`${worldNow()} ${what}\n${content}\n`);
    if (this.isKept) this.lines.push(`${new Date(worldNow()).toISOString().slice(11, 23)} ${what}`);
  }

  /**
   * Notes all that a request or a publication carries, since any of it may be a ciphertext: its bytes, and every text in it that
   * is the base64url of some, long enough for a tag of 16 bytes.
   * @param text the JSON of it, where it is some
   */
  release(text: string, bytes?: Uint8Array): void {
    if (bytes !== undefined && bytes.length > 0) this.released.push(Buffer.from(bytes));
    for (const [, content = ''] of text.matchAll(/"([\w-]{22,})"/g))
      this.released.push(Buffer.from(content, 'base64url'));
  }

  /** The hash so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
