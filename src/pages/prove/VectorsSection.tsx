import { CircleAlert, CircleCheck } from 'lucide-react';
import { useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { formatLocale, t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import type { Proof, VectorGroup, VectorRun } from '../../store/proof.ts';
import { Alert } from '../../ui/Alert.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { ProofSection } from './ProofSection.tsx';
import { TrialButton } from './TrialButton.tsx';
import { TrialFailure } from './TrialFailure.tsx';
import { useTrial } from './useTrial.ts';
import styles from './VectorsSection.module.css';

/** Names of the formats, as those who publish them write them, with a sentence on what each is for. */
const kinds: Readonly<Record<string, readonly [name: string, text: MessageId]>> = {
  x25519: ['X25519 (RFC 7748)', 'prove.vectors.kind.x25519'],
  ed25519: ['Ed25519 (RFC 8032)', 'prove.vectors.kind.ed25519'],
  'chacha20-poly1305': ['ChaCha20-Poly1305 (RFC 8439)', 'prove.vectors.kind.chacha20-poly1305'],
  'xchacha20-poly1305': ['XChaCha20-Poly1305', 'prove.vectors.kind.xchacha20-poly1305'],
  'hmac-sha256': ['HMAC-SHA-256 (RFC 2104)', 'prove.vectors.kind.hmac-sha256'],
  'hkdf-sha256': ['HKDF-SHA-256 (RFC 5869)', 'prove.vectors.kind.hkdf-sha256'],
  'x-wing': ['X-Wing (ML-KEM-768, X25519)', 'prove.vectors.kind.x-wing'],
  hpke: ['HPKE (RFC 9180)', 'prove.vectors.kind.hpke'],
  'crypto-basics': ['MLS (RFC 9420), crypto-basics', 'prove.vectors.kind.crypto-basics'],
  deserialization: ['MLS, deserialization', 'prove.vectors.kind.deserialization'],
  'tree-math': ['MLS, tree-math', 'prove.vectors.kind.tree-math'],
  'tree-validation': ['MLS, tree-validation', 'prove.vectors.kind.tree-validation'],
  'key-schedule': ['MLS, key-schedule', 'prove.vectors.kind.key-schedule'],
  'psk-secret': ['MLS, psk_secret', 'prove.vectors.kind.psk-secret'],
  'transcript-hashes': ['MLS, transcript-hashes', 'prove.vectors.kind.transcript-hashes'],
  'secret-tree': ['MLS, secret-tree', 'prove.vectors.kind.secret-tree'],
  'message-protection': ['MLS, message-protection', 'prove.vectors.kind.message-protection'],
  welcome: ['MLS, welcome', 'prove.vectors.kind.welcome'],
  'passive-client': ['MLS, passive-client', 'prove.vectors.kind.passive-client'],
};

const doneOf = (groups: readonly VectorGroup[]) =>
  groups.reduce((sum, { failed, passed }) => sum + passed + failed.length, 0);

/** Runs the published vectors, and counts them while they run. */
export function VectorsSection({ proof }: { proof: Proof }) {
  const trial = useTrial<VectorRun>();
  const [progress, setProgress] = useState<VectorRun | null>(null);
  const run = trial.isBusy ? progress : trial.result;
  const groups = run?.groups ?? [];
  const done = doneOf(groups);
  const total = groups.reduce((sum, group) => sum + group.total, 0);
  const failed = groups.reduce((sum, group) => sum + group.failed.length, 0);
  const seconds = secondsText(run?.elapsed ?? 0);
  return (
    <ProofSection
      number={1}
      title={t('prove.vectors.title')}
      lead={t('prove.vectors.lead')}
      note={t('prove.vectors.room')}
    >
      <TrialButton
        isBusy={trial.isBusy}
        onPress={() =>
          void trial.run(() => {
            setProgress(null);
            return proof.runVectors(setProgress);
          })
        }
      >
        {t(trial.result === null ? 'prove.vectors.run' : 'prove.vectors.again')}
      </TrialButton>
      {trial.isBusy && (
        <ProgressBar
          label={t('prove.vectors.running')}
          text={t('prove.vectors.progress', { done, total, seconds })}
          value={run === null ? null : done}
          max={Math.max(total, 1)}
        />
      )}
      {trial.hasFailed && <TrialFailure />}
      {!trial.isBusy && !trial.hasFailed && run !== null && (
        <Alert kind={failed === 0 ? 'success' : 'error'}>
          {failed === 0
            ? t('prove.vectors.passed', { total, seconds })
            : t('prove.vectors.notPassed', { failed, total })}
        </Alert>
      )}
      {groups.length > 0 && (
        <ul className={styles.groups}>
          {groups.map((group) => (
            <Group key={group.format} group={group} />
          ))}
        </ul>
      )}
    </ProofSection>
  );
}

function Group({ group }: { group: VectorGroup }) {
  const { failed, format, passed, source, total } = group;
  const [name, text] = kinds[format] ?? [format, null];
  const isDone = passed + failed.length === total;
  return (
    <li className={styles.group}>
      <span className={styles.mark}>
        {failed.length > 0 ? (
          <CircleAlert className={styles.failed} aria-hidden="true" />
        ) : (
          isDone && <CircleCheck className={styles.passed} aria-hidden="true" />
        )}
      </span>
      <div className={styles.words}>
        <p className={styles.name}>
          <bdi>{name}</bdi>
        </p>
        {text !== null && <p>{t(text)}</p>}
        <p className={styles.source}>
          <RichText
            id="prove.vectors.from"
            parts={{
              source: (
                <a href={`https://github.com/${source}`} rel="noreferrer">
                  <bdi>{source}</bdi>
                </a>
              ),
            }}
          />
        </p>
        {failed.map(({ field, number }) => (
          <p key={number} className={styles.failed}>
            <RichText id="prove.vectors.case" values={{ number }} parts={{ field: <code>{field}</code> }} />
          </p>
        ))}
      </div>
      <span className={styles.count}>{t('prove.vectors.count', { passed, total })}</span>
    </li>
  );
}

function secondsText(milliseconds: number): string {
  const format = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return new Intl.NumberFormat(formatLocale(), format).format(milliseconds / 1000);
}
