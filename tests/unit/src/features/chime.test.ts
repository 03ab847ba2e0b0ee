import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { playChime } from '#src/features/attention/chime.ts';

/** The contexts that the sound card would get. */
let contexts: FakeAudioContext[] = [];

class FakeAudioContext {
  readonly currentTime = 7;
  readonly destination = 'loudspeaker';
  readonly gains: { linearRampToValueAtTime: ReturnType<typeof vi.fn> }[] = [];
  readonly close = vi.fn<() => Promise<void>>().mockResolvedValue();
  constructor() {
    contexts.push(this);
  }
  createGain() {
    const gain = {
      setValueAtTime: vi.fn<() => void>(),
      linearRampToValueAtTime: vi.fn<(value: number) => void>(),
      exponentialRampToValueAtTime: vi.fn<() => void>(),
    };
    this.gains.push(gain);
    return { gain, connect: (to: unknown) => to };
  }
}

let notes: FakeOscillator[] = [];

class FakeOscillator extends EventTarget {
  readonly start = vi.fn<(at: number) => void>();
  readonly stop = vi.fn<(at: number) => void>();
  constructor() {
    super();
    notes.push(this);
  }
  connect(to: unknown) {
    return to;
  }
}

function touched(hasBeenActive: boolean) {
  Object.defineProperty(navigator, 'userActivation', { value: { hasBeenActive }, configurable: true });
}

beforeEach(() => {
  contexts = [];
  notes = [];
  touched(true);
  vi.stubGlobal('AudioContext', FakeAudioContext);
  vi.stubGlobal('OscillatorNode', FakeOscillator);
});

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(navigator, 'userActivation');
});

describe('the sound of a message', () => {
  it('is two short notes, never loud, and lets go of the sound card after the last', () => {
    playChime();
    expect(notes).toHaveLength(2);
    for (const { start, stop } of notes) {
      expect(stop.mock.calls[0]![0] - start.mock.calls[0]![0]).toBeLessThan(0.5);
    }
    const [context] = contexts;
    const peaks = context!.gains.map(
      ({ linearRampToValueAtTime }) => linearRampToValueAtTime.mock.calls[0]![0],
    );
    expect(Math.max(...peaks)).toBeLessThan(0.2);
    notes[0]!.dispatchEvent(new Event('ended'));
    expect(context!.close).not.toHaveBeenCalled();
    notes[1]!.dispatchEvent(new Event('ended'));
    expect(context!.close).toHaveBeenCalledOnce();
  });

  it('is not tried where browsers forbid it, or have none', () => {
    touched(false);
    playChime();
    expect(contexts).toEqual([]);
    touched(true);
    Reflect.deleteProperty(globalThis, 'AudioContext');
    expect(() => playChime()).not.toThrow();
  });
});
