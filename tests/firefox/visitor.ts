import { expect } from '@playwright/test';
import type { ElementHandle, Frame, Page } from 'puppeteer-core';

/** One person at one tab of Firefox: what they do, in the words of the interface. */
export class Visitor {
  readonly page: Page;
  readonly username: string;
  readonly password: string;
  /** Collects what a page must never report: an uncaught error, or something that its own policy forbids. */
  readonly complaints: string[] = [];
  readonly #url: string;

  private constructor(page: Page, url: string, username: string) {
    this.page = page;
    this.#url = url;
    this.username = username;
    this.password = `correct horse battery ${username}`;
    page.on('console', (message) => {
      if (message.text().startsWith('complaint: ')) this.complaints.push(message.text());
    });
  }

  /** @param url of the relay */
  static async at(page: Page, url: string, username: string): Promise<Visitor> {
    const visitor = new Visitor(page, url, username);
    await page.evaluateOnNewDocument(() => {
      const complain = (what: string) => console.warn(`complaint: ${what}`);
      document.addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) => {
        complain(`${effectiveDirective} ${blockedURI}`);
      });
      addEventListener('error', ({ error, message }) => {
        // The browser's own reports of layout mean that the next frame has the rest.
        if (!message.startsWith('ResizeObserver loop')) complain(String(error ?? message));
      });
      addEventListener('unhandledrejection', ({ reason }) => complain(`rejected: ${reason}`));
    });
    return visitor;
  }

  /** The frame at the origin of the keys. */
  get keys(): Frame {
    const frame = this.page.frames().find((candidate) => candidate.url().endsWith('/keys'));
    if (frame === undefined) throw new Error('the page has no frame of the keys');
    return frame;
  }

  async visit(path: string): Promise<void> {
    await this.page.goto(`${this.#url}${path}`);
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.onDashboard();
  }

  async signUp(): Promise<void> {
    await this.visit('/signup');
    await this.type('input[name="username"]', this.username);
    await this.type('input[type="email"]', `${this.username}@example.org`);
    await this.type('input[type="password"]', this.password);
    await this.click('[role="checkbox"]');
    await this.click('button[type="submit"]');
    await this.onDashboard();
  }

  async logIn(): Promise<void> {
    await this.visit('/login');
    await this.type('input[name="username"]', this.username);
    await this.type('input[type="password"]', this.password);
    await this.click('button[type="submit"]');
    await this.onDashboard();
  }

  async logOut(): Promise<void> {
    await this.click(button('Logout'));
    await expect.poll(() => this.path()).toBe('/');
  }

  async onDashboard(): Promise<void> {
    await expect.poll(() => this.path()).toBe('/dashboard');
    await this.find(tab('Messages'));
  }

  async openTab(name: string): Promise<void> {
    await this.click(tab(name));
  }

  async requestContact(other: Visitor): Promise<void> {
    await this.openTab('Contacts');
    await this.click(button('Find Users'));
    await this.type('input[placeholder="Search by email or username..."]', other.username);
    await this.click(buttonOf(other.username, 'Add Contact'));
    await this.sees('Contact request sent successfully');
  }

  async acceptContact(other: Visitor): Promise<void> {
    await this.openTab('Contacts');
    await this.click(buttonOf(other.username, 'Accept'));
    await this.sees('Contact request accepted successfully!');
  }

  async openChat(other: Visitor): Promise<void> {
    await this.openTab('Messages');
    await this.click(buttonOf(other.username));
    await this.find(select(`//h2[contains(., "${other.username}")]`));
  }

  async send(text: string): Promise<void> {
    await this.type('textarea[placeholder="Type a message..."]', text);
    await this.page.keyboard.press('Enter');
    await this.sees(text);
  }

  /** Waits until the page shows a text. */
  async sees(text: string): Promise<void> {
    await expect
      .poll(() => this.page.evaluate(() => document.body.innerText).catch(() => ''))
      .toContain(text);
  }

  /** Types into a field, as a person does. */
  async type(selector: string, text: string): Promise<void> {
    await this.click(selector);
    await this.page.keyboard.type(text);
  }

  /**
   * A page in the background gets no frames, and what is clicked would wait for one. An element that is drawn anew between
   * being found and being clicked is looked for once more.
   */
  async click(selector: string): Promise<void> {
    await this.page.bringToFront();
    await expect(async () => (await this.find(selector)).click()).toPass();
  }

  /** Waits until the page has an element. */
  async find(selector: string): Promise<ElementHandle> {
    let found: ElementHandle | null = null;
    await expect
      .poll(async () => {
        found = await this.page.$(selector).catch(() => null);
        return found !== null;
      }, selector)
      .toBe(true);
    if (found === null) throw new Error(`there is no ${selector}`);
    return found;
  }

  private path(): string {
    return new URL(this.page.url()).pathname;
  }
}

/** XPath of what is a button, a heading or the like, by its whole text or its label. */
const named = (element: string, name: string) =>
  `//${element}[normalize-space(.)="${name}" or @aria-label="${name}"]`;
const select = (path: string) => `::-p-xpath(${path})`;
export const button = (name: string) => select(named('button', name));
const tab = (name: string) => select(`//*[@role="tab"][starts-with(normalize-space(.), "${name}")]`);
/** A button in the entry of a list that has a text. */
const buttonOf = (text: string, name?: string) =>
  select(`//li[contains(., "${text}")]${name === undefined ? '//button' : named('button', name)}`);
