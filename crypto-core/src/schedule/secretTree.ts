/** The secret tree of RFC 9420 section 9, as a sparse map of small records that change one or two at a time. */
import { utf8, wipe } from '../bytes.ts';
import { decode } from '../codec/reader.ts';
import { encode } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';
import { type LeafIndex, type NodeIndex, toNodeIndex } from '../structs/indices.ts';
import { deriveSecret, expandWithLabel } from '../suite/labels.ts';
import type { CipherSuite } from '../suite/suites.ts';
import { fullLeafCount, leftOf, nodeOfLeaf, parentOf, rightOf, rootOf } from '../tree/math.ts';
import {
  type MessageKey,
  type Ratchet,
  type RatchetWindow,
  readRatchet,
  seekRatchet,
  startRatchet,
  stepRatchet,
  wipeRatchet,
  writeRatchet,
} from './ratchet.ts';

export type RatchetType = 'handshake' | 'application';

/** `n<node index>` holds an unexpanded tree secret; `l<leaf index>` the two ratchets of a leaf. */
export type SecretTreeRecord = readonly [key: string, bytes: Uint8Array];

export interface SecretTreeChanges {
  readonly puts: SecretTreeRecord[];
  readonly deletes: string[];
}

interface LeafRatchets {
  readonly handshake: Ratchet;
  readonly application: Ratchet;
}

/** A key looked up for a received message. Until `accept` is called the tree is as it was. */
export interface TentativeKey extends MessageKey {
  /**
   * Uses the key up. It is called once, and only when the message proved authentic.
   * @throws CryptoError 'usage' when the tree has moved since
   */
  accept(): void;
}

interface Expansion {
  readonly ratchets: LeafRatchets;
  /** The ancestor that was expanded and so consumed. */
  readonly consumed: readonly [NodeIndex, Uint8Array] | null;
  /** The copath below it, which other leaves still need. */
  readonly siblings: readonly (readonly [NodeIndex, Uint8Array])[];
}

const LEFT = utf8('left');
const RIGHT = utf8('right');
const RECORD_VERSION = 1;

/**
 * A mutable tree that changes little per message. On the first use of a leaf, the secrets of the copath replace those
 * of its ancestors, so that no secret is left that could derive a used key (section 9.2). Records are read on demand,
 * so that loading a group costs nothing per member.
 */
export class SecretTree {
  readonly #suite: CipherSuite;
  readonly #leafCount: number;
  readonly #lookup: (key: string) => Uint8Array | undefined;
  /** Nodes read or changed since loading; null for a node that is known to be gone. */
  readonly #nodes = new Map<NodeIndex, Uint8Array | null>();
  readonly #leaves = new Map<LeafIndex, LeafRatchets>();
  #changedNodes = new Set<NodeIndex>();
  #changedLeaves = new Set<LeafIndex>();
  #steps = 0;
  #isEnded = false;

  private constructor(
    suite: CipherSuite,
    leafCount: number,
    lookup: (key: string) => Uint8Array | undefined,
  ) {
    this.#suite = suite;
    this.#leafCount = fullLeafCount(leafCount);
    this.#lookup = lookup;
  }

  /** Creates the tree of a new epoch. The first `takeChanges` lists all of it. */
  static create(suite: CipherSuite, leafCount: number, encryptionSecret: Uint8Array): SecretTree {
    const tree = new SecretTree(suite, leafCount, () => undefined);
    const root = rootOf(tree.#leafCount);
    tree.#nodes.set(root, encryptionSecret.slice());
    tree.#changedNodes.add(root);
    return tree;
  }

  /** Loads a tree. @param lookup gives the bytes last put under a key, or undefined */
  static fromRecords(
    suite: CipherSuite,
    leafCount: number,
    lookup: (key: string) => Uint8Array | undefined,
  ): SecretTree {
    return new SecretTree(suite, leafCount, lookup);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Wipes all secrets in memory. Records that were stored are the caller's to destroy. */
  end(): void {
    for (const secret of this.#nodes.values()) if (secret !== null) wipe(secret);
    for (const { handshake, application } of this.#leaves.values()) {
      wipeRatchet(handshake);
      wipeRatchet(application);
    }
    this.#isEnded = true;
  }

  /**
   * Takes the next key of a leaf's own ratchet. The call uses it up.
   * @throws CryptoError 'key-exhausted', 'missing-key'
   */
  nextKey(leaf: LeafIndex, type: RatchetType): MessageKey {
    const expansion = this.#expand(leaf);
    const { messageKey, ratchet } = stepRatchet(this.#suite, expansion.ratchets[type]);
    this.#apply(leaf, expansion, type, ratchet);
    return messageKey;
  }

  /**
   * Looks up the key of a received message.
   * @throws CryptoError 'replayed', 'generation-too-far', 'missing-key', 'usage' for a window of no size
   */
  openKey(leaf: LeafIndex, type: RatchetType, generation: number, window?: RatchetWindow): TentativeKey {
    const expansion = this.#expand(leaf);
    const { messageKey, ratchet } = seekRatchet(this.#suite, expansion.ratchets[type], generation, window);
    const step = this.#steps;
    return {
      ...messageKey,
      accept: () => {
        if (this.#steps !== step || this.#isEnded)
          throw new CryptoError('usage', 'the secret tree has moved');
        this.#apply(leaf, expansion, type, ratchet);
      },
    };
  }

  /**
   * Lists the records to store and to destroy since the last call. A caller that fails to store them must forget this
   * tree and load it again.
   */
  takeChanges(): SecretTreeChanges {
    this.#assertNotEnded();
    const puts: SecretTreeRecord[] = [];
    const deletes: string[] = [];
    for (const node of this.#changedNodes) {
      const secret = this.#nodes.get(node);
      if (secret) puts.push([nodeKey(node), secret.slice()]);
      else deletes.push(nodeKey(node));
    }
    for (const leaf of this.#changedLeaves) {
      const ratchets = this.#leaves.get(leaf);
      if (ratchets !== undefined) puts.push([leafKey(leaf), encodeLeaf(ratchets)]);
    }
    this.#changedNodes = new Set();
    this.#changedLeaves = new Set();
    return { puts, deletes };
  }

  #apply(leaf: LeafIndex, expansion: Expansion, type: RatchetType, ratchet: Ratchet): void {
    this.#steps++;
    if (expansion.consumed !== null) {
      const [node, secret] = expansion.consumed;
      wipe(secret);
      this.#nodes.set(node, null);
      this.#changedNodes.add(node);
    }
    for (const [node, secret] of expansion.siblings) {
      this.#nodes.set(node, secret);
      this.#changedNodes.add(node);
    }
    const before = expansion.ratchets[type].next;
    if (before !== null && before.secret !== ratchet.next?.secret) wipe(before.secret);
    this.#leaves.set(leaf, { ...expansion.ratchets, [type]: ratchet });
    this.#changedLeaves.add(leaf);
  }

  /** Finds the ratchets of a leaf, and the secrets that opening them consumes. Changes nothing. */
  #expand(leaf: LeafIndex): Expansion {
    this.#assertNotEnded();
    const known = this.#leaves.get(leaf) ?? this.#readLeaf(leaf);
    if (known !== undefined) return { ratchets: known, consumed: null, siblings: [] };
    if (leaf >= this.#leafCount)
      throw new CryptoError('missing-key', `leaf ${leaf} is outside the secret tree`);

    const descent: NodeIndex[] = [];
    let node = nodeOfLeaf(leaf);
    let secret = this.#nodeSecret(node);
    const root = rootOf(this.#leafCount);
    while (secret === undefined) {
      if (node === root) throw new CryptoError('missing-key', `no secret above leaf ${leaf}`);
      descent.push(node);
      node = parentOf(node);
      secret = this.#nodeSecret(node);
    }
    const consumed = [node, secret] as const;
    const siblings: [NodeIndex, Uint8Array][] = [];
    for (const child of descent.reverse()) {
      const isLeft = child < node;
      const sibling = isLeft ? rightOf(node) : leftOf(node);
      siblings.push([sibling, this.#childSecret(secret, isLeft ? RIGHT : LEFT)]);
      const below = this.#childSecret(secret, isLeft ? LEFT : RIGHT);
      if (secret !== consumed[1]) wipe(secret);
      secret = below;
      node = child;
    }
    const ratchets: LeafRatchets = {
      handshake: startRatchet(deriveSecret(this.#suite, secret, 'handshake')),
      application: startRatchet(deriveSecret(this.#suite, secret, 'application')),
    };
    if (secret !== consumed[1]) wipe(secret);
    return { ratchets, consumed, siblings };
  }

  #assertNotEnded(): void {
    if (this.#isEnded) throw new CryptoError('usage', 'the secret tree was ended');
  }

  #childSecret(secret: Uint8Array, side: Uint8Array): Uint8Array {
    return expandWithLabel(this.#suite, secret, 'tree', side, this.#suite.kdf.Nh);
  }

  #nodeSecret(node: NodeIndex): Uint8Array | undefined {
    let secret = this.#nodes.get(node);
    if (secret === undefined) {
      secret = this.#lookup(nodeKey(node))?.slice() ?? null;
      this.#nodes.set(toNodeIndex(node), secret);
    }
    return secret ?? undefined;
  }

  #readLeaf(leaf: LeafIndex): LeafRatchets | undefined {
    const record = this.#lookup(leafKey(leaf));
    if (record === undefined) return undefined;
    const ratchets = decodeLeaf(record);
    this.#leaves.set(leaf, ratchets);
    return ratchets;
  }
}

function nodeKey(node: NodeIndex): string {
  return `n${node}`;
}

function leafKey(leaf: LeafIndex): string {
  return `l${leaf}`;
}

function encodeLeaf(ratchets: LeafRatchets): Uint8Array {
  return encode(ratchets, (writer, { handshake, application }) => {
    writer.u8(RECORD_VERSION);
    writeRatchet(writer, handshake);
    writeRatchet(writer, application);
  });
}

/** @throws CryptoError 'unsupported' for a record of another version, 'malformed' for a damaged one */
function decodeLeaf(record: Uint8Array): LeafRatchets {
  return decode(record, (reader) => {
    const version = reader.u8();
    if (version !== RECORD_VERSION) throw new CryptoError('unsupported', `secret tree record ${version}`);
    return { handshake: readRatchet(reader), application: readRatchet(reader) };
  });
}
