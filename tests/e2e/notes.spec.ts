import { findsNoBarriers } from './support/axe.ts';
import { appIsKept } from './support/built.ts';
import type { Person } from './support/person.ts';
import { expect, test } from './support/test.ts';

const notesOf = ({ page }: Person) => page.getByRole('region', { name: 'Notes', exact: true });
const rowOf = ({ page }: Person) =>
  page.getByRole('region', { name: 'Conversations' }).getByRole('button', { name: /Notes to self/ });

async function write(person: Person, text: string): Promise<void> {
  await person.page.getByRole('textbox', { name: 'Write a note' }).fill(text);
  await person.page.keyboard.press('Enter');
  await expect(notesOf(person).getByText(text, { exact: true })).toBeVisible();
}

test('notes go from one browser of a person to the other, through a reload and without a connection', async ({
  newBrowser,
}) => {
  const { person: laptop, context } = await newBrowser('alice');
  await laptop.signUp();

  await test.step('one browser is enough to begin, from where one looks for people', async () => {
    await expect(rowOf(laptop)).toHaveCount(0);
    await laptop.tab('Contacts').click();
    await laptop.page.getByRole('button', { name: 'Notes to self' }).press('Enter');
    await expect(laptop.page.getByText('Only your own browsers can read it.')).toBeVisible();
    await expect(laptop.page.getByRole('textbox', { name: 'Write a note' })).toBeFocused();
    await findsNoBarriers(laptop.page);
    await write(laptop, 'Lamp oil');
    await expect(notesOf(laptop).getByText('Sent')).toBeVisible();
    await expect(rowOf(laptop)).toContainText('Lamp oil');
    await expect(laptop.page.getByRole('button', { name: /safety number|Verif/i })).toHaveCount(0);
  });

  const { person: phone } = await newBrowser('alice');
  await phone.page.setViewportSize({ width: 390, height: 844 });

  await test.step('a browser that comes later has it, and its own are on the first', async () => {
    await phone.logIn();
    await rowOf(phone).click();
    await expect(notesOf(phone).getByText('Lamp oil', { exact: true })).toBeVisible();
    await write(phone, 'See https://example.org/lamps');
    await expect(notesOf(laptop).getByRole('link', { name: /example\.org\/lamps/ })).toBeVisible();
    await expect(laptop.tab('Messages')).not.toContainText('1');
    await findsNoBarriers(phone.page);
  });

  await test.step('what is half written on one stands on the other', async () => {
    await laptop.page.getByRole('textbox', { name: 'Write a note' }).fill('Ask the kee');
    await expect(phone.page.getByRole('textbox', { name: 'Write a note' })).toHaveValue('Ask the kee');
  });

  await test.step('one that is written offline stays through a reload, and goes with the connection', async () => {
    await appIsKept(laptop.page);
    await context.setOffline(true);
    await laptop.page.reload();
    await laptop.onDashboard();
    await write(laptop, 'Written in the tunnel');
    await expect(notesOf(phone).getByText('Written in the tunnel')).toHaveCount(0);
    await laptop.page.reload();
    await laptop.onDashboard();
    await expect(notesOf(laptop).getByText('Written in the tunnel')).toBeVisible();
    await context.setOffline(false);
    await expect(notesOf(phone).getByText('Written in the tunnel')).toBeVisible();
  });

  await test.step('nobody has received or read any of it', async () => {
    for (const person of [laptop, phone])
      await expect(notesOf(person).getByText(/^(Delivered|Read|Received)$/)).toHaveCount(0);
  });
});
