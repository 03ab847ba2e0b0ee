import { useAtomValue, useSetAtom } from 'jotai';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import {
  downloadKey,
  downloadsAtom,
  type FileActions,
  type FilePlace,
  uploadsAtom,
} from '../../store/files.ts';
import { Button } from '../../ui/Button.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import styles from './TransferLine.module.css';

/** How far the files of a message have come on their way out. */
export function UploadLine({ messageId, tabIndex }: { messageId: string; tabIndex: number }) {
  const upload = useAtomValue(uploadsAtom)[messageId];
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  if (upload === undefined) return null;
  const { failure, isPaused, isWaiting, progress } = upload;
  const attempted = (act: (files: FileActions) => Promise<void> | void) => () =>
    void attempt(async () => act(await actions.files()), { failure: t('files.uploadFailed') });
  const discard = attempted((files) => files.discardUpload(messageId));
  if (failure !== null)
    return (
      <div className={styles.transfer}>
        <p className={styles.problem} role="alert">
          {failure.text}
        </p>
        <div className={styles.actions}>
          <Button
            size="small"
            variant="quiet"
            tabIndex={tabIndex}
            onClick={attempted((files) => files.retryUpload(messageId))}
          >
            {t('files.tryAgain')}
          </Button>
          <Button size="small" variant="quiet" tabIndex={tabIndex} onClick={discard}>
            {t('files.discard')}
          </Button>
        </div>
      </div>
    );
  const percent = Math.floor(progress * 100);
  return (
    <TransferLine
      label={t('files.uploading')}
      text={isWaiting ? t('files.uploadWaiting') : t('files.uploadProgress', { percent })}
      percent={percent}
      isPaused={isPaused}
      onPause={attempted((files) => files.pauseUpload(messageId))}
      onResume={attempted((files) => files.resumeUpload(messageId))}
      onCancel={discard}
      tabIndex={tabIndex}
    />
  );
}

/** How far a large file has come on its way to where the person wants it. */
export function DownloadLine({ place, tabIndex }: { place: FilePlace; tabIndex: number }) {
  const download = useAtomValue(downloadsAtom)[downloadKey(place)];
  if (download === undefined) return null;
  const percent = Math.floor(download.progress * 100);
  return (
    <TransferLine
      label={t('files.download')}
      text={t('files.downloadProgress', { percent })}
      percent={percent}
      isPaused={download.isPaused}
      onPause={download.pause}
      onResume={download.resume}
      onCancel={download.cancel}
      tabIndex={tabIndex}
    />
  );
}

interface TransferLineProps {
  /** The accessible name of its progress. */
  label: string;
  /** The progress in words, unless it is paused. */
  text: string;
  percent: number;
  isPaused: boolean;
  onPause: () => void;
  onResume: () => void;
  onCancel: () => void;
  tabIndex: number;
}

function TransferLine(props: TransferLineProps) {
  const { isPaused, label, onCancel, onPause, onResume, percent, tabIndex, text } = props;
  return (
    <div className={styles.transfer}>
      <ProgressBar
        label={label}
        text={isPaused ? t('files.pausedAt', { percent }) : text}
        value={percent}
        max={100}
      />
      <div className={styles.actions}>
        <Button size="small" variant="quiet" tabIndex={tabIndex} onClick={isPaused ? onResume : onPause}>
          {t(isPaused ? 'files.resume' : 'files.pause')}
        </Button>
        <Button size="small" variant="quiet" tabIndex={tabIndex} onClick={onCancel}>
          {t('files.cancel')}
        </Button>
      </div>
    </div>
  );
}
