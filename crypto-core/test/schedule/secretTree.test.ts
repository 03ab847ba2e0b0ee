import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes.ts';
import { SecretTree } from '../../src/schedule/secretTree.ts';
import { toLeafIndex } from '../../src/structs/indices.ts';
import { ready } from '../../src/suite/sodium.ts';
import { getSuite } from '../../src/suite/suites.ts';
import { codeOf } from '../codeOf.ts';

const suite = getSuite(0x0003);
const secret = new Uint8Array(32).fill(5);
const leaf = toLeafIndex;
/** As SPEC.md promises. */
const MAX_FORWARD_DISTANCE = 1000;
const MAX_SKIPPED_KEYS = 64;

beforeAll(ready);

/** Records as a database would hold them. */
class Store {
  readonly records = new Map<string, Uint8Array>();

  save(tree: SecretTree): { puts: string[]; deletes: string[]; bytes: number } {
    const { puts, deletes } = tree.takeChanges();
    for (const [key, bytes] of puts) this.records.set(key, bytes);
    for (const key of deletes) this.records.delete(key);
    return {
      puts: puts.map(([key]) => key),
      deletes,
      bytes: puts.reduce((sum, [key, bytes]) => sum + key.length + bytes.length, 0),
    };
  }

  load(leafCount: number): SecretTree {
    return SecretTree.fromRecords(suite, leafCount, (key) => this.records.get(key));
  }
}

function newTree(leafCount = 8): SecretTree {
  return SecretTree.create(suite, leafCount, secret);
}

describe('SecretTree', () => {
  it('gives sender and receiver the same keys, once each', () => {
    const sender = newTree();
    const receiver = newTree();
    for (let generation = 0; generation < 5; generation++) {
      const sent = sender.nextKey(leaf(3), 'application');
      const received = receiver.openKey(leaf(3), 'application', sent.generation);
      expect(sent.generation).toBe(generation);
      expect(toHex(received.key)).toBe(toHex(sent.key));
      expect(toHex(received.nonce)).toBe(toHex(sent.nonce));
      received.accept();
      expect(codeOf(() => receiver.openKey(leaf(3), 'application', generation))).toBe('replayed');
    }
  });

  it('keeps the two ratchets of a leaf, and the leaves, apart', () => {
    const tree = newTree();
    const keys = [0, 1, 7].flatMap((index) =>
      (['handshake', 'application'] as const).map((type) => toHex(tree.nextKey(leaf(index), type).key)),
    );
    expect(new Set(keys).size).toBe(6);
  });

  it('changes nothing until a key is accepted', () => {
    const store = new Store();
    const tree = newTree();
    store.save(tree);
    const before = toHex(tree.openKey(leaf(2), 'application', 4).key);
    expect(tree.takeChanges()).toEqual({ puts: [], deletes: [] });
    tree.openKey(leaf(2), 'application', 0);
    expect(toHex(tree.openKey(leaf(2), 'application', 4).key)).toBe(before);
    expect(codeOf(() => tree.openKey(leaf(2), 'application', 0))).toBe('none');
  });

  it('refuses to accept a key looked up before another step', () => {
    const tree = newTree();
    const one = tree.openKey(leaf(1), 'application', 0);
    const two = tree.openKey(leaf(1), 'application', 0);
    one.accept();
    expect(codeOf(() => two.accept())).toBe('usage');
    expect(codeOf(() => one.accept())).toBe('usage');
  });

  it('opens messages out of order, each once', () => {
    const sender = newTree();
    const sent = Array.from({ length: 6 }, () => sender.nextKey(leaf(0), 'application'));
    const receiver = newTree();
    for (const generation of [3, 1, 5, 0, 2, 4]) {
      const received = receiver.openKey(leaf(0), 'application', generation);
      expect(toHex(received.key)).toBe(toHex(sent[generation]!.key));
      received.accept();
      expect(codeOf(() => receiver.openKey(leaf(0), 'application', generation))).toBe('replayed');
    }
  });

  it('follows a gap up to its limit and no further', () => {
    const tree = newTree();
    expect(codeOf(() => tree.openKey(leaf(0), 'application', MAX_FORWARD_DISTANCE + 1))).toBe(
      'generation-too-far',
    );
    expect(codeOf(() => tree.openKey(leaf(0), 'application', 0xffffffff))).toBe('generation-too-far');
    tree.openKey(leaf(0), 'application', MAX_FORWARD_DISTANCE).accept();
    expect(codeOf(() => tree.openKey(leaf(0), 'application', 2 * MAX_FORWARD_DISTANCE + 1))).toBe('none');
    expect(codeOf(() => tree.openKey(leaf(0), 'application', 2 * MAX_FORWARD_DISTANCE + 2))).toBe(
      'generation-too-far',
    );
  });

  it('keeps the newest skipped keys, and a record of bounded size', () => {
    const store = new Store();
    const tree = newTree(1);
    tree.openKey(leaf(0), 'application', 500).accept();
    tree.openKey(leaf(0), 'application', 1000).accept();
    expect(codeOf(() => tree.openKey(leaf(0), 'application', 1000 - MAX_SKIPPED_KEYS))).toBe('none');
    expect(codeOf(() => tree.openKey(leaf(0), 'application', 1000 - MAX_SKIPPED_KEYS - 1))).toBe('replayed');
    expect(store.save(tree).bytes).toBeLessThan(200 + MAX_SKIPPED_KEYS * 52);
  });

  it('survives being stored after every step', () => {
    const store = new Store();
    const reference = newTree();
    store.save(newTree());
    for (const [index, type, generation] of [
      [2, 'application', 0],
      [2, 'application', 3],
      [5, 'handshake', 0],
      [2, 'application', 1],
      [7, 'application', 2],
      [3, 'application', 0],
      [2, 'handshake', 0],
    ] as const) {
      const tree = store.load(8);
      const key = tree.openKey(leaf(index), type, generation);
      const expected = reference.openKey(leaf(index), type, generation);
      expect(toHex(key.key)).toBe(toHex(expected.key));
      key.accept();
      expected.accept();
      store.save(tree);
      expect(codeOf(() => store.load(8).openKey(leaf(index), type, generation))).toBe('replayed');
    }
  });

  it('forgets the secrets above a leaf that was used', () => {
    const store = new Store();
    const tree = newTree(8);
    store.save(tree);
    expect([...store.records.keys()]).toEqual(['n7']);
    tree.nextKey(leaf(2), 'application');
    store.save(tree);
    // The copath of leaf 2 (node 4) among eight: its sibling, then the two subtrees beside it.
    expect([...store.records.keys()].sort()).toEqual(['l2', 'n1', 'n11', 'n6']);
    tree.nextKey(leaf(3), 'application');
    store.save(tree);
    expect([...store.records.keys()].sort()).toEqual(['l2', 'l3', 'n1', 'n11']);
    expect([...store.records.values()].some((bytes) => toHex(bytes) === toHex(secret))).toBe(false);
  });

  it('writes one small record a message, however large the group', () => {
    const sizes = [2, 1024].map((leafCount) => {
      const store = new Store();
      const tree = newTree(leafCount);
      tree.nextKey(leaf(1), 'application');
      store.save(tree);
      tree.nextKey(leaf(1), 'application');
      const change = store.save(tree);
      expect(change.puts).toEqual(['l1']);
      expect(change.deletes).toEqual([]);
      return change.bytes;
    });
    expect(sizes[0]).toBe(sizes[1]);
    expect(sizes[0]).toBeLessThan(100);
  });

  it('refuses a leaf outside the tree, and one whose records are gone', () => {
    expect(codeOf(() => newTree(8).openKey(leaf(8), 'application', 0))).toBe('missing-key');
    expect(codeOf(() => new Store().load(8).openKey(leaf(0), 'application', 0))).toBe('missing-key');
  });

  it('stops at the last generation', () => {
    const store = new Store();
    const tree = newTree(1);
    tree.nextKey(leaf(0), 'application');
    store.save(tree);
    // version, then the handshake ratchet (1 + 4 + 1 + 32 + 1 bytes), then the application ratchet's presence octet
    const record = store.records.get('l0')!;
    record.fill(0xff, 41, 45);
    const last = store.load(1);
    expect(last.nextKey(leaf(0), 'application').generation).toBe(0xffffffff);
    expect(codeOf(() => last.nextKey(leaf(0), 'application'))).toBe('key-exhausted');
    store.save(last);
    expect(codeOf(() => store.load(1).nextKey(leaf(0), 'application'))).toBe('key-exhausted');
    expect(codeOf(() => store.load(1).openKey(leaf(0), 'application', 0xffffffff))).toBe('replayed');
  });

  it('refuses a damaged record', () => {
    const store = new Store();
    const tree = newTree(1);
    tree.nextKey(leaf(0), 'application');
    store.save(tree);
    const record = store.records.get('l0')!;
    store.records.set('l0', record.subarray(0, 20));
    expect(codeOf(() => store.load(1).nextKey(leaf(0), 'application'))).toBe('malformed');
    record[0] = 9;
    store.records.set('l0', record);
    expect(codeOf(() => store.load(1).nextKey(leaf(0), 'application'))).toBe('unsupported');
  });
});
