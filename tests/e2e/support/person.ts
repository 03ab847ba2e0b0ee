import type { Buffer } from 'node:buffer';
import { type BrowserContext, expect, type FrameLocator, type Locator, type Page } from '@playwright/test';

/** One person at one browser tab: what they do, in the words of the interface. */
export class Person {
  readonly page: Page;
  readonly username: string;
  readonly password: string;

  constructor(page: Page, username: string) {
    this.page = page;
    this.username = username;
    this.password = `correct horse battery ${username}`;
  }

  get email(): string {
    return `${this.username}@example.org`;
  }

  static async in(context: BrowserContext, username: string): Promise<Person> {
    return new Person(await context.newPage(), username);
  }

  async signUp(address = '/signup'): Promise<void> {
    await this.fillSignUp(address);
    await this.onDashboard();
  }

  /** Sends the form, whatever comes of it. */
  async fillSignUp(address: string): Promise<void> {
    await this.page.goto(address);
    await this.page.getByLabel('Username').fill(this.username);
    await this.page.getByLabel('Email').fill(this.email);
    await this.page.getByLabel('Password', { exact: true }).fill(this.password);
    await this.page.getByRole('checkbox').click();
    await this.page.getByRole('button', { name: 'Sign Up' }).click();
  }

  async logIn(): Promise<void> {
    await this.fillLogIn();
    await this.onDashboard();
  }

  /** Sends the form, whatever comes of it. */
  async fillLogIn(): Promise<void> {
    await this.page.goto('/login');
    await this.page.getByLabel('Username').fill(this.username);
    await this.page.getByLabel('Password', { exact: true }).fill(this.password);
    await this.page.getByRole('button', { name: 'Log In' }).click();
  }

  /** The frame of the keys, shown over the page while an operation asks for the password. */
  get prompt(): FrameLocator {
    return this.page.frameLocator('#keys');
  }

  /** Types the password where an operation on the account asks for it. */
  async confirmWithPassword(password = this.password): Promise<void> {
    await this.prompt.getByLabel('Password', { exact: true }).fill(password);
    await this.prompt.getByRole('button', { name: 'Confirm' }).click();
    await expect(this.page.locator('#keys')).toBeHidden();
  }

  /** Keeps the recovery key that the frame shows, and turns it on by the group that is asked for. @returns its groups */
  async keepRecoveryKey(): Promise<string[]> {
    const shown = this.prompt.getByRole('list', { name: 'Your recovery key' }).getByRole('listitem');
    await expect(shown).toHaveCount(14);
    const groups = await shown.allInnerTexts();
    await this.prompt.getByRole('button', { name: 'I have kept it' }).click();
    const asked = this.prompt.getByLabel(/^Group \d+ of your recovery key/);
    const label = await this.prompt.getByText(/^Group \d+ of your recovery key/).innerText();
    await asked.fill(groups[Number(/\d+/.exec(label)?.[0]) - 1] ?? '');
    await this.confirmWithPassword();
    return groups;
  }

  async logOut(): Promise<void> {
    await this.page.getByRole('button', { name: 'Logout', exact: true }).click();
    await expect(this.page).toHaveURL('/');
  }

  async onDashboard(): Promise<void> {
    await expect(this.page).toHaveURL('/dashboard', { timeout: 60_000 });
    await expect(this.tab('Messages')).toBeVisible();
  }

  tab(name: 'Messages' | 'Groups' | 'Contacts' | 'Profile'): Locator {
    return this.page.getByRole('tab', { name: new RegExp(`^${name}`) });
  }

  async requestContact(other: Person): Promise<void> {
    await this.tab('Contacts').click();
    await this.page.getByRole('button', { name: 'Find Users' }).click();
    await this.page.getByPlaceholder('Search by email or username...').fill(other.username);
    await this.page
      .getByRole('listitem')
      .filter({ hasText: other.username })
      .getByRole('button', { name: 'Add Contact' })
      .click();
    await expect(this.toast('Contact request sent successfully')).toBeVisible();
  }

  async acceptContact(other: Person): Promise<void> {
    await this.tab('Contacts').click();
    await this.page
      .getByRole('listitem')
      .filter({ hasText: other.username })
      .getByRole('button', { name: 'Accept' })
      .click();
    await expect(this.page.getByText('Contact request accepted successfully!')).toBeVisible();
  }

  /** This person's entry in the contact list of the Messages tab. */
  contact(other: Person): Locator {
    return this.page
      .getByRole('region', { name: 'Conversations' })
      .getByRole('listitem')
      .filter({ hasText: other.username });
  }

  /** Loads the page again, so that the service worker answers for it, as on every visit but the first. */
  async comesBack(other: Person): Promise<void> {
    await this.page.evaluate(async () => void (await navigator.serviceWorker.ready));
    await this.page.reload();
    await this.onDashboard();
    await this.openChat(other);
    expect(await this.page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  }

  async openChat(other: Person): Promise<void> {
    await this.tab('Messages').click();
    await this.contact(other).getByRole('button').click();
    await expect(this.page.getByRole('heading', { name: other.username })).toBeVisible();
  }

  /** A group in the list of the Groups tab. */
  group(name: string): Locator {
    return this.page.getByRole('region', { name: 'Groups' }).getByRole('listitem').filter({ hasText: name });
  }

  /** Waits for what others do: being added, say. */
  async openGroup(name: string): Promise<void> {
    await this.tab('Groups').click();
    await this.group(name).getByRole('button').click();
    await expect(this.page.getByRole('heading', { name })).toBeVisible();
  }

  async createGroup(name: string): Promise<void> {
    await this.tab('Groups').click();
    await this.page.getByRole('button', { name: 'New Group' }).click();
    await this.page.getByLabel('Group name').fill(name);
    await this.page.getByRole('button', { name: 'Create Group' }).click();
    await expect(this.toast(`Group "${name}" created successfully!`)).toBeVisible();
    await expect(this.page.getByRole('heading', { name })).toBeVisible();
  }

  /** Details of the open group. */
  get details(): Locator {
    return this.page.getByRole('region', { name: 'Group Details' });
  }

  async openDetails(): Promise<void> {
    if (await this.details.isHidden()) await this.page.getByRole('button', { name: 'Group Details' }).click();
    await expect(this.details).toBeVisible();
  }

  /** @param toast what is said of it */
  async addMember(other: Person, toast = `${other.username} added to the group!`): Promise<void> {
    await this.openDetails();
    await this.details.getByRole('combobox', { name: 'Add Member' }).fill(other.username);
    await this.page.getByRole('option', { name: other.username, exact: true }).click();
    await this.page.keyboard.press('Escape');
    await this.details.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(this.toast(toast)).toBeVisible();
  }

  async leaveGroup(name: string): Promise<void> {
    await this.endGroup('Leave Group');
    await expect(this.toast(`You left the group "${name}"`)).toBeVisible();
  }

  async deleteGroup(name: string): Promise<void> {
    await this.endGroup('Delete Group');
    await expect(this.toast(`Group "${name}" deleted!`)).toBeVisible();
  }

  private async endGroup(action: 'Leave Group' | 'Delete Group'): Promise<void> {
    await this.openDetails();
    await this.details.getByRole('button', { name: action }).click();
    await this.page.getByRole('alertdialog').getByRole('button', { name: action }).click();
  }

  /** From now on, devices that come later begin with what comes after them. */
  async keepNoHistory(): Promise<void> {
    await this.tab('Profile').click();
    await this.page.getByRole('switch', { name: 'Keep sealed copies for new devices' }).click();
    await this.page.getByRole('alertdialog').getByRole('button', { name: 'Delete copies' }).click();
    await this.confirmWithPassword();
    await expect(this.page.getByText('There are no copies on the server.')).toBeVisible();
  }

  /** The newest one of this text: an earlier one may still be there. */
  toast(text: string): Locator {
    return this.page.getByRole('region', { name: 'Notifications' }).getByText(text).first();
  }

  async send(text: string): Promise<void> {
    await this.page.getByPlaceholder('Type a message...').fill(text);
    await this.page.getByPlaceholder('Type a message...').press('Enter');
    await expect(this.message(text)).toBeVisible();
  }

  get messages(): Locator {
    return this.page.getByRole('region', { name: /^Messages (with|in) / });
  }

  message(text: string): Locator {
    return this.messages.getByText(text, { exact: true });
  }

  /** Messages that say something, and those that quote it, in the open chat. */
  bubbles(text: string): Locator {
    return this.page.getByRole('article').filter({ hasText: text });
  }

  /** Opens the menu of the first message that says something, by its button, as keys do. */
  async openMenu(text: string): Promise<void> {
    const bubble = this.bubbles(text).first();
    // Little can be done with what is on its way.
    await expect(bubble.getByTitle('Sending')).toHaveCount(0);
    await bubble.getByRole('button', { name: 'Message actions' }).press('Enter');
    await expect(this.page.getByRole('menu')).toBeVisible();
  }

  /** Chooses an item of that menu. */
  async choose(text: string, item: string): Promise<void> {
    await this.openMenu(text);
    await this.page.getByRole('menuitem', { name: item, exact: true }).press('Enter');
    await expect(this.page.getByRole('menu')).toHaveCount(0);
  }

  async react(text: string, emoji: string): Promise<void> {
    await this.openMenu(text);
    await this.page.getByRole('menuitemcheckbox', { name: `React with ${emoji}` }).press('Enter');
    await expect(this.page.getByRole('menu')).toHaveCount(0);
  }

  /** Sends the files, with what is written beside them. */
  async sendFile(file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
    await this.page.locator('input[type=file]').setInputFiles(file);
    await this.page.getByRole('button', { name: 'Send', exact: true }).click();
  }

  /** Exactly once: a message lost or doubled fails alike. */
  async sees(...texts: string[]): Promise<void> {
    for (const text of texts) await expect(this.message(text)).toHaveCount(1);
  }
}

/** Two people become contacts, each in their own browser. */
export async function becomeContacts(one: Person, other: Person): Promise<void> {
  await one.requestContact(other);
  await other.acceptContact(one);
}
