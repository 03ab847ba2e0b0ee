import { t } from '../../i18n/i18n.ts';
import { AppError } from '../../lib/appError.ts';
import type { NewFile } from '../../store/files.ts';
import { waveformOf } from './waveformOf.ts';
import { withoutWriter } from './withoutWriter.ts';

/** Milliseconds of a voice message. */
export const longestVoice = 15 * 60 * 1000;
/** Bits per second: speech is clear with it, and a minute has some 240 kB. */
const bitRate = 32_000;
/** Milliseconds between two looks at how loud it is. */
const lookEvery = 50;
/** Opus where it can be had; Safari before 18.4 has none. */
const types = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4'] as const;

/** A voice message that is being recorded. */
export interface Recording {
  /** Milliseconds since it began. */
  readonly elapsed: () => number;
  /** How loud it is now, from 0 to 1. */
  readonly level: () => number;
  /** Ends it. @throws AppError `unsupported` where nothing was recorded */
  stop(): Promise<NewFile>;
  cancel(): void;
}

/**
 * Asks for the microphone, and records until it is stopped. The browser shows all the while that it does.
 * @param onEnded called where the microphone is gone
 * @throws AppError `unsupported` with a sentence on why it can't be had
 */
export async function startRecording(onEnded: () => void): Promise<Recording> {
  const stream = await openMicrophone();
  try {
    return recordingOf(stream, onEnded);
  } catch (error) {
    release(stream);
    throw new AppError('unsupported', t('files.voiceUnsupported'), { cause: error });
  }
}

function recordingOf(stream: MediaStream, onEnded: () => void): Recording {
  const type = types.find((one) => MediaRecorder.isTypeSupported(one));
  const recorder = new MediaRecorder(stream, {
    audioBitsPerSecond: bitRate,
    ...(type === undefined ? {} : { mimeType: type }),
  });
  const parts: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data));
  const meter = meterOf(stream);
  const levels: number[] = [];
  const looks = setInterval(() => levels.push(meter.level()), lookEvery);
  for (const track of stream.getTracks()) track.addEventListener('ended', onEnded);
  const began = performance.now();
  let length: number | null = null;
  // Pieces of a second each: the browser keeps them elsewhere than in the page's memory.
  recorder.start(1000);

  function end(): void {
    length ??= performance.now() - began;
    clearInterval(looks);
    meter.close();
    release(stream);
  }

  const elapsed = () => length ?? performance.now() - began;

  return {
    elapsed,
    level: meter.level,
    cancel() {
      if (recorder.state !== 'inactive') recorder.stop();
      end();
    },
    async stop() {
      if (recorder.state !== 'inactive') {
        await new Promise<void>((resolve) => {
          recorder.addEventListener('stop', () => resolve(), { once: true });
          recorder.stop();
        });
      }
      end();
      const essence = recorder.mimeType.split(';')[0] ?? '';
      const source = await withoutWriter(new Blob(parts, { type: essence }));
      if (source.size === 0) throw new AppError('unsupported', t('files.voiceFailed'));
      return {
        source,
        facts: {
          name: `${t('files.voice')}.${essence.slice('audio/'.length)}`,
          type: essence,
          kind: 'voice',
          description: '',
          duration: Math.max(1, Math.round(elapsed())),
          waveform: waveformOf(levels),
        },
      };
    },
  };
}

function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

const refusals = {
  NotAllowedError: 'files.voiceDenied',
  SecurityError: 'files.voiceDenied',
  NotFoundError: 'files.voiceNone',
  NotReadableError: 'files.voiceBusy',
} as const;

async function openMicrophone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : '';
    const text = Object.hasOwn(refusals, name)
      ? refusals[name as keyof typeof refusals]
      : 'files.voiceFailed';
    throw new AppError('unsupported', t(text), { cause: error });
  }
}

function meterOf(stream: MediaStream): { readonly level: () => number; readonly close: () => void } {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return {
    level() {
      analyser.getFloatTimeDomainData(samples);
      return samples.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), 0);
    },
    close: () => void context.close(),
  };
}
