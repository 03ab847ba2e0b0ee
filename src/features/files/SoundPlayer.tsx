import { useAtom } from 'jotai';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { sessionAtom } from '../../store/sessionAtom.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { durationText } from './durationText.ts';
import { Glyph } from './glyphs.tsx';
import { onlyOnePlays } from './onePlays.ts';
import styles from './SoundPlayer.module.css';
import type { Media } from './useMedia.ts';
import { Waveform } from './Waveform.tsx';

const speeds = [1, 1.5, 2] as const;
/** A person who listens to one voice message faster wants the next one so. */
const speedAtom = sessionAtom<(typeof speeds)[number]>(1);

export interface SoundPlayerProps {
  media: Media;
  /** Names the sound. */
  name: string;
  /** Milliseconds, as whoever recorded it tells. */
  duration: number | undefined;
  waveform: readonly number[] | undefined;
  tabIndex: number;
}

/** Plays a sound: nothing of it is loaded before. The position moves by pointer, by the arrows, and to the ends by Home and End. */
export function SoundPlayer({ media, name, duration, waveform, tabIndex }: SoundPlayerProps) {
  const audio = useRef<HTMLAudioElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  const [at, setAt] = useState(0);
  const [measured, setMeasured] = useState<number | null>(null);
  const [speed, setSpeed] = useAtom(speedAtom);
  const { isLoading, problem, url } = media;
  const length = measured ?? (duration ?? 0) / 1000;
  const shown = Math.min(at, length);

  useEffect(() => {
    const element = audio.current;
    if (element === null || url === null) return;
    element.defaultPlaybackRate = speed;
    element.playbackRate = speed;
  }, [speed, url]);

  function toggle(): void {
    const element = audio.current;
    if (url === null) media.load();
    else if (element?.paused === true) void element.play().catch(() => undefined);
    else element?.pause();
  }

  function seek(to: number): void {
    const bounded = Math.min(Math.max(0, to), length);
    setAt(bounded);
    if (audio.current !== null) audio.current.currentTime = bounded;
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = length > 60 ? 5 : 1;
    const to = { ArrowLeft: at - step, ArrowRight: at + step, ArrowDown: at - step, ArrowUp: at + step }[
      event.key
    ];
    // The list of messages moves by these keys.
    if (to !== undefined || event.key === 'Home' || event.key === 'End') event.stopPropagation();
    if (to === undefined) return;
    event.preventDefault();
    seek(to);
  }

  const label = t(isPlaying ? 'files.pauseNamed' : 'files.playNamed', { name });
  const isBusy = isLoading || (isWaiting && isPlaying);
  return (
    <div className={styles.player}>
      {url !== null && (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- nobody has written down what is said
        <audio
          ref={audio}
          src={url}
          onPlay={({ currentTarget }) => {
            onlyOnePlays(currentTarget);
            setPlaying(true);
          }}
          onPause={() => setPlaying(false)}
          onWaiting={() => setWaiting(true)}
          onPlaying={() => setWaiting(false)}
          onLoadedMetadata={({ currentTarget }) => {
            currentTarget.currentTime = at;
            // By itself it would wait until it takes the line to be fast enough for all of it.
            void currentTarget.play().catch(() => undefined);
          }}
          onDurationChange={({ currentTarget: { duration: told } }) =>
            // Recordings say their length at the end alone, if at all.
            setMeasured(Number.isFinite(told) ? told : null)
          }
          onTimeUpdate={({ currentTarget }) => setAt(currentTarget.currentTime)}
          onEnded={() => {
            setPlaying(false);
            seek(0);
          }}
          onError={() => {
            setPlaying(false);
            media.fail();
          }}
        />
      )}
      <IconButton
        tabIndex={tabIndex}
        label={label}
        disabled={isLoading}
        icon={isBusy ? <Spinner /> : <Glyph shape={isPlaying ? 'pause' : 'play'} />}
        onClick={toggle}
      />
      <div className={styles.line}>
        <div className={styles.track}>
          {waveform === undefined ? (
            <progress className={styles.bar} value={shown} max={length || 1} aria-hidden="true" />
          ) : (
            <Waveform values={waveform} share={length === 0 ? 0 : shown / length} />
          )}
          <input
            className={styles.position}
            type="range"
            tabIndex={tabIndex}
            aria-label={t('files.position', { name })}
            aria-valuetext={t('files.positionOf', { at: durationText(shown), length: durationText(length) })}
            min={0}
            max={length || 1}
            step="any"
            value={shown}
            onChange={(event) => seek(Number(event.target.value))}
            onKeyDown={onKeyDown}
          />
        </div>
        <span className={styles.time} aria-hidden="true">
          {isPlaying || shown > 0 ? `${durationText(shown)} / ${durationText(length)}` : durationText(length)}
        </span>
      </div>
      <Button
        size="small"
        variant="quiet"
        tabIndex={tabIndex}
        aria-label={t('files.speed', { speed })}
        onClick={() => setSpeed(speeds[(speeds.indexOf(speed) + 1) % speeds.length] ?? 1)}
      >
        {t('files.times', { speed })}
      </Button>
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
