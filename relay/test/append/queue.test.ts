import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AppendOutcome, NewEntry } from '../../src/messaging/append/append.ts';
import { AppendQueue } from '../../src/messaging/append/queue.ts';

interface Batch {
  readonly ids: readonly string[];
  readonly now: number;
  /** The database has committed it. */
  readonly commit: () => void;
  readonly fail: (error: unknown) => void;
}

let batches: Batch[];
let now: number;
let queue: AppendQueue;
beforeEach(() => {
  batches = [];
  now = 0;
  queue = new AppendQueue(
    {
      append: (entries, time) =>
        new Promise((resolve, reject) => {
          const ids = entries.map(({ messageId }) => messageId);
          const commit = () => resolve(ids.map((_id, index) => appended(index + 1)));
          batches.push({ ids, now: time, commit, fail: reject });
        }),
      laneOf: ({ conversationId }) => conversationId,
    },
    () => now,
  );
});

const appended = (seq: number): AppendOutcome => ({
  type: 'appended',
  seq,
  epoch: 1,
  createdAt: 0,
  delivery: null,
});

const entry = (messageId: string, conversationId = 'one', content = 'AAAA'): NewEntry => ({
  conversationId,
  recipientId: 'recipient',
  messageId,
  epoch: 1,
  content,
  senderId: 'sender',
  sessionId: 'session',
  start: null,
});

const ids = () => batches.map((batch) => batch.ids);

describe('messages in the queue', () => {
  it('that arrive in one turn of the event loop go together, and each gets its own outcome', async () => {
    const outcomes = Promise.all(['a', 'b', 'c'].map((id) => queue.append(entry(id))));
    expect(batches).toEqual([]);
    await nextTurn();
    expect(ids()).toEqual([['a', 'b', 'c']]);
    batches[0]?.commit();
    expect(await outcomes).toEqual([appended(1), appended(2), appended(3)]);
  });

  it('that arrive while a batch is on its way go together after it, with the time of their own batch', async () => {
    const first = queue.append(entry('a'));
    await nextTurn();
    const others = [queue.append(entry('b')), queue.append(entry('c'))];
    await nextTurn();
    expect(ids()).toEqual([['a']]);
    now = 5;
    batches[0]?.commit();
    await first;
    await nextTurn();
    expect(ids()).toEqual([['a'], ['b', 'c']]);
    expect(batches[1]?.now).toBe(5);
    batches[1]?.commit();
    await Promise.all(others);
  });

  it('of another lane wait for nobody', async () => {
    void queue.append(entry('a', 'one'));
    void queue.append(entry('b', 'other'));
    await nextTurn();
    expect(ids()).toEqual([['a'], ['b']]);
  });

  it('go at once when their lane is idle again', async () => {
    for (const id of ['a', 'b']) {
      const outcome = queue.append(entry(id));
      await nextTurn();
      batches.at(-1)?.commit();
      await outcome;
    }
    expect(ids()).toEqual([['a'], ['b']]);
  });

  it('fail with their batch, and with no other', async () => {
    const failed = [queue.append(entry('a')), queue.append(entry('b'))];
    await nextTurn();
    const later = queue.append(entry('c'));
    const failure = new Error('no disk');
    batches[0]?.fail(failure);
    expect(await Promise.allSettled(failed)).toEqual([
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure },
    ]);
    await nextTurn();
    batches[1]?.commit();
    expect(await later).toEqual(appended(1));
  });
});

describe('a batch of messages', () => {
  it('takes 512 messages', async () => {
    const all = Array.from({ length: 513 }, (_none, index) => queue.append(entry(`${index}`)));
    await nextTurn();
    batches[0]?.commit();
    await all[0];
    await nextTurn();
    expect(ids().map(({ length }) => length)).toEqual([512, 1]);
  });

  it('takes 4 MiB of content, and a longer message alone', async () => {
    const half = 'A'.repeat(2 * 1024 * 1024);
    const contents = [half, half, 'AAAA', `${half}${half}AAAA`, 'AAAA'];
    for (const [index, content] of contents.entries()) void queue.append(entry(`${index}`, 'one', content));
    for (let done = 0; done < 4; done += 1) {
      await nextTurn();
      batches[done]?.commit();
      await nextTurn();
    }
    expect(ids()).toEqual([['0', '1'], ['2'], ['3'], ['4']]);
  });
});
