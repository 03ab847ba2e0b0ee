import { useAtomValue, useSetAtom } from 'jotai';
import { Download, FileText } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { byteText } from '../../i18n/byteText.ts';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { errorText } from '../../lib/errorText.ts';
import { operator } from '../../operator/index.ts';
import {
  type ExportFormat,
  type ExportProgress,
  exportProgressAtom,
  type FilesMeasure,
} from '../../store/account.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Button } from '../../ui/Button.tsx';
import { Card, CardBody, CardRow } from '../../ui/Card.tsx';
import { catchLostFocus } from '../../ui/focus.ts';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { openExportFile } from './exportFile.ts';
import styles from './YourDataCard.module.css';

/** Exports one's data, and lists one's rights (GDPR, articles 15 to 20). */
export function YourDataCard({ id }: { id?: string }) {
  const underWay = useAtomValue(exportProgressAtom);
  const [withFiles, setWithFiles] = useState(false);
  const hintId = useId();
  return (
    <Card
      title={t('profile.data.title')}
      icon={<FileText />}
      description={t('profile.data.description')}
      {...(id !== undefined && { id })}
    >
      <CardRow
        title={t('profile.data.files')}
        description={<span id={hintId}>{t('profile.data.filesHint')}</span>}
        control={
          <Switch
            label={t('profile.data.files')}
            describedBy={hintId}
            checked={withFiles}
            onCheckedChange={setWithFiles}
            disabled={underWay !== null}
          />
        }
      >
        <output className={styles.size}>{withFiles && <FilesSize />}</output>
      </CardRow>
      <DataDownload format="json" withFiles={withFiles} />
      <DataDownload format="html" withFiles={withFiles} />
      <CardBody>
        <h3 className={styles.title}>{t('profile.data.rightsTitle')}</h3>
        <dl className={styles.rights}>
          <Right name={t('profile.data.rightAccess')} text={t('profile.data.rightAccessText')} />
          <Right
            name={t('profile.data.rightRectification')}
            text={t('profile.data.rightRectificationText')}
          />
          <Right name={t('profile.data.rightErasure')} text={t('profile.data.rightErasureText')} />
          <Right name={t('profile.data.rightPortability')} text={t('profile.data.rightPortabilityText')} />
        </dl>
        <p className={styles.contact}>
          <ContactLine />
        </p>
      </CardBody>
    </Card>
  );
}

/** Says how much the files of all messages are: messages are counted when they are wanted, since there may be many. */
function FilesSize() {
  const actions = useAtomValue(requiredActionsAtom);
  const [measure, setMeasure] = useState<FilesMeasure | 'failed' | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    actions.measureFiles(stop.signal).then(
      (measured) => !stop.signal.aborted && setMeasure(measured),
      () => !stop.signal.aborted && setMeasure('failed'),
    );
    return () => stop.abort();
  }, [actions]);
  if (measure === null) return t('profile.data.filesCounting');
  if (measure === 'failed') return t('profile.data.filesUnknown');
  const { bytes, count } = measure;
  return count === 0
    ? t('profile.data.filesNone')
    : t('profile.data.filesSize', { count, size: byteText(bytes) });
}

const downloads = {
  json: {
    title: 'profile.data.jsonTitle',
    hint: 'profile.data.jsonHint',
    label: 'profile.data.downloadJson',
  },
  html: {
    title: 'profile.data.htmlTitle',
    hint: 'profile.data.htmlHint',
    label: 'profile.data.downloadHtml',
  },
} as const satisfies Record<ExportFormat, Record<'title' | 'hint' | 'label', MessageId>>;

/** A row that exports to a file of one format, at a place that the person chooses. */
function DataDownload({ format, withFiles }: { format: ExportFormat; withFiles: boolean }) {
  const actions = useAtomValue(requiredActionsAtom);
  const underWay = useAtomValue(exportProgressAtom);
  const showToast = useSetAtom(showToastAtom);
  const [asking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const progress = underWay?.format === format ? underWay : null;
  const busy = asking || progress !== null;
  const texts = downloads[format];

  // A button that is busy lets go of the focus.
  const wasBusy = useRef(false);
  useEffect(() => {
    if (wasBusy.current && !busy) catchLostFocus(button.current);
    wasBusy.current = busy;
  }, [busy]);

  async function download() {
    setAsking(true);
    try {
      const kind = withFiles ? 'zip' : format;
      const file = await openExportFile(kind, new Date()).finally(() => setAsking(false));
      const files = file && (await actions.exportData(format, file, withFiles));
      if (files === null) showToast('info', t('profile.data.cancelled'));
      else if (withFiles) showToast('success', t('profile.data.doneWithFiles', { ...files }));
      else showToast('success', t('profile.data.done'));
    } catch (error) {
      showToast('error', errorText(error, t('errors.exportFailed')));
    }
  }

  return (
    <CardRow
      title={t(texts.title)}
      description={t(texts.hint)}
      control={
        <Button ref={button} busy={busy} disabled={underWay !== null} onClick={() => void download()}>
          {!busy && <Download size={18} aria-hidden="true" />}
          {t(texts.label)}
        </Button>
      }
    >
      {progress !== null && (
        <div className={styles.progress}>
          <ProgressBar
            label={t('profile.data.progressLabel')}
            text={progressText(progress)}
            value={progress.total === 0 ? null : progress.done}
            max={Math.max(progress.total, 1)}
          />
          <Button size="small" onClick={() => actions.cancelDataExport()}>
            {t('profile.cancel')}
          </Button>
        </div>
      )}
    </CardRow>
  );
}

function progressText({ done, total, unit }: ExportProgress): string {
  if (total === 0) return t('profile.data.preparing');
  return unit === 'messages'
    ? t('profile.data.progress', { done, total })
    : t('profile.data.filesProgress', { done: byteText(done), total: byteText(total) });
}

function Right({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}

function ContactLine() {
  const address = operator.privacyEmail ?? operator.supportEmail;
  if (address === null) return t('profile.data.rightsOperator');
  return (
    <RichText
      id="profile.data.rightsContact"
      parts={{ address: <a href={`mailto:${address}`}>{address}</a> }}
    />
  );
}
