import type { BrowserContext, Page, Request } from '@playwright/test';
import { timings } from '#src/services/core/timings.ts';
import { expect } from './test.ts';

/**
 * Times of what the app does by the clock alone, which would come in between wherever the machine is slow.
 * Heartbeats of the connections go on.
 */
const byTheClock: readonly number[] = [
  timings.contactsPolling,
  timings.tokenCheck,
  timings.backupPolling,
  timings.backupCopying,
  timings.subscriptionPatience,
];

const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The calls that a page makes, and what it complains of. */
export class Calls {
  readonly #page: Page;
  #made: string[] = [];
  #open = 0;
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.#page = page;
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (!pathname.startsWith('/api/')) return;
      this.#open += 1;
      // A receipt comes some time after what it is of, in groups at random.
      if (pathname.endsWith('/receipt')) return;
      // A time is asked for as of now.
      const query = search.replace(/since=[^&]*/, 'since');
      this.#made.push(
        `${request.method()} ${pathname.slice('/api'.length)}${query}`
          .replaceAll('%3A', ':')
          .replace(id, 'ID'),
      );
    });
    const onOver = (request: Request): void => {
      if (new URL(request.url()).pathname.startsWith('/api/')) this.#open -= 1;
    };
    page.on('requestfinished', onOver);
    page.on('requestfailed', onOver);
    page.on('response', (response) => {
      if (response.status() >= 400) this.complaints.push(`${response.status()} ${response.url()}`);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
  }

  /** To be called before the page goes anywhere. */
  static async of(page: Page, context: BrowserContext): Promise<Calls> {
    await context.addInitScript((stilled) => {
      const slow = (ms: number | undefined) => (stilled.includes(ms ?? 0) ? 2 ** 31 - 1 : ms);
      const interval = window.setInterval.bind(window);
      const timeout = window.setTimeout.bind(window);
      Object.assign(window, {
        setInterval: (task: () => void, ms?: number, ...args: unknown[]) => interval(task, slow(ms), ...args),
        setTimeout: (task: () => void, ms?: number, ...args: unknown[]) => timeout(task, slow(ms), ...args),
      });
    }, byTheClock);
    return new Calls(page);
  }

  /** All that was called since the last time, in the order of the alphabet. */
  take(): string[] {
    const made = this.#made.toSorted();
    this.#made = [];
    return made;
  }

  /** Waits for the call that comes last, and for {@link settled}. */
  async until(last: string): Promise<void> {
    await expect.poll(() => this.#made, { timeout: 60_000 }).toContain(last);
    await this.settled();
  }

  /** Waits until all is answered, and what follows from it asked: what a person does after it, the page does after it. */
  async settled(): Promise<void> {
    await expect.poll(() => this.#open, { timeout: 60_000 }).toBe(0);
    const bell = this.#page.getByRole('button', { name: /^Notifications/ });
    await bell.click();
    const popover = this.#page.getByRole('dialog', { name: 'Notifications' });
    // Its code is loaded the first time, and nothing hears Escape before it is there.
    await expect(popover).toBeVisible();
    await this.#page.keyboard.press('Escape');
    await expect(popover).toBeHidden();
    await expect.poll(() => this.#open, { timeout: 60_000 }).toBe(0);
  }
}
