import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { EMPTY, toHex } from '../../src/bytes.ts';
import { encode } from '../../src/codec/writer.ts';
import {
  type CreatedCommit,
  createCommit,
  type Group,
  joinByWelcome,
  joinExternal,
  type KeyPackageBundle,
  pathRecipients,
  processCommit,
  ratchetTreeNodes,
  ratchetTreeRoot,
  ready,
  splitWelcome,
  toLeafIndex,
} from '../../src/index.ts';
import { writeRatchetTreeNodes } from '../../src/structs/node.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { nodeCount } from '../../src/tree/math.ts';
import { codeOf, refusalOf } from '../codeOf.ts';
import { mlsVectors, treeOf } from '../kat/vectors.ts';
import { anyone, anything, type Device, device, groupOf, keyPackageOf } from '../scenario/world.ts';
import { flip } from '../tamper/forge.ts';
import { testEnv } from '../testEnv.ts';

const SUITE = 0x0003;
const env = testEnv('tree nodes');
const hooks = { memberCheck: anyone, policy: anything };

beforeAll(ready);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hashesOf = (nodes: readonly Uint8Array[]): string[] => nodes.map(sha256);
/** The bytes of a ratchet_tree extension. */
const treeBytes = ({ tree }: Pick<Group, 'tree'>): Uint8Array =>
  encode(tree.toNodes(), writeRatchetTreeNodes);

/** The hashes by which an input names its children, which are its last bytes: two times opaque<V>. */
function childrenOf(input: Uint8Array): string[] {
  return input[0] === 1 ? [] : [toHex(input.slice(-65, -33)), toHex(input.slice(-32))];
}

/** The hashes of all nodes below a root, which have to be there. */
function below(root: string, inputs: ReadonlyMap<string, Uint8Array>): string[] {
  const input = inputs.get(root);
  if (input === undefined) throw new Error('a node is missing');
  return [root, ...childrenOf(input).flatMap((child) => below(child, inputs))];
}

const byHash = (nodes: readonly Uint8Array[]) => new Map(nodes.map((node) => [sha256(node), node]));

interface Vector {
  readonly cipher_suite: number;
  readonly tree: string;
  readonly tree_hashes: readonly string[];
}

describe('the nodes of a tree', () => {
  it.each(mlsVectors<Vector>('tree-validation').map((vector, index) => ({ index, vector })))(
    'have the published tree hashes of vector $index, the root last',
    ({ vector }) => {
      const tree = treeOf(vector.tree);
      const suite = getSuite(vector.cipher_suite);
      const nodes = ratchetTreeNodes({ ...groupOf(1, SUITE, env).at(0).group, suite, tree });
      expect(hashesOf(nodes).toSorted()).toEqual([...vector.tree_hashes].toSorted());
      expect(sha256(nodes.at(-1) ?? EMPTY)).toBe(vector.tree_hashes[tree.root]);
      expect(below(hashesOf(nodes).at(-1) ?? '', byHash(nodes))).toHaveLength(nodeCount(tree.leafCount));
    },
  );

  it.each([
    { what: 'a path', change: (group: Group) => createCommit(group, { ...hooks }, env), changed: 4 },
    {
      what: 'a removal without those of a half that is gone',
      change: (group: Group) =>
        createCommit(group, { ...hooks, removes: [4, 5, 6, 7].map(toLeafIndex) }, env),
      changed: 3,
    },
    {
      what: 'an addition that lets the tree grow',
      change: (group: Group) => createCommit(group, { ...hooks, adds: packages(1).adds }, env),
      // The new half's leaves and parents, and the root.
      changed: 16,
    },
  ])('that $what changed complete those from before', ({ change, changed }) => {
    const { group } = groupOf(8, SUITE, env).at(0);
    const { pending } = change(group);
    const nodes = ratchetTreeNodes(pending, group);
    expect(nodes).toHaveLength(changed);
    const known = new Set(hashesOf(ratchetTreeNodes(group)));
    expect(hashesOf(nodes).filter((hash) => known.has(hash))).toEqual([]);
    for (const [at, node] of nodes.entries()) {
      const before = new Set([...known, ...hashesOf(nodes.slice(0, at))]);
      expect(childrenOf(node).every((child) => before.has(child))).toBe(true);
    }
    const root = toHex(ratchetTreeRoot(pending));
    expect(root).toBe(toHex(pending.context.treeHash));
    expect(below(root, byHash([...ratchetTreeNodes(group), ...nodes])).toSorted()).toEqual(
      hashesOf(ratchetTreeNodes(pending)).toSorted(),
    );
  });

  it('of the epoch that a joiner came by are known to it, and those of its commit go beside', () => {
    const conversation = groupOf(8, SUITE, env);
    const { group } = conversation.at(0);
    const { groupInfo } = createCommit(group, { ...hooks, treePlace: 'beside' }, env);
    expect(groupInfo.length).toBeLessThan(500);
    const { groupInfo: info, pending: before } = createCommit(group, { ...hooks, treePlace: 'beside' }, env);
    const args = { ...device('outsider', env), ...hooks, treePlace: 'beside' } as const;
    const joined = joinExternal(info, { ...args, ratchetTree: treeBytes(before) }, env);
    expect(joined.groupInfo.length).toBeLessThan(500);
    const nodes = ratchetTreeNodes(joined.pending, joined.joined);
    const known = ratchetTreeNodes(before);
    expect(nodes.length).toBeLessThan(20);
    expect(below(toHex(ratchetTreeRoot(joined.pending)), byHash([...known, ...nodes]))).toHaveLength(31);
  });
});

function packages(count: number): { adds: Uint8Array[]; owners: Device[]; bundles: KeyPackageBundle[] } {
  const owners = Array.from({ length: count }, (_, at) => device(`new ${at}`, env));
  const bundles = owners.map((owner) => keyPackageOf(owner, SUITE, env));
  return { adds: bundles.map(({ bytes }) => bytes), owners, bundles };
}

function addition(count: number, treePlace: 'inside' | 'beside') {
  const { group } = groupOf(8, SUITE, env).at(0);
  const { adds, owners, bundles } = packages(count);
  const created = createCommit(group, { ...hooks, adds, treePlace }, env);
  const join = (at: number, welcome: Uint8Array | null, ratchetTree?: Uint8Array): Group => {
    const [owner, bundle] = [owners[at], bundles[at]];
    if (welcome === null || owner === undefined || bundle === undefined) throw new Error('nobody to join');
    const tree = ratchetTree === undefined ? {} : { ratchetTree };
    return joinByWelcome(welcome, bundle, owner.signatureKey, { memberCheck: anyone, ...tree });
  };
  return { group, created, bundles, join };
}

describe('a tree beside', () => {
  it('is no part of the Welcome, and lets in who has it', () => {
    const { created, join } = addition(1, 'beside');
    expect(created.welcome?.length).toBeLessThan(1000);
    const group = join(0, created.welcome, treeBytes(created.pending));
    expect(group.secrets.epochAuthenticator).toEqual(created.pending.secrets.epochAuthenticator);
  });

  it('goes for nothing where there is one inside', () => {
    const { created, join } = addition(1, 'inside');
    expect(join(0, created.welcome, flip(treeBytes(created.pending))).context).toEqual(
      created.pending.context,
    );
  });

  it('TREE-08: is the one that the GroupInfo names, or is called missing, whatever is wrong with it', () => {
    const { created, group, join } = addition(1, 'beside');
    const right = treeBytes(created.pending);
    const refusal = (tree?: Uint8Array) => refusalOf(() => join(0, created.welcome, tree));
    expect(refusal()).toBe('missing-tree: no ratchet tree with the group info');
    const wrong = [EMPTY, treeBytes(group), right.slice(0, -1), Uint8Array.of(...right, 0)];
    for (let at = 0; at < right.length; at += 7) wrong.push(flip(right, at));
    for (const tree of wrong) {
      expect(refusal(tree)).toBe('missing-tree: TREE-08: not the tree that the group info names');
    }
    expect(refusal(right)).toBe('none');
  });

  it('of another epoch keeps a joiner from outside out, as one who has none', () => {
    const { group } = groupOf(8, SUITE, env).at(0);
    const { groupInfo, pending } = createCommit(group, { ...hooks, treePlace: 'beside' }, env);
    const join = (tree: { ratchetTree?: Uint8Array }) =>
      codeOf(() => joinExternal(groupInfo, { ...device('outsider', env), ...hooks, ...tree }, env));
    expect(join({})).toBe('missing-tree');
    expect(join({ ratchetTree: treeBytes(group) })).toBe('missing-tree');
    expect(join({ ratchetTree: treeBytes(pending) })).toBe('none');
  });
});

describe('a Welcome in parts', () => {
  it('lets each in by their own part, which has the secrets of no others', () => {
    const { bundles, created, join } = addition(5, 'beside');
    const refs = [[0, 3], [1], [2, 4]].map((part) => part.map((at) => bundles[at]?.ref ?? EMPTY));
    const parts = splitWelcome(created.welcome ?? EMPTY, refs);
    const tree = treeBytes(created.pending);
    for (const [at, part] of [0, 1, 2, 0, 2].entries()) {
      const group = join(at, parts[part] ?? null, tree);
      expect(group.secrets.epochAuthenticator).toEqual(created.pending.secrets.epochAuthenticator);
      const others = parts.filter((_, other) => other !== part);
      for (const other of others) expect(codeOf(() => join(at, other, tree))).toBe('missing-key');
    }
  });

  it('has none for a KeyPackage that the Welcome is not for', () => {
    const { created } = addition(1, 'beside');
    const [stranger] = packages(1).bundles;
    expect(codeOf(() => splitWelcome(created.welcome ?? EMPTY, [[stranger?.ref ?? EMPTY]]))).toBe('usage');
  });
});

describe('the keys that a path is encrypted to', () => {
  const lengths = ({ commit }: CreatedCommit, without: CreatedCommit) =>
    commit.length - without.commit.length;

  it('are as many as the path has ciphertexts, in a tree that is filled and in one that is not', () => {
    const filled = groupOf(8, SUITE, env);
    expect(pathRecipients(filled.at(0).group)).toBe(7);
    expect(pathRecipients(filled.at(7).group)).toBe(4);
    for (const participant of [1, 2, 3, 4, 5, 6, 7]) filled.update(filled.at(participant));
    expect(pathRecipients(filled.at(0).group)).toBe(3);
  });

  it('are none for who only adds: the commit has no path, and all can process it', () => {
    const conversation = groupOf(8, SUITE, env);
    const { group } = conversation.at(0);
    const { adds } = packages(1);
    const plain = createCommit(group, { ...hooks, adds }, env);
    const healing = createCommit(conversation.at(0).group, { ...hooks, adds, forcePath: true }, env);
    expect(lengths(healing, plain)).toBeGreaterThan(7 * 80);
    const other = processCommit(conversation.at(3).group, plain.commit, hooks);
    expect(other.group.context).toEqual(plain.pending.context);
    expect(plain.pending.tree.leaf(group.ownLeaf)).toEqual(group.tree.leaf(group.ownLeaf));
  });
});
