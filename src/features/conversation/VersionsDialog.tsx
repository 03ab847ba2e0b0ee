import { useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { MessageVersion, MessageView } from '../../store/chats.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { MessageWords } from './MessageText.tsx';
import styles from './VersionsDialog.module.css';

interface VersionsProps {
  open: boolean;
  message: MessageView;
  load: (message: MessageView) => Promise<readonly MessageVersion[]>;
  onClose: () => void;
}

/** An edited message as it was each time, the newest first. */
export function VersionsDialog({ open, message, load, onClose }: VersionsProps) {
  const versions = useVersions(message, load);
  return (
    <Dialog open={open} onOpenChange={onClose} title={t('chat.versions')}>
      {versions === 'loading' && <LoadingLine text={t('chat.versionsLoading')} />}
      {versions === 'failed' && <p>{t('chat.versionsFailed')}</p>}
      {typeof versions === 'object' && versions.length === 0 && <p>{t('chat.versionsNone')}</p>}
      {typeof versions === 'object' && (
        <ol className={styles.versions}>
          {versions.toReversed().map(({ timestamp, ...words }, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- two edits may come at one time
            <li key={index}>
              <p className={styles.when}>
                <time dateTime={timestamp}>{fullTimestamp(timestamp)}</time>
                {index === 0 && ` · ${t('chat.versionNow')}`}
                {index > 0 && index === versions.length - 1 && ` · ${t('chat.versionFirst')}`}
              </p>
              <div className={styles.text}>
                <MessageWords words={words} />
              </div>
            </li>
          ))}
        </ol>
      )}
    </Dialog>
  );
}

/** They are asked for again with each edit that comes while they are shown. */
function useVersions(message: MessageView, load: VersionsProps['load']) {
  const [versions, setVersions] = useState<readonly MessageVersion[] | 'loading' | 'failed'>('loading');
  useEffect(() => {
    let isWanted = true;
    load(message).then(
      (found) => isWanted && setVersions(found),
      () => isWanted && setVersions('failed'),
    );
    return () => {
      isWanted = false;
    };
  }, [load, message]);
  return versions;
}
