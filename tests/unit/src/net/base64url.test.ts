import { describe, expect, it } from 'vitest';
import { bytesOf, pieceLength, textOf } from '#src/net/base64url.ts';

const sized = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 251) % 256);

describe('base64url of the page', () => {
  it.each([0, 1, 2, 3, 4, pieceLength - 1, pieceLength, pieceLength + 1, 5 * pieceLength + 2])(
    'of %d bytes is one text, and back',
    async (length) => {
      const bytes = sized(length);
      const text = Buffer.from(bytes).toString('base64url');
      // Compared before it is told: a failure would print megabytes.
      expect((await textOf(bytes)) === text).toBe(true);
      expect(Buffer.from(await bytesOf(text)).equals(bytes)).toBe(true);
    },
  );

  it.each<[string, () => Promise<unknown>]>([
    ['of megabytes', () => textOf(sized(8 * pieceLength))],
    ['of a text of megabytes', () => bytesOf('Ab_-'.repeat(3 * pieceLength))],
  ])('%s lets other tasks run between its pieces', async (_name, turned) => {
    let turns = 0;
    const channel = new MessageChannel();
    channel.port1.addEventListener('message', () => {
      turns += 1;
      channel.port2.postMessage(null);
    });
    channel.port1.start();
    channel.port2.postMessage(null);
    await turned();
    channel.port1.close();
    expect(turns).toBeGreaterThan(3);
  });
});
