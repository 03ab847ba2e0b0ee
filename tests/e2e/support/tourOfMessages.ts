import { Buffer } from 'node:buffer';
import { expect, type Page } from '@playwright/test';
import { film } from './film.ts';
import { pastePhotograph } from './photograph.ts';
import { type Look, startOver } from './tour.ts';

/** By a part of its name: the pseudo locale puts marks around names. */
const button = (page: Page, name: RegExp) => page.getByRole('button', { name });

/** Words that are written in this tour. */
export const written = ['The lamp is lit', 'The lamp is out', 'IMG_2041', 'boat.webm', 'plan.pdf'];

/** Tours all that opens about files and messages in a chat, of two people in talk. */
export async function tourOfMessages(page: Page, other: string, look: Look): Promise<void> {
  const own = page.getByRole('article').filter({ hasText: /The lamp is/ });
  const input = page.getByRole('textbox').last();
  const send = async () => {
    const ready = button(page, /^\W*(Send|Save)\W*$/).last();
    await expect(ready).toBeEnabled();
    await ready.click();
    await expect(page.getByTitle(/Sending/)).toHaveCount(0);
  };
  const choose = async (item: RegExp) => {
    await own.getByRole('button', { name: /Message actions/ }).press('Enter');
    await page.getByRole('menuitem', { name: item }).first().press('Enter');
    await expect(page.getByRole('menu')).toHaveCount(0);
  };
  const looksAt = async (name: RegExp, screen: string) => {
    await expect(
      page.getByRole('dialog', { name }).or(page.getByRole('alertdialog', { name })),
    ).toBeVisible();
    await look(page, screen);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog').or(page.getByRole('alertdialog'))).toHaveCount(0);
  };

  await startOver(page);
  await page.getByRole('listitem').filter({ hasText: other }).getByRole('button').first().click();
  await expect(page.getByRole('article').first()).toBeVisible();
  await button(page, /Media and files/).click();
  await expect(page.getByText(/No pictures or films yet/)).toBeVisible();
  await looksAt(/Media and files/, 'a gallery with nothing in it');

  await input.focus();
  await pastePhotograph(page);
  await expect(button(page, /Remove/)).toBeVisible();
  await look(page, 'files that are about to be sent');
  await send();
  for (const file of [
    { name: 'boat.webm', mimeType: 'video/webm', buffer: await film(page) },
    { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') },
  ]) {
    await page.locator('input[type=file]').setInputFiles(file);
    await expect(button(page, /Remove/)).toBeVisible();
    await send();
  }
  await expect(button(page, /Download.*plan/)).toBeVisible();
  await look(page, 'a chat with files');
  await button(page, /View: /)
    .first()
    .click();
  await expect(page.getByRole('dialog').getByText(/100/)).toBeVisible();
  await looksAt(/IMG_2041/, 'a picture');
  await button(page, /Media and files/).click();
  await expect(button(page, /View: .*boat/)).toBeVisible();
  await look(page, 'the media of a gallery');
  await button(page, /View: .*boat/).click();
  await expect(button(page, /Go to message/)).toBeVisible();
  await look(page, 'a film of a gallery');
  await page.keyboard.press('Escape');
  await expect(button(page, /Go to message/)).toHaveCount(0);
  await page.getByRole('tab', { name: /Files/ }).click();
  await expect(page.getByRole('tabpanel').getByText('plan.pdf')).toBeVisible();
  await looksAt(/Media and files/, 'the files of a gallery');

  await page.context().grantPermissions(['microphone']);
  await button(page, /Record a voice message/).click();
  await expect(page.getByRole('timer')).toHaveText('0:01');
  await look(page, 'a voice message that is recorded');
  await button(page, /Stop, to listen/).click();
  await expect(button(page, /Play: /).last()).toBeVisible();
  await look(page, 'a voice message that waits');
  await button(page, /Remove/).click();

  await input.fill('The lamp is lit');
  await send();
  await choose(/Reply/);
  await look(page, 'an answer that is written');
  await button(page, /Cancel the reply/).click();
  await choose(/Edit/);
  await input.fill('The lamp is out');
  await look(page, 'an edit that is written');
  await send();
  await button(page, /show earlier versions/).click();
  await expect(page.getByText(/First version/)).toBeVisible();
  await looksAt(/Versions/, 'the versions of a message');
  await choose(/Forward/);
  await looksAt(/Forward message/, 'to whom a message is forwarded');
  await choose(/^\W*Pin/);
  await expect(page.getByRole('region', { name: /Pinned messages/ })).toBeVisible();
  await look(page, 'a pinned message');
  await choose(/Message details/);
  await looksAt(/Message details/, 'the details of a pinned message');
  await choose(/Star/);
  await choose(/Delete/);
  await looksAt(/Delete this message/, 'the question before a message is deleted');
  await own.getByRole('button', { name: /Message actions/ }).press('Enter');
  await page.getByRole('menuitemcheckbox').first().press('Enter');
  await choose(/Reactions/);
  await looksAt(/Reactions/, 'who has reacted');

  await button(page, /Disappearing messages/).click();
  await looksAt(/Disappearing messages/, 'the time after which messages disappear');
  await button(page, /Mute/).click();
  await looksAt(/Mute/, 'how long a conversation is muted');

  await startOver(page);
  await page.getByRole('tab').nth(3).click();
  await expect(
    page.getByRole('region', { name: /Starred messages/ }).getByText(/The lamp is out/),
  ).toBeVisible();
  await look(page, 'a profile with a starred message');
  await startOver(page);
}
