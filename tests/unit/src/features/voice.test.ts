import { describe, expect, it } from 'vitest';
import { durationText } from '#src/features/files/durationText.ts';
import { zoomed } from '#src/features/files/useZoom.ts';
import { waveformOf } from '#src/features/files/waveformOf.ts';
import { withoutWriter } from '#src/features/files/withoutWriter.ts';
import { playableType } from '#src/lib/playableType.ts';

const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

describe('a waveform', () => {
  it('has 64 values from 0 to 31, of which the loudest is 31, however long the recording was', () => {
    for (const length of [1, 10, 64, 65, 1000, 18_000]) {
      const levels = Array.from({ length }, (_, at) => ((at * 7) % 10) / 20);
      levels[length - 1] = 0.6;
      const values = waveformOf(levels);
      expect(values).toHaveLength(64);
      expect(Math.max(...values)).toBe(31);
      expect(values.every((value) => Number.isInteger(value) && value >= 0 && value <= 31)).toBe(true);
    }
  });

  it('follows the recording', () => {
    const levels = [...Array.from({ length: 500 }, () => 0.1), ...Array.from({ length: 500 }, () => 0.8)];
    const values = waveformOf(levels);
    expect(new Set(values.slice(0, 32))).toEqual(new Set([4]));
    expect(new Set(values.slice(32))).toEqual(new Set([31]));
  });

  it('of silence is low, and of nothing flat', () => {
    expect(Math.max(...waveformOf(Array.from({ length: 100 }, () => 0.005)))).toBeLessThan(5);
    expect(new Set(waveformOf([]))).toEqual(new Set([0]));
  });
});

describe('a recording', () => {
  const head = '\x1a\x45\xdf\xa3\x9fB\x86\x81\x01';
  const info = '\x15\x49\xa9\x66\xa5\x2a\xd7\xb1\x83\x0f\x42\x40';
  const names = '\x4d\x80\x86Chrome\x57\x41\x86Chrome\x44\x61\x880123456\x37';
  const sound = `\x1f\x43\xb6\x75${'Chrome'.repeat(200)}`;

  const seekHead = '\x11\x4d\x9b\x74\x8e\x53\xab\x84\x15\x49\xa9\x66\x53\xab\x84\x16\x54\xae\x6b';

  it.each([
    ['without an index', ''],
    ['with an index', seekHead],
  ])(
    'leaves without the date and the names of what has written it, and with all of its sound, %s',
    async (_, index) => {
      const recorded = new Blob([bytesOf(head + index + info + names + sound)], { type: 'audio/webm' });
      const clean = await withoutWriter(recorded);
      const text = String.fromCharCode(...new Uint8Array(await clean.arrayBuffer()));
      expect(clean.type).toBe('audio/webm');
      expect(clean.size).toBe(recorded.size);
      expect(text.slice(0, text.indexOf('\x1f\x43\xb6\x75'))).not.toMatch(/Chrome|0123456/);
      expect(text.endsWith(sound.slice(-1000))).toBe(true);
      expect(text.startsWith(head)).toBe(true);
    },
  );

  it('keeps whatever in its tracks and its sound looks like a name of its writer', async () => {
    const tracks = `\x16\x54\xae\x6b\x8b\x73\xc5\x88${names.slice(0, 9)}`;
    const alike = `\x1f\x43\xb6\x75\x57\x41\x86sounds\x44\x61\x90${'sound'.repeat(9)}`;
    const recorded = new Blob([bytesOf(head + info + names + tracks + alike)], { type: 'audio/webm' });
    const clean = await withoutWriter(recorded);
    const text = String.fromCharCode(...new Uint8Array(await clean.arrayBuffer()));
    expect(text.slice(-(tracks + alike).length)).toBe(tracks + alike);
    expect(text.slice(0, -(tracks + alike).length)).not.toMatch(/Chrome|0123456/);
  });

  it('of another kind leaves as it is', async () => {
    const ogg = new Blob([bytesOf(`OggS${names}`)], { type: 'audio/ogg' });
    expect(await withoutWriter(ogg)).toBe(ogg);
  });
});

describe('a file is played by its first bytes, not by its name', () => {
  it.each([
    ['\x1a\x45\xdf\xa3\x9fB\x86\x81\x01\x42\x82\x84webm', 'video/webm', 'video/webm'],
    ['\x1a\x45\xdf\xa3\x9fB\x86\x81\x01\x42\x82\x84webm', 'audio/webm', 'audio/webm'],
    ['\x1a\x45\xdf\xa3\x9fB\x86\x81\x01\x42\x82\x88matroska', 'video/webm', null],
    ['\0\0\0\x20ftypisom', 'video/mp4', 'video/mp4'],
    ['\0\0\0\x20ftypM4A ', '', 'audio/mp4'],
    ['\0\0\0\x20ftypqt  ', 'video/mp4', null],
    ['RIFF\0\0\0\0WAVE', 'text/html', 'audio/wav'],
    ['OggS', 'audio/ogg', 'audio/ogg'],
    ['OggS', 'video/ogg', null],
    ['ID3\x04', 'audio/mpeg', 'audio/mpeg'],
    ['\xff\xfb\x90', 'audio/mpeg', 'audio/mpeg'],
    ['\xff\xfb\x90', 'text/plain', null],
    ['<html>', 'video/mp4', null],
    ['<svg xmlns=', 'audio/mpeg', null],
    ['', 'video/webm', null],
  ])('%j that is said to be %j is %j', (bytes, said, type) => {
    expect(playableType(bytesOf(bytes), said)).toBe(type);
  });
});

describe('a picture that is enlarged', () => {
  const box = { width: 400, height: 300 };
  const whole = { scale: 1, x: 0, y: 0 };

  it('keeps the point under the pointer where it is', () => {
    const once = zoomed(whole, 2, { x: 100, y: -50 }, box);
    expect(once).toEqual({ scale: 2, x: -100, y: 50 });
    expect(zoomed(once, 1, { x: 0, y: 0 }, box)).toEqual(once);
  });

  it('gets no larger than eightfold, no smaller than whole, and stays within reach', () => {
    expect(zoomed(whole, 100, { x: 0, y: 0 }, box).scale).toBe(8);
    expect(zoomed({ scale: 2, x: -100, y: 50 }, 0.1, { x: 30, y: 30 }, box)).toEqual(whole);
    expect(zoomed({ scale: 4, x: 5000, y: -5000 }, 1, { x: 0, y: 0 }, box)).toEqual({
      scale: 4,
      x: 600,
      y: -450,
    });
  });
});

it('times are read as on a clock', () => {
  expect([0, 5.9, 65, 3725, -1].map(durationText)).toEqual(['0:00', '0:05', '1:05', '1:02:05', '0:00']);
});
