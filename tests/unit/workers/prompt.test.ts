import { describe, expect, it } from 'vitest';
import { CryptoApiError } from '#workers/api/errors.ts';
import type { PromptRequest, Question, Typed } from '#workers/api/prompt.ts';
import { createPrompt } from '#workers/entry/prompt.ts';

const question: Question = {
  kind: 'delete-account',
  target: 'anna',
  username: 'anna',
  recoveryKey: null,
  safetyNumber: null,
};
const typed = (password: string): Typed => ({ password, newPassword: null });

/** A prompt whose frame answers nothing by itself. */
function begin() {
  const said: PromptRequest[] = [];
  const prompt = createPrompt((request) => said.push(request));
  const answer = (number: number, answered: Typed | null) =>
    prompt.receive({ type: 'answer', number, typed: answered });
  return { said, prompt, answer };
}

const rightIs = (password: string) => async (given: Typed) => {
  if (given.password !== password) throw new CryptoApiError('wrong-password');
  return `by ${password}`;
};

describe('a question in the frame', () => {
  it('is asked until the password is right, and then no more', async () => {
    const { answer, prompt, said } = begin();
    const asked = prompt.ask(question, rightIs('right'));
    answer(1, typed('wrong'));
    await Promise.resolve();
    await expect.poll(() => said.at(-1)).toEqual({ type: 'wrong-password' });
    answer(1, typed('right'));
    expect(await asked).toBe('by right');
    expect(said).toEqual([
      { type: 'ask', number: 1, question },
      { type: 'wrong-password' },
      { type: 'answered' },
    ]);
  });

  it('is not replaced by another, which would be answered by who has read the first', async () => {
    const { answer, prompt, said } = begin();
    const asked = prompt.ask(question, rightIs('right'));
    const second = prompt.ask({ ...question, kind: 'change-names' }, rightIs('right'));
    await expect(second).rejects.toMatchObject({ code: 'usage' });
    expect(said).toHaveLength(1);
    answer(1, typed('right'));
    expect(await asked).toBe('by right');
  });

  it('takes no answer to the one before', async () => {
    const { answer, prompt } = begin();
    const first = prompt.ask(question, rightIs('right'));
    answer(1, null);
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    const second = prompt.ask(question, async ({ password }) => password);
    answer(1, typed('for the first'));
    answer(2, typed('for the second'));
    expect(await second).toBe('for the second');
  });

  it('gives nothing when it is called off while the password is checked', async () => {
    const { answer, prompt } = begin();
    let finish = () => {};
    const checked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const asked = prompt.ask(question, async () => checked);
    answer(1, typed('right'));
    answer(1, null);
    finish();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('ends with whatever else fails, and another can be asked', async () => {
    const { answer, prompt, said } = begin();
    const asked = prompt.ask(question, async () => {
      throw new CryptoApiError('locked');
    });
    answer(1, typed('right'));
    await expect(asked).rejects.toMatchObject({ code: 'locked' });
    expect(said.at(-1)).toEqual({ type: 'answered' });
    const next = prompt.ask(question, rightIs('right'));
    answer(2, typed('right'));
    expect(await next).toBe('by right');
  });
});
