/** Two soft notes, a fourth apart: hertz, and seconds after the start. */
const notes = [
  { frequency: 659.26, at: 0 },
  { frequency: 880, at: 0.11 },
] as const;

/** Seconds that a note takes to fade. */
const fade = 0.45;
/** Share of full volume. */
const loudness = 0.12;

/** Plays the sound of a new message. Silent in a tab that nobody has touched yet: browsers forbid it there. */
export function playChime(): void {
  // Older browsers don't have the property.
  const { userActivation = { hasBeenActive: true } } = navigator as Partial<Navigator>;
  if (!('AudioContext' in globalThis) || !userActivation.hasBeenActive) return;
  const context = new AudioContext();
  const start = context.currentTime;
  for (const { frequency, at } of notes) {
    const envelope = context.createGain();
    envelope.gain.setValueAtTime(0, start + at);
    envelope.gain.linearRampToValueAtTime(loudness, start + at + 0.015);
    envelope.gain.exponentialRampToValueAtTime(0.0001, start + at + fade);
    const oscillator = new OscillatorNode(context, { type: 'sine', frequency });
    oscillator.connect(envelope).connect(context.destination);
    oscillator.start(start + at);
    oscillator.stop(start + at + fade);
    if (at === notes.at(-1)?.at) oscillator.addEventListener('ended', () => void context.close());
  }
}
