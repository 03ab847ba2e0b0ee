import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitSubmission, ConversationState } from '#src/crypto/client.ts';
import { errorCode } from '#src/lib/errorCode.ts';
import type { Api, LogPage } from '#src/net/api.ts';
import { NetworkError } from '#src/net/errors.ts';
import { createJoiner, type Joiner } from '#src/services/conversations/joiner.ts';
import { createSync, type Sync } from '#src/services/conversations/sync.ts';
import { settled } from '../net/support/fakeClock.ts';
import { me, peer, refused, state, testDeps } from './support/deps.ts';

const groupId = '00000000-0000-4000-8000-0000000000a1';
const conversationId = `group:${groupId}`;
const time = '2026-03-01T12:00:00.000Z';
const submission: CommitSubmission = {
  conversationId,
  epoch: 3,
  commit: 'commit',
  welcomes: [],
  groupInfo: 'group',
  signature: 'signed',
  tree: null,
  sealedName: null,
  addedIds: [],
  removedIds: [],
};
const sent = { id: 'commit', seq: 5, epoch: 3, timestamp: time };

let own: ConversationState;
let pages: LogPage[];
let joiner: Joiner;
let sync: Sync;
const submitCommit = vi.fn<Api['submitCommit']>();

beforeEach(() => {
  own = state({ conversationId, joinedAt: time, joinedSeq: 1, lastSeq: 3 });
  pages = [];
  submitCommit.mockReset().mockResolvedValue(sent);
  const deps = testDeps({
    api: {
      submitCommit,
      listGroupMessages: async (_id, page) => {
        pages.push(page);
        const { after = 0 } = page;
        const entries = [4, 5].filter((seq) => seq > after).map((seq) => ({ conversationId, seq }));
        return entries as unknown as Awaited<ReturnType<Api['listGroupMessages']>>;
      },
    },
    crypto: {
      conversation: async () => own,
      processEntries: async (_id, entries) => {
        own = { ...own, lastSeq: entries.at(-1)?.seq ?? own.lastSeq };
        return { messages: [], events: [], state: own };
      },
    },
  });
  joiner = createJoiner(deps, me);
  sync = createSync(deps, me, joiner);
});

const asked = () => pages.map(({ after, digestOf }) => [after, digestOf]);
const available = { type: 'available', conversationId, seq: 5 } as const;

describe('an own commit in the log', () => {
  it('is asked for by its digest alone, once its position is known, and what is behind it as a whole', async () => {
    const seq = await joiner.submit(submission);
    await sync.catchUp(conversationId, seq ?? undefined);
    await sync.catchUp(conversationId);
    expect(asked()).toEqual([
      [3, 5],
      [5, undefined],
    ]);
  });

  it('is not fetched because it is told of before the answer is here', async () => {
    let answer: (value: typeof sent) => void = () => undefined;
    submitCommit.mockReturnValue(new Promise((resolve) => (answer = resolve)));
    const taken = joiner.submit(submission);
    const told = sync.onAvailable(available, false);
    await settled();
    expect(asked()).toEqual([]);
    answer(sent);
    await taken;
    await told;
    expect(asked()).toEqual([[3, 5]]);
  });

  it.each([
    ['another one came first', refused('stale-epoch'), null],
    ['the answer is lost', new NetworkError('unreachable'), 'unreachable'],
  ])('is fetched as any other where %s', async (_what, failure, code) => {
    submitCommit.mockRejectedValue(failure);
    const outcome = await joiner.submit(submission).catch(errorCode);
    expect(outcome).toBe(code);
    await sync.onAvailable(available, false);
    expect(asked()).toEqual([[3, undefined]]);
  });

  it('of another conversation is none of this one', async () => {
    await joiner.submit({ ...submission, conversationId: `direct:${me}:${peer}` });
    await sync.catchUp(conversationId, 5);
    expect(asked()).toEqual([[3, undefined]]);
  });
});
