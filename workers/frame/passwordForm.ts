import type { OperationKind, PromptAnswer, PromptRequest, Question, Typed } from '../api/prompt.ts';
import { fill, textsOf } from './texts.ts';

/** The look of the page, which the form takes on. */
export interface Look {
  readonly language: string;
  /** `light` or `dark`; anything else leaves it to the person's system. */
  readonly theme: string;
}

/** The form that asks for the password, over the page. */
export interface PasswordForm {
  /** Takes what the worker says. */
  receive(request: PromptRequest): void;
  /** Opens, once the page has made the frame visible; does nothing while nothing is asked. */
  open(look: Look): void;
  /** Calls the operation off. */
  cancel(): void;
  /** Closes without an answer: the worker that asked is gone. */
  close(): void;
}

interface FormOptions {
  /** Has the page make the frame visible, which answers by {@link PasswordForm.open}, or hide it. */
  readonly setVisible: (visible: boolean) => void;
  readonly answer: (answer: PromptAnswer) => void;
}

type Step = 'password' | 'change' | 'key' | 'keep';

/** The marks that could make a name pass for another, or hide what stands beside it. */
const invisibleMarks = /[\p{Cc}\p{Cf}]/gu;

function element<T extends Element>(selector: string, type: new () => T): T {
  const found = document.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`keys.html has no ${selector}`);
  return found;
}

export function createPasswordForm({ setVisible, answer }: FormOptions): PasswordForm {
  const dialog = element('dialog', HTMLDialogElement);
  const form = element('form', HTMLFormElement);
  const part = (id: string) => element(`#${id}`, HTMLElement);
  const input = (id: string) => element(`#${id}`, HTMLInputElement);
  const key = part('key');
  const number = part('number');
  const copied = part('copied');
  const submit = part('submit');
  const password = input('password');
  const newPassword = input('new-password');
  const repeated = input('repeated');
  const group = input('group');
  const reveal = input('reveal');

  let asked: { readonly number: number; readonly question: Question } | null = null;
  /** The form is open for a question, and nobody here has closed it. */
  let isShown = false;
  let texts = textsOf('');
  let step: Step = 'password';
  let isBusy = false;
  /** The index of the group that the person types from the copy. */
  let wanted = 0;

  const groups = (): string[] => asked?.question.recoveryKey?.split('-') ?? [];

  function draw(): void {
    for (const fields of form.querySelectorAll<HTMLFieldSetElement>('fieldset[data-step]')) {
      fields.hidden = fields.dataset.step?.split(' ').includes(step) === false;
      // A password manager must not fill in a hidden field.
      for (const field of fields.querySelectorAll('input')) field.disabled = fields.hidden;
    }
    for (const field of [password, newPassword, repeated]) field.type = reveal.checked ? 'text' : 'password';
    part('title').textContent = step === 'key' ? texts('keyTitle') : texts('title');
    submit.textContent = isBusy ? texts('checking') : step === 'key' ? texts('kept') : texts('confirm');
    submit.setAttribute('aria-disabled', String(isBusy));
  }

  function focus(): void {
    const first = { password, change: password, key, keep: group };
    first[step].focus();
  }

  function go(to: Step): void {
    step = to;
    complain('');
    draw();
    focus();
  }

  /** @param at the field that is wrong */
  function complain(text: string, at?: HTMLInputElement): void {
    part('problem').textContent = text;
    for (const field of [password, repeated, group]) {
      field.setAttribute('aria-invalid', String(field === at));
    }
    at?.select();
  }

  function reply(typed: Typed | null): void {
    if (asked !== null) answer({ type: 'answer', number: asked.number, typed });
  }

  function close(): void {
    if (asked === null) return;
    asked = null;
    isShown = false;
    isBusy = false;
    form.reset();
    key.replaceChildren();
    number.replaceChildren();
    copied.textContent = '';
    dialog.close();
    setVisible(false);
  }

  function confirm(): void {
    if (isBusy) return;
    if (step === 'key') return go('keep');
    if (step === 'keep' && asGroup(group.value) !== groups()[wanted])
      return complain(texts('wrongGroup'), group);
    if (step === 'change' && newPassword.value !== repeated.value) {
      return complain(texts('repeatMismatch'), repeated);
    }
    complain('');
    isBusy = true;
    draw();
    reply({ password: password.value, newPassword: step === 'change' ? newPassword.value : null });
  }

  function cancel(): void {
    reply(null);
    close();
  }

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(groups().join('-'));
      copied.textContent = texts('copied');
    } catch {
      copied.textContent = texts('copyFailed');
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    confirm();
  });
  reveal.addEventListener('change', draw);
  part('copy').addEventListener('click', () => void copy());
  part('back').addEventListener('click', () => go('key'));
  part('cancel').addEventListener('click', cancel);
  // By Escape. A hidden frame is told of its closing when it is next seen, which is when something else is asked.
  dialog.addEventListener('close', () => {
    if (isShown && !dialog.open) cancel();
  });
  // The page gives the frame the focus when the browser has made it visible, which may be after it has opened.
  window.addEventListener('focus', () => {
    if (dialog.open && !form.contains(document.activeElement)) focus();
  });

  return {
    receive(request) {
      if (request.type === 'answered') return close();
      if (request.type === 'ask') {
        asked = request;
        return setVisible(true);
      }
      isBusy = false;
      draw();
      complain(texts('wrongPassword'), password);
    },

    open({ language, theme }) {
      if (asked === null || dialog.open) return;
      const { kind, recoveryKey, safetyNumber, target, username } = asked.question;
      document.documentElement.lang = language;
      document.documentElement.dataset.theme = theme;
      texts = textsOf(language);
      for (const fixed of form.querySelectorAll<HTMLElement>('[data-text]')) {
        fixed.textContent = texts(fixed.dataset.text ?? '');
      }
      fill(part('sentence'), texts(kind), target.replace(invisibleMarks, ''));
      part('password-label').textContent = setsPassword(kind) ? texts('currentPassword') : texts('password');
      input('username').value = username;
      wanted = Math.floor(Math.random() * groups().length);
      fill(part('group-label'), texts('group'), String(wanted + 1));
      key.replaceChildren(...groups().map(listItem));
      number.replaceChildren(...(safetyNumber?.match(/.{5}/g) ?? []).map(listItem));
      part('number-shown').hidden = safetyNumber === null;
      dialog.showModal();
      isShown = true;
      go(recoveryKey !== null ? 'key' : setsPassword(kind) ? 'change' : 'password');
    },

    cancel,
    close,
  };
}

/** Returns whether an operation takes a new password beside the present one. */
function setsPassword(kind: OperationKind): boolean {
  return kind === 'change-password' || kind === 'move-on';
}

function listItem(text: string): HTMLLIElement {
  const item = document.createElement('li');
  item.textContent = text;
  return item;
}

/** Reads a group as people type it: in any case, with O for 0 and I or L for 1. */
function asGroup(typed: string): string {
  return typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
}
