import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitSubmission, ConversationState, CryptoApi, ProcessResult } from '#src/crypto/client.ts';
import type { Api, LogPage } from '#src/net/api.ts';
import { createJoiner, type Joiner } from '#src/services/conversations/joiner.ts';
import { createSync, type Sync } from '#src/services/conversations/sync.ts';
import { timings } from '#src/services/core/timings.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused, state, type TestDeps, testDeps } from './support/deps.ts';

const groupId = '00000000-0000-4000-8000-0000000000a1';
const conversationId = `group:${groupId}`;
const time = '2026-03-01T12:00:00.000Z';

let deps: TestDeps;
let joiner: Joiner;
let sync: Sync;
/** This device's conversations. */
let own: ConversationState;
/** The length of the relay's log. */
let logLength: number;
const pages: LogPage[] = [];
const listeners = {
  onProcessed: vi.fn<(result: ProcessResult) => void>(),
  onRefused: vi.fn<(refusal: { conversationId: string; code: string }) => void>(),
};
const submitCommit = vi.fn<Api['submitCommit']>();
const addGroupMembers = vi.fn<Api['addGroupMembers']>();
const joinByExternalCommit = vi.fn<CryptoApi['joinByExternalCommit']>();
const nextCommit = vi.fn<CryptoApi['nextCommit']>();
const listWelcomes = vi.fn<Api['listWelcomes']>();
const joinByWelcome = vi.fn<CryptoApi['joinByWelcome']>();
const forgetConversation = vi.fn<CryptoApi['forgetConversation']>();

type Entry = Awaited<ReturnType<Api['listGroupMessages']>>[number];

function entry(seq: number): Entry {
  return {
    id: `e${seq}`,
    conversationId,
    seq,
    epoch: 1,
    kind: seq === 1 ? 'commit' : 'application',
    sender_id: peer,
    sender_device_id: 'device',
    receiver_id: null,
    group_id: groupId,
    content: 'AAAA',
    timestamp: time,
    created_at: time,
    delivered: false,
    is_read: false,
  };
}

function submission(change: Partial<CommitSubmission> = {}): CommitSubmission {
  return {
    conversationId,
    epoch: 3,
    commit: 'commit',
    welcomes: [{ deviceIds: ['device'], welcome: 'welcome' }],
    groupInfo: 'group',
    signature: 'signed',
    tree: null,
    sealedName: 'name',
    addedIds: [],
    removedIds: [],
    ...change,
  };
}

function groupState(change: Partial<ConversationState> = {}): ConversationState {
  return state({ conversationId, joinedAt: time, ...change });
}

beforeEach(() => {
  pages.length = 0;
  for (const mock of Object.values(listeners)) mock.mockReset();
  const sent = { id: 'commit', seq: 4, epoch: 3, timestamp: time };
  submitCommit.mockReset().mockResolvedValue(sent);
  addGroupMembers.mockReset().mockResolvedValue(sent);
  joinByExternalCommit.mockReset().mockImplementation(async () => submission());
  nextCommit.mockReset().mockResolvedValue(null);
  listWelcomes.mockReset().mockResolvedValue([]);
  joinByWelcome.mockReset();
  forgetConversation.mockReset().mockResolvedValue(undefined);
  own = groupState({ lastSeq: 3 });
  logLength = 3;
  deps = testDeps({
    api: {
      listGroupMessages: async (id, page) => {
        if (id !== groupId) throw refused('not-found');
        pages.push(page);
        const { after = 0, limit } = page;
        return Array.from({ length: logLength }, (_, index) => entry(index + 1))
          .filter(({ seq }) => seq > after)
          .slice(0, limit);
      },
      listWelcomes,
      deleteWelcome: async () => undefined,
      getGroupInfo: async () => ({ epoch: 3, groupInfo: 'group' }),
      submitCommit,
      addGroupMembers,
    },
    crypto: {
      conversation: async () => own,
      processEntries: async (_id, entries) => {
        own = { ...own, lastSeq: Math.max(own.lastSeq, entries.at(-1)?.seq ?? 0) };
        return { messages: [], events: [], state: own };
      },
      setReadPosition: async (_id, _reader, readSeq) => {
        own = { ...own, readSeq };
        return own;
      },
      joinByExternalCommit,
      joinByWelcome,
      nextCommit,
      forgetConversation,
    },
  });
  joiner = createJoiner(deps, me);
  deps.sessionEvents.on('entriesProcessed', listeners.onProcessed);
  deps.sessionEvents.on('groupRefused', listeners.onRefused);
  sync = createSync(deps, me, joiner);
});

const available = (seq: number) => ({ type: 'available', conversationId, seq }) as const;

describe('a device that was let in', () => {
  it('takes the digests from before its join, page by page, before it reads on', async () => {
    own = groupState({ lastSeq: 3, joinedSeq: 3, linkFrom: 0 });
    logLength = 4;
    const linked: number[][] = [];
    const asked: unknown[] = [];
    deps.api.listDigests = async (_id, query) => {
      asked.push(query);
      return [query.after + 1, query.after + 2]
        .filter((seq) => seq < query.before)
        .map((seq) => ({ seq, digest: `d${seq}` }));
    };
    deps.crypto.linkLog = async (_id, digests) => {
      linked.push(digests.map(({ seq }) => seq));
      const upTo = digests.at(-1)?.seq ?? 0;
      own = { ...own, linkFrom: upTo < 3 ? upTo : null };
      return { messages: [], events: [], state: own };
    };
    await sync.catchUp(conversationId);
    expect(asked).toEqual([
      { after: 0, before: 4 },
      { after: 2, before: 4 },
    ]);
    expect(linked).toEqual([[1, 2], [3]]);
    expect(own.lastSeq).toBe(4);
  });

  it('asks no further while the relay keeps them back', async () => {
    own = groupState({ lastSeq: 3, joinedSeq: 3, linkFrom: 0 });
    const listDigests = vi.fn<Api['listDigests']>().mockResolvedValue([]);
    deps.api.listDigests = listDigests;
    deps.crypto.linkLog = async () => ({ messages: [], events: [], state: own });
    await sync.catchUp(conversationId);
    expect(listDigests.mock.calls.length).toBeLessThan(5);
  });
});

describe('an entry that is there to fetch', () => {
  it('is fetched', async () => {
    logLength = 5;
    await sync.onAvailable(available(5), false);
    expect(pages[0]).toMatchObject({ after: 3 });
    expect(own.lastSeq).toBe(5);
    expect(listeners.onProcessed).toHaveBeenCalledOnce();
  });

  it('is not fetched when it has been processed', async () => {
    await sync.onAvailable(available(3), false);
    expect(pages).toEqual([]);
  });

  it('is not fetched when it is delivered first, while the chat is open', async () => {
    logLength = 4;
    const told = sync.onAvailable(available(4), true);
    await settled();
    own = { ...own, lastSeq: 4 };
    await deps.clock.advance(timings.streamedEntry);
    await told;
    expect(pages).toEqual([]);
  });

  it('is fetched when it is not delivered', async () => {
    logLength = 4;
    const told = sync.onAvailable(available(4), true);
    await deps.clock.advance(timings.streamedEntry);
    await told;
    expect(own.lastSeq).toBe(4);
  });
});

describe('a device that a Welcome let in', () => {
  it('looks up once when the commit was stored that let it in', async () => {
    own = groupState({ joinedAt: null, joinedSeq: 2, lastSeq: 3 });
    await sync.catchUp(conversationId);
    await sync.catchUp(conversationId);
    expect(pages.map(({ after, digestOf }) => [after, digestOf])).toEqual([
      // It can't read the commit, and needs no more of it than the digest.
      [1, 2],
      [3, undefined],
      [3, undefined],
    ]);
  });

  it('looks nothing up when it knows the time, or has started the group itself', async () => {
    own = groupState({ joinedAt: time, joinedSeq: 2, lastSeq: 3 });
    await sync.catchUp(conversationId);
    own = groupState({ joinedAt: null, joinedSeq: 0, lastSeq: 3 });
    await sync.catchUp(conversationId);
    expect(pages.map(({ after }) => after)).toEqual([3, 3]);
  });
});

describe('the mailbox of Welcomes', () => {
  const item = { id: 'w1', conversationId, epoch: 3, seq: 3, welcome: 'd2VsY29tZQ' };

  beforeEach(() => {
    own = groupState({ status: 'outside', lastSeq: 0 });
    joinByWelcome.mockImplementation(async () => {
      own = groupState({ lastSeq: 3 });
      return own;
    });
  });

  it('is read once for all who wait for the same Welcome', async () => {
    let answer: (items: (typeof item)[]) => void = () => undefined;
    listWelcomes.mockReturnValueOnce(
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    const told = joiner.refreshMailbox();
    const caughtUp = sync.catchUp(conversationId);
    await settled();
    answer([item]);
    expect(await told).toEqual([conversationId]);
    expect(await caughtUp).toMatchObject({ status: 'joined' });
    expect(listWelcomes).toHaveBeenCalledOnce();
    // Nor is the log asked whether there is anything to join.
    expect(pages.every(({ limit }) => limit > 1)).toBe(true);
    expect(joinByWelcome).toHaveBeenCalledOnce();
  });

  it('is read again when the reading under way failed', async () => {
    listWelcomes.mockRejectedValueOnce(refused('internal')).mockResolvedValueOnce([item]);
    const told = joiner.refreshMailbox();
    const caughtUp = sync.catchUp(conversationId);
    await expect(told).rejects.toMatchObject({ code: 'internal' });
    expect(await caughtUp).toMatchObject({ status: 'joined' });
    expect(listWelcomes).toHaveBeenCalledTimes(2);
  });

  it('with a Welcome lets a device in at once that was refused a moment ago', async () => {
    joinByExternalCommit.mockRejectedValue(Object.assign(new Error('policy'), { code: 'policy' }));
    expect(await sync.catchUp(conversationId)).toMatchObject({ status: 'outside' });
    // It is left alone for a while.
    await sync.catchUp(conversationId);
    expect(joinByExternalCommit).toHaveBeenCalledOnce();
    listWelcomes.mockResolvedValue([item]);
    await joiner.refreshMailbox();
    expect(await sync.catchUp(conversationId)).toMatchObject({ status: 'joined' });
    expect(joinByWelcome).toHaveBeenCalledOnce();
  });

  it('with a Welcome that does not open leads to nothing when the group is gone', async () => {
    listWelcomes.mockResolvedValue([item]);
    joinByWelcome.mockRejectedValue(Object.assign(new Error('missing-key'), { code: 'missing-key' }));
    logLength = 0;
    await joiner.refreshMailbox();
    expect(await sync.catchUp(conversationId)).toMatchObject({ status: 'outside' });
    expect(joinByWelcome).toHaveBeenCalledOnce();
    expect(joinByExternalCommit).not.toHaveBeenCalled();
  });
});

describe('a group that this device will not enter', () => {
  beforeEach(() => {
    own = groupState({ status: 'outside', lastSeq: 0 });
    joinByExternalCommit.mockRejectedValue(Object.assign(new Error('policy'), { code: 'policy' }));
  });

  it('is told of with its code, and left alone for a while', async () => {
    expect(await sync.catchUp(conversationId)).toMatchObject({ status: 'outside' });
    expect(listeners.onRefused).toHaveBeenCalledExactlyOnceWith({ conversationId, code: 'policy' });
    await sync.catchUp(conversationId);
    expect(joinByExternalCommit).toHaveBeenCalledOnce();
    await deps.clock.advance(timings.rejoinPause);
    await sync.catchUp(conversationId);
    expect(joinByExternalCommit).toHaveBeenCalledTimes(2);
  });

  it.each(['locked', 'storage', 'internal', 'session-ended'])(
    'is not reported when this browser fails with %s',
    async (code) => {
      joinByExternalCommit.mockRejectedValue(Object.assign(new Error(code), { code }));
      await expect(sync.catchUp(conversationId)).rejects.toMatchObject({ code });
      expect(listeners.onRefused).not.toHaveBeenCalled();
    },
  );

  it('is not reported when the relay refuses the external commit', async () => {
    submitCommit.mockRejectedValue(refused('internal'));
    joinByExternalCommit.mockResolvedValue(submission());
    await expect(sync.catchUp(conversationId)).rejects.toMatchObject({ code: 'internal' });
    expect(listeners.onRefused).not.toHaveBeenCalled();
  });
});

describe('a commit to a group', () => {
  it('goes with the name under its new key, and with whom it removes', async () => {
    expect(await joiner.submit(submission({ removedIds: [peer] }))).toBe(4);
    expect(submitCommit).toHaveBeenCalledExactlyOnceWith(conversationId, {
      epoch: 3,
      commit: 'commit',
      welcomes: [{ deviceIds: ['device'], welcome: 'welcome' }],
      groupInfo: 'group',
      signature: 'signed',
      start: 'start',
      sealedName: 'name',
      removed: [peer],
    });
  });

  it('that brings people goes together with them', async () => {
    expect(await joiner.submit(submission({ addedIds: [peer], sealedName: null }))).toBe(4);
    expect(addGroupMembers).toHaveBeenCalledExactlyOnceWith(groupId, {
      epoch: 3,
      commit: 'commit',
      welcomes: [{ deviceIds: ['device'], welcome: 'welcome' }],
      groupInfo: 'group',
      signature: 'signed',
      start: 'start',
      user_ids: [peer],
    });
    expect(submitCommit).not.toHaveBeenCalled();
  });

  it('answers null when another one came first', async () => {
    addGroupMembers.mockRejectedValue(refused('stale-epoch'));
    expect(await joiner.submit(submission({ addedIds: [peer] }))).toBeNull();
  });
});

describe('a start that was interrupted', () => {
  it('is brought on its way again', async () => {
    own = groupState({ status: 'starting', lastSeq: 0 });
    logLength = 0;
    nextCommit.mockResolvedValue(submission({ epoch: 0 }));
    submitCommit.mockImplementation(async () => {
      own = { ...own, status: 'joined' };
      return { id: 'commit', seq: 1, epoch: 0, timestamp: time };
    });
    expect(await sync.catchUp(conversationId)).toMatchObject({ status: 'joined' });
    expect(submitCommit).toHaveBeenCalledOnce();
  });

  it('waits when there is nothing to submit', async () => {
    own = groupState({ status: 'starting', lastSeq: 0 });
    logLength = 0;
    expect(await sync.catchUp(conversationId)).toMatchObject({ status: 'starting' });
    expect(submitCommit).not.toHaveBeenCalled();
  });
});

it('moves the read position of this person only', async () => {
  const read = { type: 'delivered', conversationId, messageId: 'e2', seq: 2 } as const;
  await sync.onDelivered({ ...read, readerId: peer });
  expect(own.readSeq).toBe(0);
  await sync.onDelivered({ ...read, readerId: me });
  expect(own.readSeq).toBe(2);
});

it('forgets a group after what is under way in it', async () => {
  logLength = 5;
  const caughtUp = sync.catchUp(conversationId);
  await Promise.all([caughtUp, sync.forget(conversationId)]);
  expect(forgetConversation).toHaveBeenCalledExactlyOnceWith(conversationId);
  expect(own.lastSeq).toBe(5);
});
