/** GIF89a, block by block: what an animation needs, and nothing that its file says about itself. */

const separator = { image: 0x2c, extension: 0x21, end: 0x3b } as const;
const label = { text: 0x01, control: 0xf9, application: 0xff } as const;
/** Applications whose block says how often an animation is played. */
const loops = ['NETSCAPE2.0', 'ANIMEXTS1.0'];

/**
 * Returns a GIF without comments, texts and the blocks of applications (XMP among them), and without whatever comes behind its
 * end; null for one that can't be read to its end.
 */
export function withoutGifMetadata(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] | null {
  const kept: Uint8Array<ArrayBuffer>[] = [];
  /** Says how the picture that comes next is shown. */
  let control: Uint8Array<ArrayBuffer> | null = null;
  let at = 13 + tableLength(bytes[10]);
  if (at > bytes.length) return null;
  kept.push(bytes.subarray(0, at));
  while (bytes[at] !== separator.end) {
    const isImage = bytes[at] === separator.image;
    if (!isImage && bytes[at] !== separator.extension) return null;
    // The code size comes before the data of a picture.
    const head = isImage ? 11 + tableLength(bytes[at + 9]) : 2;
    const end = endOfBlocks(bytes, at + head);
    if (end === null) return null;
    const block = bytes.subarray(at, end);
    if (isImage) {
      kept.push(...(control === null ? [] : [control]), block);
      control = null;
    } else if (block[1] === label.control) control = block;
    else if (block[1] === label.application) kept.push(...loopOf(block));
    // A text is drawn by no browser, and what was said of its picture goes with it.
    else if (block[1] === label.text) control = null;
    at = end;
  }
  return [...kept, Uint8Array.of(separator.end)];
}

/**
 * The pixels that a decoder makes room for: those of the screen, and of a first frame that is larger or stands outside.
 * @returns null where the first frame doesn't begin within the bytes
 */
export function gifSize(bytes: Uint8Array<ArrayBuffer>): { width: number; height: number } | null {
  const u16 = (at: number) => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  let at = 13 + tableLength(bytes[10]);
  while (bytes[at] === separator.extension) {
    const end = endOfBlocks(bytes, at + 2);
    if (end === null) return null;
    at = end;
  }
  if (bytes[at] !== separator.image || at + 9 > bytes.length) return null;
  return {
    width: Math.max(u16(6), u16(at + 1) + u16(at + 5)),
    height: Math.max(u16(8), u16(at + 3) + u16(at + 7)),
  };
}

/** Bytes of the table of colours that a byte of flags announces. */
function tableLength(flags = 0): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1);
}

/** Returns the position behind blocks of data that each say their length; null where they don't end within the file. */
function endOfBlocks(bytes: Uint8Array, from: number): number | null {
  let at = from;
  for (;;) {
    const length = bytes[at];
    if (length === undefined) return null;
    at += 1 + length;
    if (length === 0) return at;
  }
}

/** Returns the block anew that says how often an animation is played; none of another application. */
function loopOf(block: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const name = String.fromCharCode(...block.subarray(3, 14));
  const [length, id, low = 0, high = 0] = block.subarray(14);
  if (!loops.includes(name) || length !== 3 || id !== 1) return [];
  const head = Uint8Array.from(block.subarray(0, 14));
  return [head, Uint8Array.of(3, 1, low, high, 0)];
}
