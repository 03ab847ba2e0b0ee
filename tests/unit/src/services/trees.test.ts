import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitSubmission, CryptoApi } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createJoiner, type Joiner } from '#src/services/conversations/joiner.ts';
import { timings } from '#src/services/core/timings.ts';
import { me, peer, refused, state, testDeps } from './support/deps.ts';

const id = `group:${peer}`;
const treeHash = 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc';
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
/** Their text has each character that differs between the two alphabets of base64. */
const part = Uint8Array.of(0xfb, 0xef, 0xff, 1);
const wholePart = Uint8Array.of(1, 2, 3, 4, 5);

const submission: CommitSubmission = {
  conversationId: id,
  epoch: 4,
  commit: 'commit',
  welcomes: [],
  groupInfo: 'group',
  tree: { hash: treeHash, parts: [text(part), text(part)] },
  signature: 'signed',
  sealedName: null,
  addedIds: [],
  removedIds: [],
};
const welcome = { id: 'welcome', conversationId: id, epoch: 5, seq: 7, welcome: 'welcome', treeHash };

/** The calls of the relay, in order. */
let steps: string[];
let joiner: Joiner;
let clock: ReturnType<typeof testDeps>['clock'];
const putTreeNodes = vi.fn<Api['putTreeNodes']>();
const submitCommit = vi.fn<Api['submitCommit']>();
const getTree = vi.fn<Api['getTree']>();
const getGroupInfo = vi.fn<Api['getGroupInfo']>();
const deleteWelcome = vi.fn<Api['deleteWelcome']>();
const listWelcomes = vi.fn<Api['listWelcomes']>();
const joinByWelcome = vi.fn<CryptoApi['joinByWelcome']>();
const joinByExternalCommit = vi.fn<CryptoApi['joinByExternalCommit']>();

const missingTree = () => Object.assign(new Error('missing-tree'), { code: 'missing-tree' });

beforeEach(() => {
  steps = [];
  putTreeNodes.mockReset().mockImplementation(async (_id, bytes) => void steps.push(`put ${text(bytes)}`));
  submitCommit.mockReset().mockImplementation(async (_id, body) => {
    steps.push(`commit ${body.treeHash}`);
    return { id: 'commit', seq: 9, epoch: 4, timestamp: '2026-03-01T12:00:00.000Z' };
  });
  getTree.mockReset().mockResolvedValue(part);
  getGroupInfo.mockReset().mockResolvedValue({ epoch: 5, groupInfo: 'group', treeHash });
  deleteWelcome.mockReset().mockResolvedValue(undefined);
  listWelcomes.mockReset().mockResolvedValue([welcome]);
  joinByWelcome.mockReset().mockResolvedValue(state());
  joinByExternalCommit.mockReset().mockResolvedValue(submission);
  const deps = testDeps({
    api: {
      putTreeNodes,
      submitCommit,
      getTree,
      getGroupInfo,
      deleteWelcome,
      listWelcomes,
      listGroupMessages: async () => [{}] as unknown as Awaited<ReturnType<Api['listGroupMessages']>>,
    },
    crypto: {
      conversation: async () => state({ conversationId: id, status: 'outside' }),
      pendingTree: async () => [text(wholePart)],
      joinByWelcome,
      joinByExternalCommit,
    },
  });
  ({ clock } = deps);
  joiner = createJoiner(deps, me);
});

describe('a commit whose tree is beside', () => {
  const changed = [`put ${text(part)}`, `put ${text(part)}`];
  const whole = `put ${text(wholePart)}`;
  const commit = `commit ${treeHash}`;

  it('goes after the nodes that it changes', async () => {
    await expect(joiner.submit(submission)).resolves.toBe(9);
    expect(steps).toEqual([...changed, commit]);
  });

  it('goes after the whole tree where the relay lacks nodes that it has not changed', async () => {
    putTreeNodes.mockRejectedValueOnce(refused('missing-tree'));
    await expect(joiner.submit(submission)).resolves.toBe(9);
    expect(steps).toEqual([whole, commit]);
  });

  it('goes once more, after the whole tree, where the relay has lost nodes meanwhile', async () => {
    submitCommit.mockRejectedValueOnce(refused('missing-tree'));
    await expect(joiner.submit(submission)).resolves.toBe(9);
    expect(steps).toEqual([...changed, whole, commit]);
  });

  it('fails where the relay takes the whole tree and lacks it still', async () => {
    submitCommit.mockRejectedValue(refused('missing-tree'));
    await expect(joiner.submit(submission)).rejects.toMatchObject({ code: 'missing-tree' });
    putTreeNodes.mockRejectedValue(refused('missing-tree'));
    await expect(joiner.submit(submission)).rejects.toMatchObject({ code: 'missing-tree' });
  });

  it('loses its race as any other', async () => {
    submitCommit.mockRejectedValue(refused('stale-epoch'));
    await expect(joiner.submit(submission)).resolves.toBeNull();
  });
});

describe('who joins a group whose tree is beside', () => {
  it('gives the worker the tree that the Welcome names', async () => {
    await joiner.refreshMailbox();
    await expect(joiner.enter(id)).resolves.toEqual({ kind: 'member' });
    expect(getTree).toHaveBeenCalledExactlyOnceWith(id, treeHash);
    expect(joinByWelcome.mock.lastCall?.[0]).toMatchObject({ welcome: 'welcome', tree: text(part) });
    expect(deleteWelcome).toHaveBeenCalledOnce();
  });

  it('gives the worker a tree of megabytes as it came', async () => {
    const large = Uint8Array.from({ length: 400_001 }, (_, at) => at * 7);
    getTree.mockResolvedValue(large);
    await joiner.refreshMailbox();
    await joiner.enter(id);
    expect(joinByWelcome.mock.lastCall?.[0].tree).toBe(text(large));
  });

  it('asks the worker nothing about an answer that is larger than any tree', async () => {
    getTree.mockResolvedValue(new Uint8Array(16 * 2 ** 20 + 1));
    await joiner.refreshMailbox();
    await joiner.enter(id);
    expect(joinByWelcome.mock.lastCall?.[0].tree).toBeNull();
  });

  it('keeps a Welcome whose tree is missing or another, and comes from outside if that tree is there', async () => {
    joinByWelcome.mockRejectedValue(missingTree());
    getTree.mockRejectedValueOnce(refused('not-found'));
    await joiner.refreshMailbox();
    await expect(joiner.enter(id)).resolves.toEqual({ kind: 'committed', seq: 9 });
    expect(joinByWelcome.mock.lastCall?.[0].tree).toBeNull();
    expect(joinByExternalCommit.mock.lastCall?.[0]).toMatchObject({ groupInfo: 'group', tree: text(part) });
    expect(deleteWelcome).not.toHaveBeenCalled();
  });

  it('says what is missing, keeps the Welcome, and gets in once the tree is there', async () => {
    joinByWelcome.mockRejectedValueOnce(missingTree());
    joinByExternalCommit.mockRejectedValueOnce(missingTree());
    await joiner.refreshMailbox();
    await expect(joiner.enter(id)).rejects.toMatchObject({ code: 'missing-tree' });
    expect(deleteWelcome).not.toHaveBeenCalled();
    await clock.advance(timings.rejoinPause);
    await expect(joiner.enter(id)).resolves.toEqual({ kind: 'member' });
    expect(deleteWelcome).toHaveBeenCalledOnce();
  });

  it('tries a Welcome without its tree no more than once a minute, however often it is told of one', async () => {
    joinByWelcome.mockRejectedValue(missingTree());
    joinByExternalCommit.mockRejectedValue(missingTree());
    expect(await joiner.refreshMailbox()).toEqual([id]);
    await expect(joiner.enter(id)).rejects.toMatchObject({ code: 'missing-tree' });
    expect(await joiner.refreshMailbox()).toEqual([]);
    expect(await joiner.hasWelcome(id)).toBe(false);
    await expect(joiner.enter(id)).rejects.toMatchObject({ code: 'missing-tree' });
    expect(joinByWelcome).toHaveBeenCalledOnce();
    await clock.advance(timings.rejoinPause);
    expect(await joiner.refreshMailbox()).toEqual([id]);
    expect(await joiner.hasWelcome(id)).toBe(true);
  });

  it('deletes Welcomes without their tree of which there would be no room for others', async () => {
    const large = (name: string) => ({ ...welcome, id: name, welcome: 'A'.repeat(600_000) });
    listWelcomes.mockResolvedValue([large('one'), large('other')]);
    joinByWelcome.mockRejectedValue(missingTree());
    await joiner.refreshMailbox();
    await joiner.enter(id);
    expect(deleteWelcome).toHaveBeenCalledExactlyOnceWith('other');
  });

  it('keeps the Welcome where the relay is out of reach as it asks for the tree', async () => {
    getTree.mockRejectedValue(new NetworkError('unreachable'));
    await joiner.refreshMailbox();
    await expect(joiner.enter(id)).rejects.toMatchObject({ code: 'unreachable' });
    expect(joinByWelcome).not.toHaveBeenCalled();
    expect(deleteWelcome).not.toHaveBeenCalled();
  });
});
