import { readFileSync } from 'node:fs';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { operationKinds, type PromptAnswer, type Question } from '#workers/api/prompt.ts';
import { createPasswordForm, type PasswordForm } from '#workers/frame/passwordForm.ts';

const html = readFileSync('workers/frame/keys.html', 'utf8');
const body = /<body>([\s\S]*)<script/.exec(html)?.[1] ?? '';
const recoveryKey = '000G-40R4-0M30-E209-185G-R38E-1W81-24GK-2GAH-C5RR-34D1-P70X-3RFJ-K472';
const look = { language: 'en', theme: 'light' };

const setVisible = vi.fn<(visible: boolean) => void>();
const answer = vi.fn<(answer: PromptAnswer) => void>();
let form: PasswordForm;
let number = 0;

beforeEach(() => {
  vi.resetAllMocks();
  document.body.innerHTML = body;
  form = createPasswordForm({ setVisible, answer });
});

// Other files draw into the same document.
afterEach(() => {
  document.body.replaceChildren();
  delete document.documentElement.dataset.theme;
  document.documentElement.lang = '';
});

function ask(question: Partial<Question> = {}) {
  number += 1;
  const whole = {
    kind: 'delete-account',
    target: 'anna',
    username: 'anna',
    recoveryKey: null,
    safetyNumber: null,
    ...question,
  };
  form.receive({ type: 'ask', number, question: whole as Question });
  form.open(look);
  return userEvent.setup();
}

const sentence = () => document.querySelector('#sentence')?.textContent;
const field = (name: string) => screen.getByLabelText<HTMLInputElement>(name);
const press = (name: string) => screen.getByRole('button', { name });
const problem = () => screen.getByRole('alert').textContent;

describe('the words of the frame', () => {
  const words = (language: string) =>
    [
      ...(document.querySelector<HTMLTemplateElement>(`template[lang="${language}"]`)?.content.children ??
        []),
    ].map((one): [string, string] => [one.getAttribute('data-text') ?? '', one.textContent]);

  it('are the same in both languages, each with its target', () => {
    const targets = (language: string) =>
      words(language)
        .map(([name, text]) => `${name} ${text.split('{target}').length - 1}`)
        .toSorted();
    expect(targets('en').length).toBeGreaterThan(operationKinds.length);
    expect(targets('fi')).toEqual(targets('en'));
  });

  it('name every operation and its target', () => {
    const named = words('en').filter(([, text]) => text.includes('{target}'));
    expect(named.map(([name]) => name)).toEqual(expect.arrayContaining([...operationKinds]));
  });

  it('are there for every part of the form', () => {
    ask();
    const names = words('en').map(([name]) => name);
    for (const part of document.querySelectorAll<HTMLElement>('form [data-text]')) {
      expect(names).toContain(part.dataset.text);
    }
  });
});

describe('the form that asks for the password', () => {
  it('stays closed until the page shows the frame, and while nothing is asked', () => {
    form.open(look);
    expect(screen.queryByRole('dialog')).toBeNull();
    form.receive({
      type: 'ask',
      number: 99,
      question: {
        kind: 'delete-account',
        target: 'anna',
        username: 'anna',
        recoveryKey: null,
        safetyNumber: null,
      },
    });
    expect(setVisible).toHaveBeenCalledExactlyOnceWith(true);
    expect(screen.queryByRole('dialog')).toBeNull();
    form.open(look);
    expect(screen.getByRole('dialog')).toBeVisible();
  });

  describe('when the browser tells late that it has closed, as it does once a hidden frame is seen again', () => {
    const dialog = () => document.querySelector('dialog');
    const tellOfClosing = () => dialog()?.dispatchEvent(new Event('close'));

    it('goes on asking the next question, which is open by then', () => {
      ask();
      form.receive({ type: 'answered' });
      ask({ target: 'the next' });
      tellOfClosing();
      expect(answer).not.toHaveBeenCalled();
      expect(screen.getByRole('dialog')).toBeVisible();
    });

    it('asks the first question of another worker, which has the same number', () => {
      ask();
      form.close();
      number -= 1;
      setVisible.mockImplementation((visible) => void (visible && tellOfClosing()));
      ask({ target: 'the next' });
      expect(answer).not.toHaveBeenCalled();
      expect(screen.getByRole('dialog')).toBeVisible();
    });

    it('calls off what it asks if the person has closed it', () => {
      ask();
      dialog()?.removeAttribute('open');
      tellOfClosing();
      expect(answer).toHaveBeenCalledExactlyOnceWith({ type: 'answer', number, typed: null });
      expect(setVisible).toHaveBeenLastCalledWith(false);
    });
  });

  it.each([
    ['en', 'You remove the device Firefox from your account.'],
    ['fi', 'Poistat laitteen Firefox tililtäsi.'],
    ['sv', 'You remove the device Firefox from your account.'],
  ])('speaks the language of the page: %s', (language, words) => {
    number += 1;
    const question = {
      kind: 'revoke-device',
      target: 'Firefox',
      username: 'anna',
      recoveryKey: null,
      safetyNumber: null,
    } as const;
    form.receive({ type: 'ask', number, question });
    form.open({ language, theme: 'dark' });
    expect(sentence()).toBe(words);
    expect(document.documentElement.dataset.theme).toBe('dark');
  });

  it('shows a target as text, without marks that turn what stands beside it', () => {
    ask({ kind: 'revoke-device', target: '<b>\u202EFire\u200Bfox\n' });
    expect(sentence()).toBe('You remove the device <b>Firefox from your account.');
    expect(document.querySelector('bdi')?.textContent).toBe('<b>Firefox');
  });

  it('shows the safety number of whom it is about, and none with the next question', () => {
    const safetyNumber = '0123456789'.repeat(6);
    ask({ kind: 'mark-verified', target: 'bob', safetyNumber });
    const list = screen.getByRole('list', { name: 'Their device must show this safety number:' });
    expect(list).toBeVisible();
    const groups = within(list).getAllByRole('listitem');
    expect(groups.map(({ textContent }) => textContent)).toEqual(
      Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? '01234' : '56789')),
    );
    form.receive({ type: 'answered' });
    ask();
    expect(screen.queryByText('Their device must show this safety number:')).not.toBeVisible();
    expect(document.querySelector('#number')?.textContent).toBe('');
  });

  it('sends what was typed once, and keeps nothing of it', async () => {
    const user = ask();
    expect(field('Password')).toHaveFocus();
    await user.keyboard('secret{Enter}{Enter}');
    const typed = { password: 'secret', newPassword: null };
    expect(answer).toHaveBeenCalledExactlyOnceWith({ type: 'answer', number, typed });
    form.receive({ type: 'answered' });
    expect(setVisible).toHaveBeenLastCalledWith(false);
    expect(document.querySelector<HTMLInputElement>('#password')?.value).toBe('');
  });

  it('says that the password is wrong, and takes another', async () => {
    const user = ask();
    await user.keyboard('guess{Enter}');
    form.receive({ type: 'wrong-password' });
    expect(problem()).toBe('This is not your password.');
    expect(field('Password')).toBeInvalid();
    await user.clear(field('Password'));
    await user.type(field('Password'), 'secret{Enter}');
    expect(answer).toHaveBeenLastCalledWith({
      type: 'answer',
      number,
      typed: { password: 'secret', newPassword: null },
    });
    expect(problem()).toBe('');
  });

  it('calls the operation off by Cancel', async () => {
    const user = ask();
    await user.keyboard('secret');
    await user.click(press('Cancel'));
    expect(answer).toHaveBeenCalledExactlyOnceWith({ type: 'answer', number, typed: null });
    expect(setVisible).toHaveBeenLastCalledWith(false);
    ask();
    expect(field('Password').value).toBe('');
  });

  it.each(['change-password', 'move-on'] as const)(
    'takes a new password that was typed twice alike, for %s',
    async (kind) => {
      const user = ask({ kind });
      await user.type(field('Current password'), 'old');
      await user.type(field('New password'), 'new');
      await user.type(field('New password again'), 'knew{Enter}');
      expect(problem()).toBe('The two passwords are not the same.');
      expect(answer).not.toHaveBeenCalled();
      await user.clear(field('New password again'));
      await user.type(field('New password again'), 'new{Enter}');
      const typed = { password: 'old', newPassword: 'new' };
      expect(answer).toHaveBeenCalledExactlyOnceWith({ type: 'answer', number, typed });
    },
  );

  it('shows what is typed while the person wants that', async () => {
    const user = ask();
    expect(field('Password').type).toBe('password');
    await user.click(field('Show what I type'));
    expect(field('Password').type).toBe('text');
    await user.click(press('Cancel'));
    ask();
    expect(field('Password').type).toBe('password');
  });
});

describe('a new recovery key', () => {
  /** The group that is asked for. */
  const asked = () =>
    recoveryKey.split('-')[Number(/\d+/.exec(field(groupLabel()).labels?.[0]?.textContent ?? '')?.[0]) - 1] ??
    '';
  const groupLabel = () => document.querySelector('#group-label')?.textContent ?? '';

  it('is shown, then asked for in part, from the copy, together with the password', async () => {
    const user = ask({ kind: 'create-recovery-key', recoveryKey });
    expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(
      recoveryKey.split('-'),
    );
    await user.click(press('I have kept it'));
    expect(field(groupLabel())).toHaveFocus();
    expect(screen.queryAllByRole('listitem').filter((item) => item.checkVisibility?.() ?? false)).toEqual([]);
    await user.type(field('Password'), 'secret');
    await user.type(field(groupLabel()), 'NOPE{Enter}');
    expect(problem()).toBe('That is not what the key says there. Please check your copy.');
    expect(answer).not.toHaveBeenCalled();
    await user.clear(field(groupLabel()));
    // As people type it: in any case, with O for 0 and I or L for 1.
    const typed = asked().toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l');
    await user.type(field(groupLabel()), ` ${typed} {Enter}`);
    expect(answer).toHaveBeenCalledExactlyOnceWith({
      type: 'answer',
      number,
      typed: { password: 'secret', newPassword: null },
    });
    form.receive({ type: 'answered' });
    expect(document.body.textContent).not.toContain(recoveryKey.slice(0, 4));
  });

  it('can be seen again, and copied', async () => {
    const user = ask({ kind: 'replace-recovery-key', recoveryKey });
    await user.click(press('I have kept it'));
    await user.click(press('Show the key again'));
    await user.click(press('Copy'));
    expect(await navigator.clipboard.readText()).toBe(recoveryKey);
    expect(await screen.findByText('Recovery key copied. Paste it somewhere safe.')).toBeVisible();
  });
});
