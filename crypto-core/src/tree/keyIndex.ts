/** Counts of the keys in a tree, and of the credential types of its leaves, so that a commit is compared with all nodes at the cost of what it changes. */
import { CredentialTypeValue } from '../structs/credential.ts';
import type { Node } from '../structs/node.ts';

/** Bytes of a key by which it is counted, from its end: all of an X25519 key, and those of X-Wing that differ by chance. */
const SAMPLE_LENGTH = 32;

const CREDENTIAL_TYPES: readonly number[] = Object.values(CredentialTypeValue);

/**
 * Names a key. Not every engine hashes strings with a seed: whoever chooses keys that fill one bucket has each of them compared with
 * the others, of which a tree has some thousands at most.
 */
function nameOf(prefix: 'e' | 's', key: Uint8Array): string {
  // Spreading goes through an iterator, which takes three times as long.
  return prefix + Reflect.apply(String.fromCharCode, null, key.subarray(-SAMPLE_LENGTH));
}

function namesIn(node: Node): string[] {
  if (node.type === 'parent') return [nameOf('e', node.parent.encryptionKey)];
  const { encryptionKey, signatureKey, credential, capabilities } = node.leaf;
  const supported = CREDENTIAL_TYPES.filter((type) => capabilities.credentials.includes(type));
  return [
    nameOf('e', encryptionKey),
    nameOf('s', signatureKey),
    `uses ${CredentialTypeValue[credential.type]}`,
    ...supported.map((type) => `supports ${type}`),
    'leaf',
  ];
}

/**
 * The index of one tree. A clone shares the counts that both began with, and has its own for what changed since. Two keys
 * may be counted as one where their last bytes are the same: who gets more than one compares the keys themselves.
 */
export class KeyIndex {
  readonly #base: ReadonlyMap<string, number>;
  readonly #changed: Map<string, number>;

  private constructor(base: ReadonlyMap<string, number>, changed: Map<string, number>) {
    this.#base = base;
    this.#changed = changed;
  }

  static of(nodes: Iterable<Node | null>): KeyIndex {
    const index = new KeyIndex(new Map(), new Map());
    for (const node of nodes) index.replace(null, node);
    return new KeyIndex(index.#changed, new Map());
  }

  clone(): KeyIndex {
    const most = 256 + this.#base.size / 16;
    if (this.#changed.size <= most) return new KeyIndex(this.#base, new Map(this.#changed));
    return new KeyIndex(new Map([...this.#base, ...this.#changed]), new Map());
  }

  /** Counts a node in the place of another. */
  replace(before: Node | null, after: Node | null): void {
    if (before !== null) for (const name of namesIn(before)) this.#add(name, -1);
    if (after !== null) for (const name of namesIn(after)) this.#add(name, 1);
  }

  /** Returns how many nodes have an encryption key like this one. */
  encryptionKeys(key: Uint8Array): number {
    return this.#count(nameOf('e', key));
  }

  /** Returns how many leaves have a signature key like this one. */
  signatureKeys(key: Uint8Array): number {
    return this.#count(nameOf('s', key));
  }

  /** Returns whether every leaf supports every type of credential that some leaf has. */
  get supportsCredentials(): boolean {
    return CREDENTIAL_TYPES.every(
      (type) => this.#count(`uses ${type}`) === 0 || this.#count(`supports ${type}`) === this.#count('leaf'),
    );
  }

  #count(name: string): number {
    return this.#changed.get(name) ?? this.#base.get(name) ?? 0;
  }

  #add(name: string, by: 1 | -1): void {
    this.#changed.set(name, this.#count(name) + by);
  }
}
