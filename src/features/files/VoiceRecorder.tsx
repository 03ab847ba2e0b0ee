import { useSetAtom, useStore } from 'jotai';
import { SendHorizontal, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { attemptAtom } from '../../store/attempt.ts';
import type { NewFile } from '../../store/files.ts';
import { currentUserAtom } from '../../store/session.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { durationText } from './durationText.ts';
import { Glyph } from './glyphs.tsx';
import { longestVoice, type Recording, startRecording } from './recording.ts';
import styles from './VoiceRecorder.module.css';

const bars = 32;
const drawEvery = 100;

export interface VoiceRecorderProps {
  /** Called once it is over, before the recording is there. */
  onEnd: () => void;
  onSend: (voice: NewFile) => void;
  /** It waits beside the form until it is sent. */
  onKeep: (voice: NewFile) => void;
}

/** Records a voice message from the moment it is shown. Whoever leaves the chat finds it there as they come back. */
export function VoiceRecorder({ onEnd, onKeep, onSend }: VoiceRecorderProps) {
  const attempt = useSetAtom(attemptAtom);
  const showToast = useSetAtom(showToastAtom);
  const store = useStore();
  const [recording, setRecording] = useState<Recording | null>(null);
  const [elapsed, setElapsed] = useState(0);
  const [levels, setLevels] = useState<readonly number[]>([]);
  const stop = useRef<HTMLButtonElement>(null);
  const isOver = useRef(false);
  const callbacks = useRef({ onEnd, onKeep });
  useEffect(() => {
    callbacks.current = { onEnd, onKeep };
  });

  function finish(ended: Recording, take: (voice: NewFile) => void): void {
    if (isOver.current) return;
    isOver.current = true;
    const ownId = store.get(currentUserAtom)?.id;
    callbacks.current.onEnd();
    void attempt(
      async () => {
        const voice = await ended.stop();
        // Somebody else may have logged in meanwhile, who has not spoken.
        if (store.get(currentUserAtom)?.id === ownId) take(voice);
      },
      { failure: t('files.voiceFailed') },
    );
  }
  const keep = (ended: Recording) => finish(ended, (voice) => callbacks.current.onKeep(voice));

  useEffect(() => {
    isOver.current = false;
    let made = null as Recording | null;
    let isGone = false;
    void (async () => {
      const hasBegun = await attempt(
        async () => {
          made = await startRecording(() => made !== null && keep(made));
        },
        { failure: t('files.voiceFailed') },
      );
      if (isGone) made?.cancel();
      else if (hasBegun) setRecording(made);
      else callbacks.current.onEnd();
    })();
    return () => {
      isGone = true;
      if (made !== null) keep(made);
    };
    // It records once, whatever is drawn meanwhile.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);

  useEffect(() => {
    if (recording === null) return undefined;
    stop.current?.focus();
    const drawing = setInterval(() => {
      setElapsed(recording.elapsed());
      setLevels((before) => [...before, recording.level()].slice(-bars));
      if (recording.elapsed() < longestVoice) return;
      showToast('info', t('files.voiceLongest'));
      keep(recording);
    }, drawEvery);
    return () => clearInterval(drawing);
    // oxlint-disable-next-line react/exhaustive-deps -- as above
  }, [recording]);

  function cancel(): void {
    isOver.current = true;
    recording?.cancel();
    onEnd();
  }

  return (
    <fieldset className={styles.recorder} aria-label={t('files.voice')}>
      <IconButton label={t('files.voiceDiscard')} icon={<Trash2 aria-hidden="true" />} onClick={cancel} />
      {recording === null ? (
        <output className={styles.asking}>
          <Spinner /> {t('files.voiceAsking')}
        </output>
      ) : (
        <>
          <output className={styles.state}>
            <span className={styles.dot} aria-hidden="true" />
            <span className={styles.word}>{t('files.voiceRecording')}</span>
          </output>
          <span className={styles.time} role="timer" aria-label={t('files.voiceElapsed')}>
            {durationText(elapsed / 1000)}
          </span>
          <span className={styles.levels} aria-hidden="true">
            {levels.map((level, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- they move through their places
              <span key={at} style={{ blockSize: `${Math.max(6, Math.min(1, level * 1.5) * 100)}%` }} />
            ))}
          </span>
          <IconButton
            ref={stop}
            label={t('files.voiceStop')}
            icon={<Glyph shape="stop" />}
            onClick={() => keep(recording)}
          />
          <Button
            variant="primary"
            aria-label={t('files.voiceSend')}
            onClick={() => finish(recording, onSend)}
          >
            <SendHorizontal size={18} aria-hidden="true" />
          </Button>
        </>
      )}
    </fieldset>
  );
}
