import { CircleAlert, CircleCheck, FileText } from 'lucide-react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import type { CheckedFile, FilesCheck, Proof, StatedNow } from '../../store/proof.ts';
import { Alert, type AlertKind } from '../../ui/Alert.tsx';
import { Disclosure } from '../../ui/Disclosure.tsx';
import styles from './FilesSection.module.css';
import { ProofSection } from './ProofSection.tsx';
import { TrialButton } from './TrialButton.tsx';
import { TrialFailure } from './TrialFailure.tsx';
import { useTrial } from './useTrial.ts';

const results: Readonly<Record<CheckedFile['result'], MessageId>> = {
  same: 'prove.files.result.same',
  stated: 'prove.files.result.stated',
  different: 'prove.files.result.different',
  'not-in-release': 'prove.files.result.not-in-release',
  unreadable: 'prove.files.result.unreadable',
  unknown: 'prove.files.result.unknown',
};

/** Compares what this page has loaded with the release in use, and says how little that proves. */
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
          <code>{`npx -p sinetti-open sinetti verify ${window.location.origin} --root ROOT`}</code>
        </pre>
        <p>{t('prove.files.more')}</p>
      </div>
    </ProofSection>
  );
}

function Compared({ check }: { check: FilesCheck }) {
  const { files, isKept, release } = check;
  const isWorrying = ({ result }: CheckedFile) => !['same', 'stated', 'unknown'].includes(result);
  const worrying = files.filter(isWorrying);
  const rest = files.filter((file) => !isWorrying(file));
  return (
    <>
      {sentences(check).map(([kind, text]) => (
        <Alert key={text} kind={kind}>
          {text}
        </Alert>
      ))}
      {release !== null && (
        <p>
          {t(release.isHeld ? 'prove.files.comparedHeld' : 'prove.files.comparedStated', {
            version: release.version,
          })}
        </p>
      )}
      <p>{t(isKept ? 'prove.files.pageKept' : 'prove.files.pageAnew')}</p>
      <p>
        {release === null
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
            <p className={styles.path}>
              <bdi>{path}</bdi>
            </p>
            {hash !== null && (
              <p className={styles.hash}>
                <bdi>{hash}</bdi>
              </p>
            )}
            <p className={styles.result}>{t(results[result])}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}

function sentences({ files, isCut, release, stated }: FilesCheck): [AlertKind, string][] {
  const count = (...kinds: CheckedFile['result'][]) =>
    files.filter(({ result }) => kinds.includes(result)).length;
  const unread = count('unreadable');
  const notRead: [AlertKind, string][] =
    unread > 0 ? [['warning', t('prove.files.unread', { count: unread })]] : [];
  const cut: [AlertKind, string][] = isCut ? [['warning', t('prove.files.cut')]] : [];
  if (release === null) {
    const none: [AlertKind, string] =
      stated.state === 'none' ? ['info', t('prove.files.none')] : ['warning', t('prove.files.unreadable')];
    return [none, ...notRead, ...cut];
  }
  const { version } = release;
  const others = count('different', 'not-in-release');
  const found: [AlertKind, string][] =
    others > 0
      ? [['error', t('prove.files.different', { count: others, version })]]
      : [['success', t('prove.files.same', { count: count('same'), version })]];
  // Nothing is known of a file that could not be read.
  const isFound = others > 0 || unread === 0;
  return [...(isFound ? found : []), ...notRead, ...cut, ...besideIt(stated, version)];
}

/** Says how the release that the relay states now stands to the one in use. */
function besideIt(stated: StatedNow, version: string): [AlertKind, string][] {
  if (stated.state === 'same') return [];
  if (stated.state === 'newer') {
    return [['info', t('prove.files.newer', { newer: stated.version, version })]];
  }
  if (stated.state === 'other') {
    return [['warning', t('prove.files.other', { other: stated.version, version })]];
  }
  return [['warning', t('prove.files.gone')]];
}

function Mark({ result }: Pick<CheckedFile, 'result'>) {
  if (result === 'same') return <CircleCheck className={styles.same} aria-hidden="true" />;
  if (result === 'unknown' || result === 'stated')
    return <FileText className={styles.unknown} aria-hidden="true" />;
  return <CircleAlert className={styles.other} aria-hidden="true" />;
}
