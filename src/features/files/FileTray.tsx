import { X } from 'lucide-react';
import { byteText } from '../../i18n/byteText.ts';
import { t } from '../../i18n/i18n.ts';
import type { ChosenFile } from '../../store/chosenFiles.ts';
import type { NewFile } from '../../store/files.ts';
import { IconButton } from '../../ui/Button.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import styles from './FileTray.module.css';
import { previewUrl } from './preview.ts';
import { SoundPlayer } from './SoundPlayer.tsx';
import { useOwnMedia } from './useMedia.ts';

export interface FileTrayProps {
  open: boolean;
  files: readonly ChosenFile[];
  onChange: (change: (files: readonly ChosenFile[]) => readonly ChosenFile[]) => void;
}

/** The files that go with the next message, each to be described and taken out again. */
export function FileTray({ open, files, onChange }: FileTrayProps) {
  if (!open) return null;
  const describe = (id: string, description: string) =>
    onChange((before) => before.map((one) => (one.id === id ? { ...one, description } : one)));
  return (
    <ul className={styles.tray} aria-label={t('files.chosen')}>
      {files.map(({ description, file, id, name, problem }) => {
        const preview = file?.facts.preview;
        return (
          <li key={id} className={styles.file}>
            {preview !== undefined && <img className={styles.thumbnail} src={previewUrl(preview)} alt="" />}
            <div className={styles.words}>
              {file?.facts.kind === 'voice' && <OwnVoice voice={file} />}
              <span className={styles.name}>
                <bdi>{name}</bdi>
                {file !== null && <span className={styles.size}>{byteText(file.source.size)}</span>}
                {file === null && problem === null && (
                  <output className={styles.size}>
                    <Spinner /> {t('files.preparing')}
                  </output>
                )}
              </span>
              {problem !== null && (
                <span className={styles.problem} role="alert">
                  {problem}
                </span>
              )}
              {file?.facts.kind === 'picture' && (
                <input
                  className={styles.description}
                  aria-label={t('files.describe', { name })}
                  placeholder={t('files.describeHint')}
                  maxLength={500}
                  autoComplete="off"
                  value={description}
                  onChange={(event) => describe(id, event.target.value)}
                />
              )}
            </div>
            <IconButton
              size="small"
              label={t('files.remove', { name })}
              icon={<X aria-hidden="true" />}
              onClick={() => onChange((before) => before.filter((one) => one.id !== id))}
            />
          </li>
        );
      })}
    </ul>
  );
}

/** A recording that can be listened to before it goes. */
function OwnVoice({ voice: { facts, source } }: { voice: NewFile }) {
  const media = useOwnMedia(source);
  const { duration, waveform } = facts;
  return (
    <SoundPlayer media={media} name={t('files.voice')} duration={duration} waveform={waveform} tabIndex={0} />
  );
}
