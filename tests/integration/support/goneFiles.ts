import { expect } from 'vitest';
import { type Tab, until } from './browser.ts';
import type { Secret } from './scan.ts';

/** Bytes of a file, which no other file here has. */
export const drawnBytes = (length: number, step: number) =>
  Uint8Array.from({ length }, (_, at) => (at * step + (at >> 3) * 13 + 5) % 251);
/** The beginning by which players know WebM: others are not read. */
const drawnVoice = (length: number, step: number) => {
  const bytes = drawnBytes(length, step);
  bytes.set(Buffer.from('1a45dfa37765626d', 'hex'));
  return bytes;
};
/** As loud as the 64 parts of a voice message are. */
export const drawnWaveform = (step: number): readonly number[] =>
  Array.from({ length: 64 }, (_, at) => (at * step + (at >> 2)) % 32);

/** The words beside pictures and voice messages that are gone from every browser at the end. */
export const goneWords = {
  deletedCaption: 'The boathouse as it stood before the fire',
  deletedPicture: 'boathouse-before-the-fire.webp',
  deletedDescription: 'A house with a green door, by the water',
  deletedVoice: 'knocking-at-the-green-door.webm',
  disappearedCaption: 'Her handwriting, on the back of the chart',
  disappearedPicture: 'back-of-the-chart.webp',
  disappearedDescription: 'Eleven words in pencil, underlined twice',
  disappearedVoice: 'whispered-by-the-chart-table.webm',
};

const goneFiles = {
  deleted: {
    picture: drawnBytes(61_337, 73),
    preview: drawnBytes(260, 43),
    voice: drawnVoice(40_429, 97),
    waveform: drawnWaveform(7),
  },
  disappeared: {
    picture: drawnBytes(73_951, 67),
    preview: drawnBytes(280, 37),
    voice: drawnVoice(50_851, 107),
    waveform: drawnWaveform(13),
  },
} as const;

/** The bytes of those files. */
export const goneBytes: readonly Secret[] = Object.entries(goneFiles).flatMap(
  ([name, { picture, preview, voice, waveform }]) => [
    { name: `${name} picture`, bytes: picture.subarray(1000, 1064) },
    { name: `${name} voice`, bytes: voice.subarray(1000, 1064) },
    { name: `${name} preview`, bytes: preview.subarray(60, 124) },
    { name: `${name} waveform`, bytes: Uint8Array.from(waveform) },
    { name: `${name} waveform as numbers`, bytes: Buffer.from(waveform.slice(8, 24).join()) },
  ],
);

/** Their lengths. */
export const goneSizes = Object.values(goneFiles).flatMap(({ picture, voice }) => [
  picture.length,
  voice.length,
]);

/** Sends a picture and a voice message. @returns the message's id, once the other one has read both */
export async function sendGone(name: keyof typeof goneFiles, from: Tab, to: Tab): Promise<string> {
  const { picture, preview, voice, waveform } = goneFiles[name];
  const caption = goneWords[`${name}Caption`];
  const small = { type: 'image/webp', bytes: Buffer.from(preview).toString('base64url') } as const;
  const facts = { type: 'image/webp', kind: 'picture', width: 1200, height: 800, preview: small } as const;
  const spoken = { type: 'audio/webm', kind: 'voice', duration: 4000, waveform, description: '' } as const;
  const said = { name: goneWords[`${name}Picture`], description: goneWords[`${name}Description`] };
  await (await from.actions.files()).send(to.userId, caption, [
    { source: new Blob([picture]), facts: { ...facts, ...said } },
    { source: new Blob([voice]), facts: { ...spoken, name: goneWords[`${name}Voice`] } },
  ]);
  const found = () =>
    to.chat(from.userId).messages.find(({ content }) => content.kind === 'files' && content.text === caption);
  await until(() => found() !== undefined, true);
  const message = found();
  if (message?.content.kind !== 'files') throw new Error('no files');
  const { conversationId, messageId } = message;
  const files = await to.actions.files();
  for (const [index, file] of message.content.files.entries()) {
    const { size } = await files.read({ conversationId, messageId, index }, file);
    expect(size).toBe([picture, voice][index]?.length);
  }
  return messageId;
}
