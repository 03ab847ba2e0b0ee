import type { Locator, Page } from '@playwright/test';
import { expect } from '../../e2e/support/test.ts';

/** Keeps what the relay pushes to a page from its next connection on. */
export function framesTo(page: Page): string[] {
  const frames: string[] = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => frames.push(payload.toString())),
  );
  return frames;
}

/** Waits until the page has been told of so many log entries, its own included. */
export async function toldOf(frames: readonly string[], entries: number): Promise<void> {
  await expect.poll(() => frames.filter((frame) => frame.includes('"type":"message"')).length).toBe(entries);
}

/** Saves the file of what a browser saw, with texts, where its dialog is open. @returns its path */
export async function saveView(page: Page): Promise<string> {
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  const views = viewsOn(page);
  await views.getByRole('switch', { name: 'With the texts of the messages' }).click();
  const download = page.waitForEvent('download');
  await views.getByRole('button', { name: 'Save what this browser saw' }).click();
  return (await download).path();
}

export function viewsOn(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Compare what was shown' });
}
