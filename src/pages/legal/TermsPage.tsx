import { Link } from 'react-router-dom';
import { activeLanguage, t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import { LegalList, LegalPage, LegalSection } from './LegalPage.tsx';

export function TermsPage() {
  const { controller, governingLaw } = operator;
  return (
    <LegalPage
      title={t('legal.terms.title')}
      lead={
        controller === null ? t('legal.terms.lead') : t('legal.terms.leadNamed', { name: controller.name })
      }
    >
      <LegalSection title={t('legal.terms.who')}>
        <p>{t('legal.terms.whoText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.terms.forbidden')}>
        <LegalList
          items={['legal.terms.forbiddenLaw', 'legal.terms.forbiddenBulk', 'legal.terms.forbiddenDisturb']}
        />
      </LegalSection>
      <LegalSection title={t('legal.terms.content')}>
        <p>{t('legal.terms.contentText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.terms.service')}>
        <p>{t('legal.terms.serviceText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.terms.ending')}>
        <p>
          <RichText id="legal.terms.endingText" parts={{ link: <Link to={paths.privacyPolicy} /> }} />
        </p>
      </LegalSection>
      <LegalSection title={t('legal.terms.law')}>
        <p>{t('legal.terms.lawText', { law: governingLaw[activeLanguage()] })}</p>
      </LegalSection>
    </LegalPage>
  );
}
