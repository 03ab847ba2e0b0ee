/**
 * The type of a sound or film by its first bytes, of those that a message may have; null for all else.
 * @param said by the browser, mostly after the file's name: it tells sound from film where both begin in the same way
 */
export function playableType(bytes: Uint8Array, said: string): string | null {
  const has = (at: number, text: string) =>
    at + text.length <= bytes.length &&
    Array.from(text).every((letter, i) => bytes[at + i] === letter.charCodeAt(0));
  const isSound = said.startsWith('audio/');
  if (has(0, '\x1a\x45\xdf\xa3')) {
    const isWebm = Array.from({ length: 60 }, (_, at) => at).some((at) => has(at, 'webm'));
    return isWebm ? (isSound ? 'audio/webm' : 'video/webm') : null;
  }
  if (has(4, 'ftyp')) {
    if (has(8, 'qt  ')) return null;
    return isSound || has(8, 'M4A') ? 'audio/mp4' : 'video/mp4';
  }
  if (has(0, 'RIFF') && has(8, 'WAVE')) return 'audio/wav';
  if (has(0, 'OggS')) return said.startsWith('video/') ? null : 'audio/ogg';
  // Frames begin with eleven bits that are set.
  const isFrame = bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0;
  return has(0, 'ID3') || (isFrame && said === 'audio/mpeg') ? 'audio/mpeg' : null;
}
