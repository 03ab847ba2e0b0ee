// The named exports that the type declarations promise don't all exist at run time; the default export is complete.
import sodium from 'libsodium-wrappers';

type Encrypt = (
  plaintext: Uint8Array,
  aad: Uint8Array | null,
  secretNonce: null,
  nonce: Uint8Array,
  key: Uint8Array,
) => Uint8Array;

/**
 * The ciphers, with the first bytes of a nonce that don't count: four of MLS's are drawn for each message (RFC 9420 section
 * 6.3.1), so that a key which is used twice doesn't show in whole nonces.
 */
const ciphers = [
  ['crypto_aead_chacha20poly1305_ietf_encrypt', 4],
  ['crypto_aead_xchacha20poly1305_ietf_encrypt', 0],
] as const;

/**
 * Sees every encryption of every client, and finds a key that was used twice with one nonce. What a torn transaction has
 * taken back was let out to nobody, so only what has left a browser counts.
 */
export class Nonces {
  readonly #seen = new Map<string, Uint8Array>();
  readonly #originals = new Map<string, Encrypt>();
  readonly #repeated: (readonly [Uint8Array, Uint8Array])[] = [];
  count = 0;

  async watch(): Promise<void> {
    // oxlint-disable-next-line import/no-named-as-default-member -- see the import
    await sodium.ready;
    for (const [name, drawn] of ciphers) {
      const original = Reflect.get(sodium, name) as Encrypt;
      this.#originals.set(name, original);
      const watched: Encrypt = (plaintext, aad, secretNonce, nonce, key) => {
        this.count += 1;
        const pair = `${Buffer.from(key).toString('latin1')}${Buffer.from(nonce.subarray(drawn)).toString('latin1')}`;
        const sealed = original(plaintext, aad, secretNonce, nonce, key);
        const before = this.#seen.get(pair);
        if (before !== undefined && Buffer.compare(before, sealed) !== 0)
          this.#repeated.push([before, sealed]);
        this.#seen.set(pair, sealed);
        return sealed;
      };
      Reflect.set(sodium, name, watched);
    }
  }

  /** @param released what has left a browser. @returns how often a key was used twice for it */
  repeatedIn(released: readonly Buffer[]): number {
    const isOut = (sealed: Uint8Array) => released.some((content) => content.includes(Buffer.from(sealed)));
    return this.#repeated.filter((pair) => pair.every(isOut)).length;
  }

  end(): void {
    for (const [name, original] of this.#originals) Reflect.set(sodium, name, original);
  }
}
