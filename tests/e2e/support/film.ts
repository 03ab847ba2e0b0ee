import { Buffer } from 'node:buffer';
import type { Page } from '@playwright/test';

/** A film of a second, as the browser records it of a canvas. */
export async function film(page: Page): Promise<Buffer<ArrayBuffer>> {
  const bytes = await page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [320, 180];
    const context = canvas.getContext('2d');
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm;codecs=vp8' });
    const parts: Blob[] = [];
    recorder.addEventListener('dataavailable', ({ data }) => parts.push(data));
    const ended = new Promise((resolve) => {
      recorder.addEventListener('stop', resolve);
    });
    recorder.start();
    for (let at = 0; at < 20; at += 1) {
      if (context !== null) {
        context.fillStyle = `hsl(${at * 18} 70% 50%)`;
        context.fillRect(0, 0, 320, 180);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
    recorder.stop();
    await ended;
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
  });
  return Buffer.from(bytes);
}
