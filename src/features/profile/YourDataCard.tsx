import { useAtomValue, useSetAtom } from 'jotai';
import { Download, FileText } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { errorText } from '../../lib/errorText.ts';
import { operator } from '../../operator/index.ts';
import { exportProgressAtom } from '../../store/account.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Button } from '../../ui/Button.tsx';
import { Card, CardBody, CardRow } from '../../ui/Card.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { openExportFiles } from './exportFiles.ts';
import styles from './YourDataCard.module.css';

/** What one can have of one's data, and which rights there are (GDPR, articles 15 to 20). */
export function YourDataCard({ id }: { id?: string }) {
  return (
    <Card
      title={t('profile.data.title')}
      icon={<FileText />}
      description={t('profile.data.description')}
      {...(id !== undefined && { id })}
    >
      <DataDownload />
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

function DataDownload() {
  const actions = useAtomValue(requiredActionsAtom);
  const progress = useAtomValue(exportProgressAtom);
  const showToast = useSetAtom(showToastAtom);
  const [asking, setAsking] = useState(false);
  const busy = asking || progress !== null;

  async function download() {
    setAsking(true);
    const files = await openExportFiles(new Date()).finally(() => setAsking(false));
    if (files === null) return;
    try {
      if (await actions.exportData(files)) showToast('success', t('profile.data.done'));
      else showToast('info', t('profile.data.cancelled'));
    } catch (error) {
      showToast('error', errorText(error, t('errors.exportFailed')));
    }
  }

  return (
    <CardRow
      title={t('profile.data.downloadTitle')}
      description={t('profile.data.downloadHint')}
      control={
        <Button busy={busy} onClick={() => void download()}>
          {!busy && <Download size={18} aria-hidden="true" />}
          {t('profile.data.download')}
        </Button>
      }
    >
      {progress !== null && (
        <div className={styles.progress}>
          <ProgressBar
            label={t('profile.data.progressLabel')}
            text={
              progress.total === 0 ? t('profile.data.preparing') : t('profile.data.progress', { ...progress })
            }
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
