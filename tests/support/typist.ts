import type { Prompt, Question, Typed } from '../../workers/api/prompt.ts';
import { createPrompt } from '../../workers/entry/prompt.ts';

/** Types at the frame of the keys, as a person does: into what is asked, again while the password is wrong. */
export class Typist {
  /** Questions that were asked so far. */
  readonly asked: Question[] = [];
  /** Returns what is typed at each attempt, the first being 1; null calls it off. */
  type: (question: Question, attempt: number) => Typed | null = () => null;

  /** Types this password from now on; where it is wrong, calls the operation off. */
  knows(password: string, newPassword: string | null = null): void {
    this.type = (_question, attempt) => (attempt === 1 ? { password, newPassword } : null);
  }

  /** The frame of a new worker. */
  newPrompt(): Prompt {
    let question: Question | null = null;
    let number = 0;
    let attempt = 0;
    const port = createPrompt((request) => {
      if (request.type === 'answered') return;
      if (request.type === 'ask') {
        ({ number, question } = request);
        attempt = 0;
        this.asked.push(question);
      }
      if (question === null) return;
      attempt += 1;
      const typed = this.type(question, attempt);
      queueMicrotask(() => port.receive({ type: 'answer', number, typed }));
    });
    return port;
  }
}
