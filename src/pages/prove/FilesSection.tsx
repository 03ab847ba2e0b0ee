import { CircleAlert, CircleCheck, FileText } from 'lucide-react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import type { CheckedFile, FilesCheck, Proof } from '../../store/proof.ts';
import { Alert, type AlertKind } from '../../ui/Alert.tsx';
import { Disclosure } from '../../ui/Disclosure.tsx';
import styles from './FilesSection.module.css';
import { ProofSection } from './ProofSection.tsx';
import { TrialButton } from './TrialButton.tsx';
import { TrialFailure } from './TrialFailure.tsx';
import { useTrial } from './useTrial.ts';

const results: Readonly<Record<CheckedFile['result'], MessageId>> = {
  same: 'prove.files.result.same',
  different: 'prove.files.result.different',
  'not-in-release': 'prove.files.result.not-in-release',
  unreadable: 'prove.files.result.unreadable',
  unknown: 'prove.files.result.unknown',
};

/** Compares what this page has loaded with the release that the relay states, and says how little that proves. */
export function FilesSection({ proof }: { proof: Proof }) {
  const { hasFailed, isBusy, result, run } = useTrial<FilesCheck>();
  return (
    <ProofSection number={2} title={t('prove.files.title')} lead={t('prove.files.lead')}>
      <TrialButton isBusy={isBusy} onPress={() => void run(proof.checkFiles)}>
        {isBusy
          ? t('prove.files.comparing')
          : t(result === null ? 'prove.files.compare' : 'prove.files.again')}
      </TrialButton>
      {hasFailed && <TrialFailure />}
      {result !== null && !hasFailed && <Compared check={result} />}
      <div className={styles.little}>
        <p>{t('prove.files.little')}</p>
        <pre className={styles.command} dir="ltr">
          <code>{`npx -p sinetti-open sinetti verify ${window.location.origin}`}</code>
        </pre>
        <p>{t('prove.files.more')}</p>
      </div>
    </ProofSection>
  );
}

function Compared({ check: { files, release } }: { check: FilesCheck }) {
  const isWorrying = ({ result }: CheckedFile) => result !== 'same' && result !== 'unknown';
  const worrying = files.filter(isWorrying);
  const rest = files.filter((file) => !isWorrying(file));
  return (
    <>
      {sentences({ files, release }).map(([kind, text]) => (
        <Alert key={text} kind={kind}>
          {text}
        </Alert>
      ))}
      <p>
        {typeof release === 'string'
          ? t('prove.files.keysUnknown')
          : t('prove.files.keys', { count: release.keysFiles })}
      </p>
      {worrying.length > 0 && <FileList files={worrying} />}
      <Disclosure summary={t('prove.files.list', { count: rest.length })}>
        <FileList files={rest} />
      </Disclosure>
    </>
  );
}

function FileList({ files }: Pick<FilesCheck, 'files'>) {
  return (
    <ul className={styles.files}>
      {files.map(({ hash, path, result }) => (
        <li key={path} className={styles.file}>
          <Mark result={result} />
          <div className={styles.words}>
            <p className={styles.path}>{path}</p>
            {hash !== null && <p className={styles.hash}>{hash}</p>}
            <p className={styles.result}>{t(results[result])}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}

function sentences({ files, release }: FilesCheck): [AlertKind, string][] {
  const count = (...kinds: CheckedFile['result'][]) =>
    files.filter(({ result }) => kinds.includes(result)).length;
  const unread = count('unreadable');
  const notRead: [AlertKind, string][] =
    unread > 0 ? [['warning', t('prove.files.unread', { count: unread })]] : [];
  if (release === 'none') return [['info', t('prove.files.none')], ...notRead];
  if (release === 'unreadable') return [['warning', t('prove.files.unreadable')], ...notRead];
  const { version } = release;
  const others = count('different', 'not-in-release');
  if (others > 0) return [['error', t('prove.files.different', { count: others, version })], ...notRead];
  if (unread > 0) return notRead;
  return [['success', t('prove.files.same', { count: files.length, version })]];
}

function Mark({ result }: Pick<CheckedFile, 'result'>) {
  if (result === 'same') return <CircleCheck className={styles.same} aria-hidden="true" />;
  if (result === 'unknown') return <FileText className={styles.unknown} aria-hidden="true" />;
  return <CircleAlert className={styles.other} aria-hidden="true" />;
}
