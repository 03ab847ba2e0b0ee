import type { Page } from '@playwright/test';

/** The place that the photograph names. */
export const place = 'GPS 61.4978N 23.7610E';

/** Pastes a photograph of a boat on a lake, in which the place stands where it was taken, as cameras write it beside the pixels. */
export async function pastePhotograph(page: Page): Promise<void> {
  await page.evaluate(async (exif) => {
    const canvas = new OffscreenCanvas(1200, 800);
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('no canvas');
    const sky = context.createLinearGradient(0, 0, 0, 520);
    sky.addColorStop(0, '#3f5f8f');
    sky.addColorStop(0.7, '#e9a66b');
    sky.addColorStop(1, '#f6d7a0');
    const lake = context.createLinearGradient(0, 520, 0, 800);
    lake.addColorStop(0, '#e3b27a');
    lake.addColorStop(0.3, '#4d7396');
    lake.addColorStop(1, '#1d3f5e');
    const fill = (style: string | CanvasGradient, path: string) => {
      context.fillStyle = style;
      // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- it fills no array
      context.fill(new Path2D(path));
    };
    fill(sky, 'M0 0H1200V520H0Z');
    fill('#fdf0c8', 'M390 470a70 70 0 1 1 140 0a70 70 0 1 1 -140 0Z');
    fill(lake, 'M0 520H1200V800H0Z');
    fill('#2f4a4a', 'M760 520Q850 440 960 470Q1060 410 1200 460V520Z');
    fill('#f7f1e3', 'M640 250V560H470Q600 430 640 250Z');
    fill('#e6dcc6', 'M655 300V560H770Q735 420 655 300Z');
    fill('#7a3b2a', 'M440 580H800L750 640H490Z');
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

/** Drops two pictures onto the chat, as from a folder: one is wide, the other one high. */
export async function dropPictures(page: Page, ...names: readonly [string, string]): Promise<void> {
  await page.evaluate(async ([wide, high]) => {
    const draw = async (name: string, width: number, height: number) => {
      const canvas = new OffscreenCanvas(width, height);
      const context = canvas.getContext('2d');
      if (context === null) throw new Error('no canvas');
      context.fillStyle = '#2b6a9b';
      context.fillRect(0, 0, width, height);
      context.fillStyle = '#e8c15a';
      context.fillRect(0, 0, width / 2, height / 2);
      return new File([await canvas.convertToBlob({ type: 'image/png' })], name, { type: 'image/png' });
    };
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(await draw(wide, 1200, 800));
    dataTransfer.items.add(await draw(high, 600, 900));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, names);
}
