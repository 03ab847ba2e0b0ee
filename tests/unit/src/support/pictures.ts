/** Beginnings of pictures, as far as their size: a decoder would find nothing behind them. */

const ascii = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));
const u32 = (value: number) => [value >>> 24, (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
const u16 = (value: number) => [value >> 8, value & 0xff];
const little = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, at) => (value >> (8 * at)) & 0xff);
const riff = (...rest: number[]) =>
  Uint8Array.from([...ascii('RIFF'), ...little(4 + rest.length, 4), ...ascii('WEBP'), ...rest]);

export function png(width: number, height: number) {
  const header = [...u32(13), ...ascii('IHDR'), ...u32(width), ...u32(height), 8, 6, 0, 0, 0];
  return Uint8Array.from([0x89, ...ascii('PNG\r\n\x1a\n'), ...header]);
}

/** @param before bytes of the notes that a camera writes in front */
export function jpeg(width: number, height: number, before = 4) {
  const notes = [0xff, 0xe1, ...u16(before + 2), ...Array<number>(before).fill(0xff)];
  const table = [0xff, 0xc4, ...u16(4), 0xff, 0xc0];
  const frame = [0xff, 0xff, 0xc2, ...u16(11), 8, ...u16(height), ...u16(width), 1, 1, 0x11, 0];
  return Uint8Array.from([0xff, 0xd8, ...notes, ...table, 0xff, 0x01, ...frame]);
}

/** @param frame its first, where that is another than its screen */
export function gif(width: number, height: number, frame: readonly number[] = [0, 0, width, height]) {
  const screen = [...little(width, 2), ...little(height, 2), 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
  const comment = [0x21, 0xfe, 3, 0x2c, 0x2c, 0x2c, 0];
  const image = [0x2c, ...frame.flatMap((value) => little(value, 2)), 0, 2, 2, 0x84, 1, 0, 0x3b];
  return Uint8Array.from([...ascii('GIF89a'), ...screen, ...comment, ...image]);
}

export const webp = {
  extended: (width: number, height: number) =>
    riff(
      ...ascii('VP8X'),
      ...little(10, 4),
      ...little(0, 4),
      ...little(width - 1, 3),
      ...little(height - 1, 3),
    ),
  lossless: (width: number, height: number) => {
    const bits = ((width - 1) | ((height - 1) << 14)) >>> 0;
    return riff(...ascii('VP8L'), ...little(9, 4), 0x2f, ...little(bits, 4), 0, 0, 0, 0, 0);
  },
  lossy: (width: number, height: number) =>
    riff(
      ...ascii('VP8 '),
      ...little(10, 4),
      0,
      0,
      0,
      0x9d,
      0x01,
      0x2a,
      ...little(width, 2),
      ...little(height, 2),
    ),
};

/** AVIF or HEIC: a thumbnail's size stands in it, too. */
export function heif(brand: 'avif' | 'heic', width: number, height: number) {
  const size = (...of: readonly [number, number]) => [
    ...u32(20),
    ...ascii('ispe'),
    ...u32(0),
    ...of.flatMap(u32),
  ];
  const type = [...u32(20), ...ascii(`ftyp${brand}`), ...u32(0), ...ascii('mif1')];
  return Uint8Array.from([...type, ...size(width, height), ...size(1, 1)]);
}

export const base64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
