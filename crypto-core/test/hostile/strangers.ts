/** Groups that a stranger makes up: of any tree, with a GroupInfo that the stranger signs properly. */
import { concat, EMPTY } from '../../src/bytes.ts';
import { encode, Writer } from '../../src/codec/writer.ts';
import type { Env } from '../../src/env.ts';
import { signLeaf } from '../../src/group/ownLeaf.ts';
import type { CipherSuiteId, SignatureKeyPair } from '../../src/index.ts';
import type { Capabilities } from '../../src/structs/capabilities.ts';
import { type Extension, ExtensionTypeValue } from '../../src/structs/extension.ts';
import { groupInfoTBS } from '../../src/structs/groupInfo.ts';
import { type LeafIndex, toLeafIndex } from '../../src/structs/indices.ts';
import { type LeafNode, type LeafNodeContent, writeLeafNode } from '../../src/structs/leafNode.ts';
import { encodeMlsMessage } from '../../src/structs/mlsMessage.ts';
import { type Node, NodeTypeValue, writeParentNode } from '../../src/structs/node.ts';
import { signWithLabel } from '../../src/suite/labels.ts';
import { getSuite } from '../../src/suite/suites.ts';

const GROUP_ID = Uint8Array.of(1);

/** Bytes that count, under zeros that all share: keys of any length, told apart by their last bytes only. */
export function numbered(length: number, number: number): Uint8Array {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(length - 4, number + 0x01_00_00);
  return bytes;
}

export class Stranger {
  readonly suite;
  readonly #key: SignatureKeyPair;

  constructor(suiteId: CipherSuiteId, env: Env) {
    this.suite = getSuite(suiteId);
    this.#key = this.suite.signatureKeyPair(env.random(32));
  }

  get capabilities(): Capabilities {
    return {
      versions: [1],
      cipherSuites: [this.suite.id],
      extensions: [],
      proposals: [],
      credentials: [1],
    };
  }

  /** Makes a leaf of a form that is right but for `change`, with a signature that doesn't hold. */
  leaf(number: number, change: Partial<LeafNodeContent> = {}): LeafNode {
    return {
      encryptionKey: numbered(this.suite.kem.Npk, number),
      signatureKey: numbered(32, number),
      credential: { type: 'basic', identity: EMPTY },
      capabilities: this.capabilities,
      source: { type: 'commit', parentHash: EMPTY },
      extensions: [],
      ...change,
      signature: new Uint8Array(64),
    };
  }

  /** Makes a leaf the one that signs the GroupInfo: at place 0, and itself signed, so that the other leaves are looked at. */
  signerOf(leaf: LeafNode): LeafNode {
    const content = { ...leaf, signatureKey: this.#key.publicKey };
    return signLeaf(
      this.suite,
      content,
      { groupId: GROUP_ID, leafIndex: toLeafIndex(0) },
      this.#key.privateKey,
    );
  }

  /** Makes a leaf that everybody accepts in its place. @param seed of its signature key */
  signedLeaf(place: LeafIndex, source: LeafNodeContent['source'], seed: Uint8Array): LeafNode {
    const content = this.leaf(place, { signatureKey: this.suite.signatureKeyPair(seed).publicKey, source });
    return signLeaf(this.suite, content, { groupId: GROUP_ID, leafIndex: place }, seed);
  }

  /** Makes an MLSMessage(GroupInfo) around an encoded tree. */
  groupInfo(
    ratchetTree: Uint8Array,
    signer: number,
    change: {
      readonly groupId?: Uint8Array;
      readonly treeHash?: Uint8Array;
      readonly contextExtensions?: readonly Extension[];
      readonly extensions?: readonly Extension[];
      readonly key?: Uint8Array;
      readonly epoch?: bigint;
    } = {},
  ): Uint8Array {
    const { publicKey } = this.suite.kem.deriveKeyPair(new Uint8Array(32).fill(1));
    const content = {
      groupContext: {
        cipherSuite: this.suite.id,
        groupId: change.groupId ?? GROUP_ID,
        epoch: change.epoch ?? 1n,
        treeHash: change.treeHash ?? new Uint8Array(32),
        confirmedTranscriptHash: new Uint8Array(32),
        extensions: change.contextExtensions ?? [],
      },
      extensions: change.extensions ?? [
        { type: ExtensionTypeValue.ratchetTree, data: ratchetTree },
        { type: ExtensionTypeValue.externalPub, data: encode(publicKey, (w, key) => w.opaque(key)) },
      ],
      confirmationTag: new Uint8Array(32),
      signer: toLeafIndex(signer),
    };
    const key = change.key ?? this.#key.privateKey;
    const signature = signWithLabel(this.suite, key, 'GroupInfoTBS', groupInfoTBS(content));
    return encodeMlsMessage({ wireFormat: 'group-info', groupInfo: { ...content, signature } });
  }
}

/** Encodes `optional<Node> ratchet_tree<V>`, whatever the nodes are. */
export function encodeTree(nodes: Iterable<Node | null>): Uint8Array {
  const body = new Writer(1 << 20);
  for (const node of nodes) {
    body.u8(node === null ? 0 : 1);
    if (node === null) continue;
    body.u8(NodeTypeValue[node.type]);
    if (node.type === 'leaf') writeLeafNode(body, node.leaf);
    else writeParentNode(body, node.parent);
  }
  return vectorOf(body.finish());
}

/** Encodes `opaque value<V>`. */
export function vectorOf(...parts: readonly Uint8Array[]): Uint8Array {
  const value = concat(...parts);
  return encode(value, (w, bytes) => w.opaque(bytes), value.length + 4);
}

/** Returns as many whole copies of `item` as fit into `size` bytes. */
export function repeated(item: Uint8Array, size: number): Uint8Array {
  const bytes = new Uint8Array(size - (size % item.length));
  for (let at = 0; at < bytes.length; at += item.length) bytes.set(item, at);
  return bytes;
}
