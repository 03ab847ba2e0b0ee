import { describe, expect, it } from 'vitest';
import { jsonBody, pieceLength } from '#src/net/jsonBody.ts';

async function textOf(value: unknown): Promise<string> {
  const body = await jsonBody(value);
  return body instanceof Blob
    ? new TextDecoder('utf-8', { fatal: true }).decode(await body.arrayBuffer())
    : body;
}

describe('the body of a request', () => {
  it('is a text as long as it is short', async () => {
    expect(await jsonBody({ epoch: 3 })).toBe('{"epoch":3}');
    expect(await jsonBody('a'.repeat(pieceLength - 2))).toBeTypeOf('string');
  });

  it.each([
    ['just above the limit', 'a'.repeat(pieceLength - 1)],
    ['of many pieces', 'Ab_-'.repeat(pieceLength)],
    [
      'with a pair of surrogates across the border of two pieces',
      `${'a'.repeat(pieceLength - 2)}${'🐑'.repeat(9)}`,
    ],
    ['with such pairs on either side of the border', `${'a'.repeat(pieceLength - 3)}${'🐑'.repeat(9)}`],
    ['of such pairs alone', '🐑'.repeat(pieceLength)],
    ['with a surrogate alone at the border', `${'a'.repeat(pieceLength - 2)}\ud83d`],
  ])('that is %s arrives as JSON.stringify has it', async (_name, text) => {
    expect(await jsonBody(text)).toBeInstanceOf(Blob);
    // Compared before it is told: a failure would print megabytes.
    expect((await textOf(text)) === JSON.stringify(text)).toBe(true);
  });

  it('lets other tasks run between its pieces', async () => {
    let turns = 0;
    const channel = new MessageChannel();
    channel.port1.addEventListener('message', () => {
      turns += 1;
      channel.port2.postMessage(null);
    });
    channel.port1.start();
    channel.port2.postMessage(null);
    await jsonBody('a'.repeat(8 * pieceLength));
    channel.port1.close();
    expect(turns).toBeGreaterThan(3);
  });
});
