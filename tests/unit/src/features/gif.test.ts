import { describe, expect, it } from 'vitest';
import { withoutGifMetadata } from '#src/features/files/gif.ts';
import { prepare } from '#src/features/files/prepare.ts';

const ascii = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));
const blocks = (...data: number[][]) => [...data.flatMap((block) => [block.length, ...block]), 0];

const header = [...ascii('GIF89a'), 2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
const loop = (name = 'NETSCAPE2.0') => [0x21, 0xff, 11, ...ascii(name), ...blocks([1, 5, 0])];
const control = (delay: number) => [0x21, 0xf9, ...blocks([4, delay, 0, 0])];
const image = (colour: number) => [0x2c, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, ...blocks([0x84, colour])];
const imageWithTable = [0x2c, 0, 0, 0, 0, 2, 0, 1, 0, 0x80, 9, 9, 9, 8, 8, 8, 2, ...blocks([0x84, 7])];
const comment = [0x21, 0xfe, ...blocks(ascii('Helsinki 60.17 N'), ascii('24.94 E'))];
const xmp = [0x21, 0xff, 11, ...ascii('XMP DataXMP'), ...blocks(ascii('<x:xmpmeta>Helsinki</x:xmpmeta>'))];
const written = [0x21, 0x01, ...blocks([0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 1, 0], ascii('Helsinki'))];

const gif = (...parts: number[][]) => Uint8Array.from([...header, ...parts.flat(), 0x3b]);

function cleaned(bytes: Uint8Array<ArrayBuffer>): number[] | null {
  const kept = withoutGifMetadata(bytes);
  return kept === null ? null : kept.flatMap((part) => [...part]);
}

describe('a GIF that is sent', () => {
  it('keeps its pictures, their times and how often it is played', () => {
    const plain = gif(loop(), control(1), image(1), control(2), imageWithTable);
    expect(cleaned(plain)).toEqual([...plain]);
    expect(cleaned(gif(loop('ANIMEXTS1.0'), image(1)))).toEqual([...gif(loop('ANIMEXTS1.0'), image(1))]);
  });

  it('loses comments, XMP, texts and what comes behind its end', async () => {
    const parts = [comment, loop(), xmp, control(1), image(1), control(9), written, comment, image(2), xmp];
    const marked = Uint8Array.from([...gif(...parts), ...ascii('Helsinki')]);
    const { source, facts } = await prepare(new File([marked], 'sauna.gif', { type: 'image/gif' }), 1);
    const sent = new Uint8Array(await source.arrayBuffer());
    expect([...sent]).toEqual([...gif(loop(), control(1), image(1), image(2))]);
    expect(facts).toMatchObject({
      name: 'sauna.gif',
      type: 'image/gif',
      kind: 'picture',
      width: 2,
      height: 1,
    });
  });

  it('carries nothing in the block that says how often it is played', () => {
    const more = [0x21, 0xff, 11, ...ascii('NETSCAPE2.0'), ...blocks([1, 5, 0], ascii('Helsinki'))];
    expect(cleaned(gif(more, image(1)))).toEqual([...gif(loop(), image(1))]);
  });

  it('that breaks off, or has other blocks, can’t be read', async () => {
    const whole = gif(comment, control(1), image(1));
    for (let length = 13; length < whole.length; length += 1)
      expect(cleaned(whole.slice(0, length))).toBeNull();
    expect(cleaned(gif([0x7f]))).toBeNull();
    await expect(prepare(new File([whole.slice(0, -3)], 'a.gif'), 1)).rejects.toThrow('can’t be read');
  });
});
