/** Trees and GroupInfos that are dear to refuse, as large as the relay lets one through. */
import { EMPTY } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import type { Env } from '../../src/env.ts';
import { type CipherSuiteId, type CryptoErrorCode, joinExternal } from '../../src/index.ts';
import { writeRequiredCapabilities } from '../../src/structs/capabilities.ts';
import { ExtensionTypeValue } from '../../src/structs/extension.ts';
import { type LeafIndex, toLeafIndex, toNodeIndex } from '../../src/structs/indices.ts';
import type { LeafNode } from '../../src/structs/leafNode.ts';
import type { Node, ParentNode } from '../../src/structs/node.ts';
import { leavesBelow } from '../../src/tree/math.ts';
import { RatchetTree } from '../../src/tree/ratchetTree.ts';
import { rootHash } from '../../src/tree/treeHash.ts';
import { anyone, device } from '../scenario/world.ts';
import { encodeTree, numbered, repeated, Stranger, vectorOf } from './strangers.ts';

/** Something that a stranger sends, and the call of a client that has to refuse it. */
export interface Attack {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly code: CryptoErrorCode;
  readonly receive: () => unknown;
}

export const MEGABYTES = 2 * 1024 * 1024;
const LEAVES = 4096;

function leafNode(leaf: LeafNode): Node {
  return { type: 'leaf', leaf };
}

function parentNode(parent: ParentNode): Node {
  return { type: 'parent', parent };
}

/** Makes the nodes of a tree of leaves that `leafAt` gives; the first one signs. */
function* nodesOf(
  stranger: Stranger,
  leaves: number,
  leafAt: (number: number) => LeafNode,
  parentAt: (node: number) => ParentNode | null = () => null,
): Generator<Node | null> {
  for (let node = 0; node < 2 * leaves - 1; node += 1) {
    if (node % 2 === 1) {
      const parent = parentAt(node);
      yield parent === null ? null : parentNode(parent);
    } else {
      const leaf = leafAt(node / 2);
      yield leafNode(node === 0 ? stranger.signerOf(leaf) : leaf);
    }
  }
}

function allBelow(node: number): LeafIndex[] {
  const { first, last } = leavesBelow(toNodeIndex(node));
  return Array.from({ length: last - first + 1 }, (_, at) => toLeafIndex(first + at));
}

/** @param env for the client's own keys and the stranger's */
export function treeAttacks(suiteId: CipherSuiteId, env: Env): Attack[] {
  const stranger = new Stranger(suiteId, env);
  const { Npk } = stranger.suite.kem;
  const joiner = device('joiner', env);
  const attack = (name: string, code: CryptoErrorCode, bytes: Uint8Array): Attack => ({
    name: `${name}, suite ${suiteId}`,
    bytes,
    code,
    receive: () => joinExternal(bytes, { ...joiner, memberCheck: anyone }, env),
  });
  const tree = (nodes: Iterable<Node | null>, change = {}): Uint8Array =>
    stranger.groupInfo(encodeTree(nodes), 0, change);
  const parent = (node: number, change: Partial<ParentNode> = {}): ParentNode => ({
    encryptionKey: numbered(Npk, 0x10_0000 + node),
    parentHash: new Uint8Array(32),
    unmergedLeaves: [],
    ...change,
  });
  const ordinary = (number: number): LeafNode => stranger.leaf(number);
  /** As many leaves of this form as 2 MB take. */
  const many = (leaf: (number: number) => LeafNode, bytes: number): number =>
    Math.min(LEAVES, Math.floor(MEGABYTES / (bytes + encodeTree([leafNode(leaf(1))]).length)));
  const filled = many(ordinary, 0);
  const beside = encodeTree(nodesOf(stranger, filled, ordinary));
  const naming = stranger.groupInfo(EMPTY, 0, { extensions: [] });
  const signer = leafNode(stranger.signerOf(ordinary(0)));

  // Each leaf lists first what is required last.
  const types = Array.from({ length: 64 }, (_, at) => 0xf000 + at);
  const capable = (number: number): LeafNode => {
    const list = types.slice(1);
    return stranger.leaf(number, {
      capabilities: {
        versions: [...list, 1],
        cipherSuites: [...list, suiteId],
        extensions: types.toReversed(),
        proposals: types.toReversed(),
        credentials: [...list.toReversed(), 1],
      },
    });
  };
  const required = encode(
    { extensions: types, proposals: types, credentials: [...types.slice(1), 1] },
    writeRequiredCapabilities,
  );
  const extended = (number: number): LeafNode => {
    const some = types.slice(0, 32);
    return stranger.leaf(number, {
      capabilities: { ...stranger.capabilities, extensions: some.toReversed() },
      extensions: some.map((type) => ({ type, data: EMPTY })),
    });
  };

  const seed = env.random(32);
  const ofOne = leafNode(stranger.signedLeaf(toLeafIndex(0), { type: 'commit', parentHash: EMPTY }, seed));

  return [
    attack('blank nodes', 'unsupported', tree([signer, ...Array.from({ length: MEGABYTES }, () => null)])),
    attack(
      'as many blank nodes as are read',
      'invalid-tree',
      tree([signer, ...Array.from({ length: 8189 }, () => null), leafNode(ordinary(LEAVES - 1))]),
    ),
    attack(
      'leaves whose keys differ in their last bytes',
      'invalid-tree',
      tree(nodesOf(stranger, filled, ordinary)),
    ),
    attack(
      'leaves with a key that occurs twice',
      'invalid-leaf',
      tree(nodesOf(stranger, filled, (number) => ordinary(number === filled - 1 ? filled - 2 : number))),
    ),
    attack(
      'keys of no length',
      'invalid-leaf',
      tree(nodesOf(stranger, LEAVES, (number) => stranger.leaf(number, { encryptionKey: EMPTY }))),
    ),
    attack(
      'parent nodes and leaves',
      'invalid-tree',
      tree(nodesOf(stranger, Math.floor(filled / 2), ordinary, (node) => parent(node))),
    ),
    attack(
      'a leaf that every node lists as unmerged',
      'invalid-tree',
      tree(
        nodesOf(stranger, Math.floor(filled / 2), ordinary, (node) =>
          parent(node, {
            unmergedLeaves: allBelow(node)
              .filter((leaf) => leaf < Math.floor(filled / 2))
              .slice(1),
          }),
        ),
      ),
    ),
    attack(
      'a node with half a million unmerged leaves',
      'unsupported',
      tree(
        nodesOf(stranger, 2, ordinary, (node) =>
          parent(node, { unmergedLeaves: Array.from({ length: 500_000 }, (_, at) => toLeafIndex(at)) }),
        ),
      ),
    ),
    attack(
      'capabilities without end',
      'unsupported',
      tree(
        nodesOf(stranger, 2, (number) =>
          stranger.leaf(number, {
            capabilities: {
              ...stranger.capabilities,
              extensions: Array.from({ length: MEGABYTES / 2 }, (_, at) => at & 0xffff),
            },
          }),
        ),
      ),
    ),
    attack(
      'as many capabilities as are read, all required',
      'invalid-tree',
      tree(
        nodesOf(stranger, many(capable, 0), (number) => capable(number)),
        { contextExtensions: [{ type: ExtensionTypeValue.requiredCapabilities, data: required }] },
      ),
    ),
    attack(
      'as many extensions as are read, in each leaf',
      'invalid-tree',
      tree(nodesOf(stranger, many(extended, 0), (number) => extended(number))),
    ),
    attack(
      'empty certificates',
      'unsupported',
      tree(
        nodesOf(stranger, 2, (number) =>
          stranger.leaf(number, {
            credential: { type: 'x509', certificates: Array.from({ length: MEGABYTES / 2 }, () => EMPTY) },
          }),
        ),
      ),
    ),
    attack(
      'a group id of a megabyte, for each leaf to sign',
      'malformed',
      tree(nodesOf(stranger, Math.floor(filled / 2), ordinary), { groupId: new Uint8Array(MEGABYTES / 2) }),
    ),
    attack(
      'external senders without end',
      'unsupported',
      stranger.groupInfo(encodeTree([ofOne]), 0, {
        treeHash: rootHash(stranger.suite, RatchetTree.fromNodes([ofOne])),
        key: seed,
        contextExtensions: [
          {
            type: ExtensionTypeValue.externalSenders,
            data: vectorOf(repeated(Uint8Array.of(0, 0, 1, 0), MEGABYTES)),
          },
        ],
      }),
    ),
    attack('extensions of the group without end', 'unsupported', groupInfoOfManyExtensions(stranger)),
    {
      name: `a tree beside that is another one, suite ${suiteId}`,
      bytes: beside,
      code: 'missing-tree',
      receive: () => joinExternal(naming, { ...joiner, memberCheck: anyone, ratchetTree: beside }, env),
    },
    attack(
      'one extension of two megabytes',
      'missing-tree',
      stranger.groupInfo(EMPTY, 0, {
        extensions: [{ type: 0xf000, data: new Uint8Array(MEGABYTES) }],
      }),
    ),
    attack(
      'a parent hash of two megabytes',
      'invalid-tree',
      tree(nodesOf(stranger, 2, ordinary, (node) => parent(node, { parentHash: new Uint8Array(MEGABYTES) }))),
    ),
  ];
}

function groupInfoOfManyExtensions(stranger: Stranger): Uint8Array {
  const extensions = Array.from({ length: MEGABYTES / 3 }, (_, at) => ({ type: at & 0xffff, data: EMPTY }));
  return stranger.groupInfo(EMPTY, 0, { extensions });
}
