import { expect, type Locator, type Page } from '@playwright/test';

/** A person without a mouse: each step looks that the focus is somewhere, and can be seen there. */
export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      await this.#page.keyboard.press(key);
      await this.hasFocus();
    }
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
    await this.hasFocus();
  }

  /** By Tab alone, in no more steps than a page may have between two things that belong together. */
  async tabTo(target: Locator, { key = 'Tab', within = 40 } = {}): Promise<void> {
    await expect(target).toBeVisible();
    const passed: string[] = [];
    for (let step = 0; step < within; step += 1) {
      await this.press(key);
      if (await target.evaluate((element) => element === document.activeElement)) return;
      passed.push(
        await this.#page.evaluate(() => document.activeElement?.outerHTML.slice(0, 80) ?? 'nothing'),
      );
    }
    throw new Error(
      `${within} times ${key} did not lead to ${target.toString()}, but to:\n${passed.join('\n')}`,
    );
  }

  async hasFocus(): Promise<void> {
    await expect.poll(() => this.#page.evaluate(describeFocus)).toBe('seen');
  }
}

/**
 * `seen`, or what is wrong. Around what is focused, or around the field it is part of, there is a line; menus mark
 * their entry by its ground. What scripts move the focus to, as a page that begins, takes no line.
 */
function describeFocus(): string {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return 'the focus is lost';
  if (focused.getAttribute('tabindex') === '-1' || focused.hasAttribute('data-highlighted')) return 'seen';
  if (focused.matches('[role="dialog"], [role="alertdialog"], [role="menu"]')) return 'seen';
  const box = focused.getBoundingClientRect();
  if (box.width < 1 || box.height < 1) return `nothing to see of ${focused.outerHTML.slice(0, 120)}`;
  const hasLine = (element: Element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  const around: Element[] = [focused, ...focused.children];
  for (
    let parent = focused.parentElement;
    parent !== null && around.length < 12;
    parent = parent.parentElement
  ) {
    if (!parent.matches(':focus-within')) break;
    around.push(parent);
    if (parent.matches('li, form, section, main')) break;
  }
  return around.some(hasLine) ? 'seen' : `no line around ${focused.outerHTML.slice(0, 120)}`;
}
