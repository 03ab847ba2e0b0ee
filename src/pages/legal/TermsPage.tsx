import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths.ts';
import { LegalPage, LegalSection } from './LegalPage.tsx';

export function TermsPage() {
  return (
    <LegalPage title="Terms" lead="The agreement between you and whoever operates this server.">
      <LegalSection title="Who may use it">
        <p>
          You must be at least 16 years old. One account belongs to one person; keep its password to yourself.
        </p>
      </LegalSection>
      <LegalSection title="What you may not do">
        <ul>
          <li>Break the law, or the rights of others, with what you send.</li>
          <li>Send unwanted bulk messages, or harass people.</li>
          <li>Disturb the service or try to get at accounts that are not yours.</li>
        </ul>
      </LegalSection>
      <LegalSection title="Your content">
        <p>
          What you write stays yours. It is encrypted end to end: the operator cannot read it, and therefore
          cannot restore it for you. Without your password and your browsers, it is lost.
        </p>
      </LegalSection>
      <LegalSection title="The service">
        <p>
          The service is provided as it is, without a promise that it is always available. The software is
          open source under the MIT licence.
        </p>
      </LegalSection>
      <LegalSection title="Ending it">
        <p>
          You may stop at any time. The operator may close an account that breaks these terms. What happens to
          your data then is in the <Link to={paths.privacyPolicy}>Privacy Policy</Link>.
        </p>
      </LegalSection>
      <LegalSection title="Governing law">
        <p>
          Finnish law governs these terms. It does not take from you the protection that the mandatory
          consumer law of your home country gives.
        </p>
      </LegalSection>
    </LegalPage>
  );
}
