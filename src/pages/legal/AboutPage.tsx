import { Link } from 'react-router-dom';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import { LegalPage, LegalSection } from './LegalPage.tsx';

/** The software's name; the product that runs on it may have another one. */
const softwareName = 'Sinetti';

export function AboutPage() {
  const { productName } = operator;
  return (
    <LegalPage
      title={t('legal.about.title')}
      lead={
        productName === softwareName
          ? t('legal.about.lead')
          : t('legal.about.leadRuns', { product: productName })
      }
    >
      <LegalSection title={t('legal.about.name')}>
        <p>{t('legal.about.nameText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.about.idea')}>
        <p>{t('legal.about.ideaText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.about.creator')}>
        <p>{t('legal.about.creatorText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.about.questions')}>
        <p>
          <RichText id="legal.about.questionsText" parts={{ link: <Link to={paths.contact} /> }} />
        </p>
      </LegalSection>
    </LegalPage>
  );
}
