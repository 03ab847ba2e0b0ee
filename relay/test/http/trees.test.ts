import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { groupConversationId, limits, type WelcomeItem } from '../../contract/index.ts';
import { createRetentionJob } from '../../src/jobs/retention.ts';
import { unnamedFor } from '../../src/messaging/trees.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { personQuotas } from '../../src/personQuotas.ts';
import { sizeOf } from '../../src/repositories/trees.ts';
import {
  base64Url,
  befriend,
  call,
  type PersonOnDevice,
  signUpOnDevice,
  startTestRelay,
  type TestRelay,
} from '../helpers.ts';
import { bodyOf, getTree, hashOf, leafInput, parentInput, putNodes, testTree } from '../trees.ts';
import { addMember, commitBody, createGroup, submitCommit } from './conversation.ts';

let relay: TestRelay;
let now: number;
let aino: PersonOnDevice;
let eero: PersonOnDevice;
let stranger: PersonOnDevice;
let groupId: string;
let conversationId: string;

beforeEach(async () => {
  now = Date.now();
  relay = await startTestRelay({ clock: () => now, environment: { RATE_LIMITS: 'off' } });
  [aino, eero, stranger] = [
    await signUpOnDevice(relay),
    await signUpOnDevice(relay),
    await signUpOnDevice(relay),
  ];
  await befriend(aino, eero);
  groupId = await createGroup(aino);
  conversationId = groupConversationId(groupId);
});
afterEach(() => relay.close());

const db = () => relay.relay.database.db;
const refused = (status: number, code: string) => ({ status, body: { code } });
const nodesStored = async () => (await db().selectFrom('tree_nodes').select('hash').execute()).length;
const bytesCounted = async () =>
  (await db().selectFrom('trees').select('bytes').executeTakeFirst())?.bytes ?? 0;
const bytesStored = async () =>
  (await db().selectFrom('tree_nodes').select('content').execute()).reduce(
    (sum, node) => sum + sizeOf(node),
    0,
  );
const commitWith = (epoch: number, treeHash?: string, welcomes: Parameters<typeof commitBody>[1] = []) => ({
  ...commitBody(epoch, welcomes),
  ...(treeHash === undefined ? {} : { treeHash }),
});
const commits = async (epoch: number, treeHash?: string) =>
  expect((await submitCommit(aino, conversationId, commitWith(epoch, treeHash))).status).toBe(201);
/** Runs the job that deletes what is kept no longer. */
const tidy = () =>
  createRetentionJob({
    database: relay.relay.database,
    clock: () => now,
    log: relay.relay.app.log,
    retention: { days: 20, historyDays: null },
    metrics: new Metrics(),
  }).run();

describe('a tree', () => {
  it.each([
    { what: 'that is full', tree: () => testTree(8) },
    {
      what: 'with blank nodes, also at its end',
      tree: () =>
        testTree(
          8,
          (leaf) => (leaf === 2 || leaf > 4 ? null : Buffer.from(`leaf ${leaf}`)),
          (node) => (node === 7 ? Buffer.from('root') : null),
        ),
    },
    { what: 'of one leaf', tree: () => testTree(1) },
  ])('$what is given as a ratchet_tree extension has it', async ({ tree }) => {
    const { extension, nodes, treeHash } = tree();
    expect(await putNodes(aino, conversationId, nodes)).toMatchObject({ status: 204 });
    const answer = await getTree(aino, conversationId, treeHash);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.body.equals(extension)).toBe(true);
  });

  it('comes in parts, of which none has to be brought twice, and may be', async () => {
    const { extension, nodes, treeHash } = testTree(16);
    for (const part of [nodes.slice(0, 10), nodes.slice(10), nodes, nodes.slice(3, 4)]) {
      expect(await putNodes(aino, conversationId, part)).toMatchObject({ status: 204 });
    }
    expect((await getTree(aino, conversationId, treeHash)).body.equals(extension)).toBe(true);
    expect(await nodesStored()).toBe(31);
    expect(await bytesCounted()).toBe(await bytesStored());
  });

  it('changes by the nodes that are others, and each root gives its own', async () => {
    const bytes = (at: number) => Buffer.from(`node ${at}`);
    const before = testTree(8, bytes, bytes);
    const after = testTree(8, (leaf) => Buffer.from(leaf === 3 ? 'another' : `node ${leaf}`), bytes);
    await putNodes(aino, conversationId, before.nodes);
    const known = new Set(before.nodes.map((node) => node.toString('hex')));
    const changed = after.nodes.filter((node) => !known.has(node.toString('hex')));
    expect(changed).toHaveLength(4);
    expect(await putNodes(aino, conversationId, changed)).toMatchObject({ status: 204 });
    for (const { extension, treeHash } of [before, after]) {
      expect((await getTree(aino, conversationId, treeHash)).body.equals(extension)).toBe(true);
    }
  });

  it('of which a child is missing is not stored, nor anything that came with it', async () => {
    const { nodes, treeHash } = testTree(8);
    const missing = refused(409, 'missing-tree');
    expect(await putNodes(aino, conversationId, nodes.slice(1))).toMatchObject(missing);
    expect(await putNodes(aino, conversationId, nodes.toReversed())).toMatchObject(missing);
    expect(await nodesStored()).toBe(0);
    expect(await getTree(aino, conversationId, treeHash)).toMatchObject(refused(404, 'not-found'));
  });

  it('in another group is none of this one', async () => {
    const { nodes, treeHash } = testTree(4);
    const other = groupConversationId(await createGroup(aino));
    await putNodes(aino, other, nodes);
    expect(await putNodes(aino, conversationId, nodes.slice(-1))).toMatchObject(refused(409, 'missing-tree'));
    expect(await getTree(aino, conversationId, treeHash)).toMatchObject(refused(404, 'not-found'));
  });

  it('is refused where its bytes are no nodes, or its nodes no tree', async () => {
    const [zero, one, two, three] = [0, 1, 2, 3].map((leaf) => leafInput(leaf, Buffer.from('leaf')));
    if (zero === undefined || one === undefined || two === undefined || three === undefined)
      throw new Error('no leaves');
    const over = (left: Buffer, right: Buffer) => parentInput(null, hashOf(left), hashOf(right));
    const left = over(zero, one);
    const wrong: Record<string, readonly Buffer[]> = {
      nothing: [Buffer.of()],
      'of no type': [Buffer.from([3, 0, 0, 0, 0, 0])],
      'a leaf that ends early': [zero.subarray(0, 5)],
      'a blank leaf with more': [Buffer.concat([leafInput(0, null), Buffer.of(1)])],
      'a leaf that is there and is nothing': [Buffer.from([1, 0, 0, 0, 0, 1])],
      'a leaf of neither kind': [Buffer.from([1, 0, 0, 0, 0, 2, 1])],
      'a leaf beyond the deepest tree': [leafInput(2 ** limits.treeLevels, null)],
      'a parent with half a hash': [zero, one, left.subarray(0, -16)],
      'a parent with a blank and more': [
        zero,
        one,
        Buffer.concat([left.subarray(0, 2), Buffer.of(9), left.subarray(2)]),
      ],
      'a hash of another length': [zero, one, Buffer.from(left.with(2, 31))],
      'the halves in the other order': [zero, one, over(one, zero)],
      'a half twice': [zero, over(zero, zero)],
      'halves that lie apart': [zero, two, over(zero, two)],
      'halves across two subtrees': [one, two, over(one, two)],
      'halves of two levels': [zero, one, two, left, over(left, two)],
      'a node of too many bytes': [leafInput(0, Buffer.alloc(limits.treeNodeMax))],
    };
    for (const [what, nodes] of Object.entries(wrong)) {
      const { body, status } = await putNodes(aino, conversationId, nodes);
      expect([what, status, body.code]).toEqual([what, 422, 'invalid-request']);
    }
    const cut = bodyOf([zero, one]).subarray(0, -1);
    const path = `/conversations/${conversationId}/tree-nodes`;
    expect(await aino.call('PUT', path, cut)).toMatchObject(refused(422, 'invalid-request'));
    expect(await nodesStored()).toBe(0);
  });

  it('is bytes: JSON is not taken for it, nor nothing at all, nor bytes for JSON', async () => {
    const path = `/conversations/${conversationId}/tree-nodes`;
    expect(await aino.call('PUT', path)).toMatchObject(refused(422, 'invalid-request'));
    const json = await aino.call('PUT', path, { nodes: [] });
    expect(json).toMatchObject(refused(415, 'unsupported-media-type'));
    const { token } = aino;
    const body = Buffer.from('{}');
    expect(await call(relay, 'POST', '/group', { token, body })).toMatchObject(
      refused(415, 'unsupported-media-type'),
    );
  });

  it('of more than a call takes is refused before it is read', async () => {
    const large = leafInput(0, Buffer.alloc(limits.treeNodesPerRequest));
    expect(await putNodes(aino, conversationId, [large])).toMatchObject(refused(413, 'payload-too-large'));
  });

  it("is a group's alone, and its members'", async () => {
    const { nodes, treeHash } = testTree(2);
    await putNodes(aino, conversationId, nodes);
    const direct = `direct:${[aino.id, eero.id].toSorted().join(':')}`;
    for (const id of [direct, `self:${aino.id}`, groupConversationId(randomUUID())]) {
      expect(await putNodes(aino, id, nodes)).toMatchObject(refused(404, 'not-found'));
      expect(await getTree(aino, id, treeHash)).toMatchObject(refused(404, 'not-found'));
    }
    for (const person of [eero, stranger]) {
      expect(await putNodes(person, conversationId, nodes)).toMatchObject(refused(404, 'not-found'));
      expect(await getTree(person, conversationId, treeHash)).toMatchObject(refused(404, 'not-found'));
    }
    await addMember(aino, groupId, eero, commitBody(0));
    expect((await getTree(eero, conversationId, treeHash)).status).toBe(200);
  });
});

describe('a commit', () => {
  it('names its tree, and so do its GroupInfo and Welcomes, until the next one', async () => {
    const { nodes, treeHash } = testTree(4);
    await putNodes(aino, conversationId, nodes);
    const welcome = base64Url(100);
    const body = commitWith(0, treeHash, [{ deviceIds: [eero.deviceId], welcome }]);
    expect((await addMember(aino, groupId, eero, body)).status).toBe(201);
    const info = `/conversations/${conversationId}/group-info`;
    expect((await eero.call('GET', info)).body).toEqual({ epoch: 1, groupInfo: body.groupInfo, treeHash });
    expect((await eero.call<WelcomeItem[]>('GET', '/welcomes')).body).toMatchObject([{ welcome, treeHash }]);

    const own = commitWith(1);
    expect((await submitCommit(aino, conversationId, own)).status).toBe(201);
    expect((await eero.call('GET', info)).body).toEqual({ epoch: 2, groupInfo: own.groupInfo });
    expect((await eero.call<WelcomeItem[]>('GET', '/welcomes')).body).toMatchObject([{ treeHash }]);
  });

  it('that names a tree which is not there is not taken, and its epoch goes on', async () => {
    const { nodes, treeHash } = testTree(4);
    const right = testTree(4);
    await putNodes(aino, conversationId, nodes.slice(0, -1));
    await putNodes(aino, conversationId, right.nodes);
    const half = hashOf(nodes[5] ?? Buffer.of()).toString('base64url');
    for (const hash of [treeHash, half]) {
      const answer = await submitCommit(aino, conversationId, commitWith(0, hash));
      expect(answer).toMatchObject(refused(409, 'missing-tree'));
    }
    expect(await submitCommit(aino, conversationId, commitWith(0, right.treeHash))).toMatchObject({
      status: 201,
      body: { seq: 1 },
    });
    expect(await submitCommit(aino, conversationId, commitWith(0, treeHash))).toMatchObject(
      refused(409, 'stale-epoch'),
    );
  });

  it('of a direct conversation names none', async () => {
    const direct = `direct:${[aino.id, eero.id].toSorted().join(':')}`;
    expect(await submitCommit(aino, direct, commitWith(0, testTree(1).treeHash))).toMatchObject(
      refused(422, 'invalid-request'),
    );
  });
});

describe('nodes that nothing names', () => {
  it('are forgotten, but not while a Welcome that waits names them, and not while they are new', async () => {
    const [first, second, unnamed] = [testTree(4), testTree(4), testTree(4)];
    await putNodes(aino, conversationId, first.nodes);
    const welcomes = [{ deviceIds: [eero.deviceId], welcome: base64Url(100) }];
    await addMember(aino, groupId, eero, commitWith(0, first.treeHash, welcomes));
    for (const { nodes } of [second, unnamed]) await putNodes(aino, conversationId, nodes);
    await commits(1, second.treeHash);
    now += unnamedFor - 1;
    await tidy();
    expect(await nodesStored()).toBe(3 * 7);

    now += 1;
    await tidy();
    expect(await getTree(eero, conversationId, unnamed.treeHash)).toMatchObject({ status: 404 });
    expect((await getTree(eero, conversationId, first.treeHash)).body.equals(first.extension)).toBe(true);
    expect(await nodesStored()).toBe(2 * 7);
    expect(await bytesCounted()).toBe(await bytesStored());

    const [item] = (await eero.call<WelcomeItem[]>('GET', '/welcomes')).body;
    await eero.call('DELETE', `/welcomes/${item?.id ?? ''}`);
    await tidy();
    expect(await getTree(eero, conversationId, first.treeHash)).toMatchObject({ status: 404 });
    expect((await getTree(eero, conversationId, second.treeHash)).body.equals(second.extension)).toBe(true);
    expect(await db().selectFrom('trees').select('changed_at').execute()).toEqual([{ changed_at: null }]);

    await commits(2);
    now += unnamedFor;
    await tidy();
    expect(await nodesStored()).toBe(0);
    expect(await bytesCounted()).toBe(0);
  });

  it('stay where a new one stands above them', async () => {
    const bytes = (at: number) => Buffer.from(`node ${at}`);
    const { nodes } = testTree(4, bytes, bytes);
    await putNodes(aino, conversationId, nodes.slice(0, -1));
    now += unnamedFor + 1;
    await putNodes(aino, conversationId, nodes.slice(-1));
    await db().updateTable('trees').set({ changed_at: 0 }).execute();
    await tidy();
    expect(await nodesStored()).toBe(7);
  });

  it('go with their group', async () => {
    await putNodes(aino, conversationId, testTree(4).nodes);
    await aino.call('DELETE', `/group/${groupId}`);
    expect(await nodesStored()).toBe(0);
    expect(await db().selectFrom('trees').selectAll().execute()).toEqual([]);
  });
});

describe('trees', () => {
  const MiB = 1024 * 1024;
  const counted = (bytes: number) => db().updateTable('trees').set({ bytes }).execute();
  const full = { status: 413, body: { code: 'quota', quota: 'group-infos' } };
  const done = { status: 204 };
  const aTree = () =>
    testTree(
      64,
      () => randomBytes(2000),
      () => randomBytes(1500),
    );

  /** Brings all nodes, of any size, in as many calls as it takes. */
  async function bring(person: PersonOnDevice, nodes: readonly Buffer[]) {
    const atOnce = Math.floor(limits.treeNodesPerRequest / (limits.treeNodeMax + 4));
    for (let from = 0; from < nodes.length; from += atOnce) {
      const part = nodes.slice(from, from + atOnce);
      now += 1;
      expect(await putNodes(person, conversationId, part)).toMatchObject(done);
    }
  }

  it('of one group give way to what a member brings next, the newest and those of Welcomes too', async () => {
    const welcomed = aTree();
    const named = aTree();
    await bring(aino, welcomed.nodes);
    const welcomes = [{ deviceIds: [eero.deviceId], welcome: base64Url(100) }];
    await addMember(aino, groupId, eero, commitWith(0, welcomed.treeHash, welcomes));
    await bring(aino, named.nodes);
    await commits(1, named.treeHash);
    const leaf = (index: number) => leafInput(index, randomBytes(limits.treeNodeMax - 6));
    const junk = Array.from({ length: 995 }, (_, index) => leaf(index));
    await bring(eero, junk);
    expect(await bytesCounted()).toBeGreaterThan(31.8 * MiB);

    const next = aTree();
    await bring(aino, next.nodes);
    expect(await bytesCounted()).toBe(await bytesStored());
    expect(await getTree(aino, conversationId, welcomed.treeHash)).toMatchObject(refused(404, 'not-found'));
    expect((await getTree(aino, conversationId, named.treeHash)).status).toBe(200);
    await commits(2, next.treeHash);
  });

  it('of one group give way although the GroupInfo names them, where they leave no room for another', async () => {
    await addMember(aino, groupId, eero, commitBody(0));
    const junk = testTree(
      1024,
      () => randomBytes(31.4 * 1024),
      () => null,
    );
    await bring(eero, junk.nodes);
    expect((await submitCommit(eero, conversationId, commitWith(1, junk.treeHash))).status).toBe(201);
    // No client takes so large a tree.
    expect(await getTree(aino, conversationId, junk.treeHash)).toMatchObject(refused(404, 'not-found'));
    now += 10 * unnamedFor;
    const next = aTree();
    await bring(aino, next.nodes);
    await commits(2, next.treeHash);
    expect((await getTree(aino, conversationId, next.treeHash)).body.equals(next.extension)).toBe(true);
  });

  it("count with the GroupInfos of all groups of the creator's, beyond which there is room for their devices", async () => {
    await putNodes(aino, conversationId, testTree(2).nodes);
    await counted(personQuotas.groupInfoBytesPerUser - 100);
    const other = await createGroup(aino);
    await addMember(aino, other, eero, commitBody(0));
    const large = Array.from({ length: 4 }, (_, index) => leafInput(index, randomBytes(30_000)));
    expect(await putNodes(aino, groupConversationId(other), large)).toMatchObject(full);
    // A member takes all of that, names it, and leaves a GroupInfo that every other one is larger than.
    const junk = testTree(
      2,
      () => randomBytes(30_000),
      () => randomBytes(30_000),
    );
    expect(await putNodes(eero, groupConversationId(other), junk.nodes)).toMatchObject(done);
    const least = { ...commitWith(1, junk.treeHash), groupInfo: base64Url(1) };
    expect((await submitCommit(eero, groupConversationId(other), least)).status).toBe(201);
    const next = testTree(4, () => randomBytes(2000));
    expect(await putNodes(aino, groupConversationId(other), next.nodes)).toMatchObject(done);
    const commit = commitWith(2, next.treeHash);
    expect((await submitCommit(aino, groupConversationId(other), commit)).status).toBe(201);
  });

  it('count each node with its row, and come no more at once than the deepest tree has', async () => {
    const blank = (index: number) => leafInput(index % 4096, Buffer.from(`${index}`));
    const nodes = Array.from({ length: limits.treeNodes + 1 }, (_, index) => blank(index));
    expect(await putNodes(aino, conversationId, nodes)).toMatchObject(refused(422, 'invalid-request'));
    expect(await putNodes(aino, conversationId, nodes.slice(1))).toMatchObject(done);
    expect(await bytesCounted()).toBeGreaterThan(2 * MiB);
  });
});
