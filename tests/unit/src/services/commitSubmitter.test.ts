import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommitSubmission, CryptoApi } from '#src/crypto/client.ts';
import { type CommitSubmitter, createCommitSubmitter } from '#src/services/conversations/commitSubmitter.ts';
import type { Joiner } from '#src/services/conversations/joiner.ts';
import { peer, refused, state, testDeps } from './support/deps.ts';

const id = `group:${peer}`;

function submission(commit: string, change: Partial<CommitSubmission> = {}): CommitSubmission {
  return {
    conversationId: id,
    epoch: 4,
    commit,
    welcomes: [],
    groupInfo: 'group',
    signature: 'signed',
    tree: null,
    sealedName: null,
    addedIds: [],
    removedIds: [],
    ...change,
  };
}

const adding = submission('adding', { addedIds: [peer] });

let commitSubmitter: CommitSubmitter;
const submit = vi.fn<Joiner['submit']>();
const catchUp = vi.fn<() => Promise<ReturnType<typeof state>>>();
const nextCommit = vi.fn<CryptoApi['nextCommit']>();
const discardCommit = vi.fn<CryptoApi['discardCommit']>();

beforeEach(() => {
  submit.mockReset().mockResolvedValue(9);
  catchUp.mockReset().mockResolvedValue(state());
  nextCommit.mockReset().mockResolvedValue(null);
  discardCommit.mockReset().mockResolvedValue(state());
  const deps = testDeps({ crypto: { nextCommit, discardCommit } });
  commitSubmitter = createCommitSubmitter(deps, { submit }, { catchUp });
});

describe('a commit to be submitted', () => {
  it('that is taken takes effect in the log', async () => {
    expect(await commitSubmitter.submit(adding)).toEqual({ kind: 'taken' });
    expect(catchUp).toHaveBeenCalledExactlyOnceWith(id, 9);
  });

  it('that was overtaken is followed by the log that overtook it', async () => {
    submit.mockResolvedValue(null);
    expect(await commitSubmitter.submit(adding)).toEqual({ kind: 'overtaken' });
    expect(catchUp).toHaveBeenCalledOnce();
  });

  it.each([
    'forbidden',
    'not-a-contact',
    'already-member',
    'limit-reached',
    'quota',
    'invalid-request',
    'payload-too-large',
  ] as const)(
    'whose people are refused (%s) is dropped once the log shows that it is not there',
    async (code) => {
      const refusal = refused(code);
      submit.mockRejectedValue(refusal);
      nextCommit.mockImplementation(async () => {
        expect(catchUp).toHaveBeenCalledOnce();
        return adding;
      });
      expect(await commitSubmitter.submit(adding)).toEqual({ kind: 'refused', reason: refusal });
      expect(discardCommit).toHaveBeenCalledExactlyOnceWith(id);
    },
  );

  it('whose people are refused because an earlier attempt got through is not dropped', async () => {
    submit.mockRejectedValue(refused('already-member'));
    nextCommit.mockResolvedValue(submission('another'));
    expect(await commitSubmitter.submit(adding)).toEqual({ kind: 'overtaken' });
    expect(discardCommit).not.toHaveBeenCalled();
  });

  it.each(['unavailable', 'rate-limited', 'not-found'] as const)('waits through %s', async (code) => {
    submit.mockRejectedValue(refused(code));
    await expect(commitSubmitter.submit(adding)).rejects.toMatchObject({ code });
    expect(discardCommit).not.toHaveBeenCalled();
  });

  it('without people is never dropped for a refusal: it would be made again', async () => {
    submit.mockRejectedValue(refused('not-a-contact'));
    await expect(commitSubmitter.submit(submission('healing'))).rejects.toMatchObject({
      code: 'not-a-contact',
    });
    expect(nextCommit).not.toHaveBeenCalled();
  });
});

describe('a commit that waits in two places at once', () => {
  it('is submitted once, and both learn what became of it', async () => {
    let answer: (seq: number) => void = () => undefined;
    submit.mockReturnValue(new Promise((resolve) => (answer = resolve)));
    nextCommit.mockResolvedValueOnce(adding);
    const settling = commitSubmitter.settle(id);
    const submitting = commitSubmitter.submit(adding);
    await vi.waitFor(() => expect(submit).toHaveBeenCalled());
    answer(9);
    await expect(submitting).resolves.toEqual({ kind: 'taken' });
    await settling;
    expect(submit).toHaveBeenCalledOnce();
  });

  it('is submitted once while the log that has it is being read', async () => {
    let read: (log: ReturnType<typeof state>) => void = () => undefined;
    catchUp.mockReturnValue(new Promise((resolve) => (read = resolve)));
    const first = commitSubmitter.submit(adding);
    await vi.waitFor(() => expect(catchUp).toHaveBeenCalled());
    const second = commitSubmitter.submit(adding);
    read(state());
    expect(await Promise.all([first, second])).toEqual([{ kind: 'taken' }, { kind: 'taken' }]);
    expect(submit).toHaveBeenCalledOnce();
  });

  it('is submitted again after a failure', async () => {
    submit.mockRejectedValueOnce(refused('unavailable'));
    await expect(commitSubmitter.submit(adding)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await commitSubmitter.submit(adding)).toEqual({ kind: 'taken' });
    expect(submit).toHaveBeenCalledTimes(2);
  });
});

describe('settling the commits of a conversation', () => {
  it('submits the waiting commits one after another until none is left', async () => {
    nextCommit.mockResolvedValueOnce(submission('first')).mockResolvedValueOnce(submission('second'));
    await commitSubmitter.settle(id);
    expect(submit.mock.calls.map(([given]) => given.commit)).toEqual(['first', 'second']);
  });

  it('gives up when the commits of others always come first', async () => {
    submit.mockResolvedValue(null);
    nextCommit.mockResolvedValue(submission('late'));
    await commitSubmitter.settle(id);
    expect(submit.mock.calls.length).toBeLessThan(20);
  });
});
