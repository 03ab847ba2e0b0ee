import { Link } from 'react-router-dom';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import { LegalList, LegalPage, LegalSection } from './LegalPage.tsx';

export function PrivacyPolicyPage() {
  return (
    <LegalPage title={t('legal.privacy.title')} lead={t('legal.privacy.lead')}>
      <Controller />
      <LegalSection title={t('legal.privacy.stores')}>
        <LegalList
          items={[
            'legal.privacy.storesAccount',
            'legal.privacy.storesContacts',
            'legal.privacy.storesMessages',
            'legal.privacy.storesKeys',
            'legal.privacy.storesSessions',
            'legal.privacy.storesAccountChanges',
          ]}
        />
      </LegalSection>
      <LegalSection title={t('legal.privacy.never')}>
        <p>{t('legal.privacy.neverText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.privacy.sees')}>
        <p>{t('legal.privacy.seesText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.privacy.browser')}>
        <p>{t('legal.privacy.browserText')}</p>
      </LegalSection>
      <LegalSection title={t('legal.privacy.why')}>
        <p>{t('legal.privacy.whyText')}</p>
      </LegalSection>
      <Rights />
      <LegalSection title={t('legal.privacy.age')}>
        <p>{t('legal.privacy.ageText')}</p>
      </LegalSection>
    </LegalPage>
  );
}

function Controller() {
  const { controller, privacyEmail, productName } = operator;
  return (
    <LegalSection title={t('legal.privacy.controller')}>
      <p>
        {controller === null
          ? t('legal.privacy.controllerUnnamed', { product: productName })
          : t('legal.privacy.controllerNamed', controller)}
      </p>
      {privacyEmail !== null && (
        <p>
          <RichText id="legal.privacy.write" parts={{ address: <Address email={privacyEmail} /> }} />
        </p>
      )}
    </LegalSection>
  );
}

function Rights() {
  const { privacyEmail } = operator;
  const link = <Link to={paths.contact} />;
  return (
    <LegalSection title={t('legal.privacy.rights')}>
      <p>{t('legal.privacy.rightsText')}</p>
      <p>
        {privacyEmail === null ? (
          <RichText id="legal.privacy.rightsContact" parts={{ link }} />
        ) : (
          <RichText
            id="legal.privacy.rightsWrite"
            parts={{ link, address: <Address email={privacyEmail} /> }}
          />
        )}
      </p>
      <p>{t('legal.privacy.authority')}</p>
    </LegalSection>
  );
}

function Address({ email }: { email: string }) {
  return <a href={`mailto:${email}`}>{email}</a>;
}
