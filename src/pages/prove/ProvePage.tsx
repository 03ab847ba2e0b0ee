import { useAtomValue } from 'jotai';
import { useEffect } from 'react';
import { t } from '../../i18n/i18n.ts';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import type { Proof } from '../../store/proof.ts';
import { currentUserAtom } from '../../store/session.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { SitePage } from '../site/SitePage.tsx';
import { FilesSection } from './FilesSection.tsx';
import { LastMessageSection } from './LastMessageSection.tsx';
import { PlaySection } from './PlaySection.tsx';
import styles from './ProvePage.module.css';
import { VectorsSection } from './VectorsSection.tsx';

/** Lets everybody try out what the product says of itself. */
export function ProvePage({ proof }: { proof: Proof }) {
  const isMember = useAtomValue(currentUserAtom) !== null;
  usePageTitle(t('prove.title'));
  useEffect(() => proof.close, [proof]);
  const back = isMember ? <ButtonLink to={paths.dashboard}>{t('prove.back')}</ButtonLink> : undefined;
  return (
    <SitePage nav={back}>
      <div className={styles.page}>
        <header className={styles.header}>
          <h1 className={styles.title}>{t('prove.title')}</h1>
          <p className={styles.lead}>{t('prove.lead', { product: operator.productName })}</p>
        </header>
        <VectorsSection proof={proof} />
        <FilesSection proof={proof} />
        <LastMessageSection />
        <PlaySection proof={proof} />
      </div>
    </SitePage>
  );
}
