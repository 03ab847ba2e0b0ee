import type { Page } from '@playwright/test';

/** The place that the photograph names. */
export const place = 'GPS 61.4978N 23.7610E';

/** Pastes a photograph, in which the place stands where it was taken, as cameras write it beside the pixels. */
export async function pastePhotograph(page: Page): Promise<void> {
  await page.evaluate(async (exif) => {
    const canvas = new OffscreenCanvas(1200, 800);
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('no canvas');
    context.fillStyle = '#2b6a9b';
    context.fillRect(0, 0, 1200, 800);
    context.fillStyle = '#e8c15a';
    context.fillRect(300, 200, 300, 300);
    const drawn = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/jpeg' })).arrayBuffer());
    const said = new TextEncoder().encode(`Exif\0\0${exif}`);
    const segment = new Uint8Array([0xff, 0xe1, 0, said.length + 2, ...said]);
    const photograph = new File([drawn.slice(0, 2), segment, drawn.slice(2)], 'IMG_2041.jpg', {
      type: 'image/jpeg',
    });
    const clipboardData = new DataTransfer();
    clipboardData.items.add(photograph);
    document.activeElement?.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }, place);
}
