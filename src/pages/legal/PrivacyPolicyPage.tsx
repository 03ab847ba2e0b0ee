import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths.ts';
import { LegalPage, LegalSection } from './LegalPage.tsx';

export function PrivacyPolicyPage() {
  return (
    <LegalPage
      title="Privacy Policy"
      lead="What this service knows about you, what it cannot know, and what you can ask for."
    >
      <LegalSection title="Who is responsible">
        <p>
          Sinetti is software that anyone can host. Whoever operates the server at the address in your browser
          is the controller of the personal data described here.
        </p>
      </LegalSection>
      <LegalSection title="What the server stores">
        <ul>
          <li>Your username, email address, full name if you gave one, and when you accepted this policy.</li>
          <li>Your contacts and contact requests.</li>
          <li>
            Your messages in sealed form, with their sender, conversation, time and padded size. They are
            encrypted end to end, and the server has no key to them.
          </li>
          <li>Your devices’ public keys, and your own keys in a vault that only your password opens.</li>
          <li>The sessions in which you are logged in.</li>
        </ul>
      </LegalSection>
      <LegalSection title="What the server never receives">
        <p>
          Your password, the text of your messages, and your private keys. They stay in your browser. It
          follows that a forgotten password cannot be reset by the operator.
        </p>
      </LegalSection>
      <LegalSection title="What the server can still see">
        <p>
          Who is in contact with whom, who writes in which conversation and when, who is online, and the
          network addresses that connect to it.
        </p>
      </LegalSection>
      <LegalSection title="In your browser">
        <p>
          This site sets no cookies, contains no trackers and loads nothing from other servers. It keeps a
          session token, and your keys and messages in sealed form, in your browser’s storage. “Log out and
          erase this browser” removes them.
        </p>
      </LegalSection>
      <LegalSection title="Why, and for how long">
        <p>
          The data is processed to provide the service you signed up for, on the basis of your agreement to
          it. After you delete your account, personal data is removed or anonymised within 30 days.
        </p>
      </LegalSection>
      <LegalSection title="Your rights">
        <p>
          Under the General Data Protection Regulation you have the right of access to your data, to its
          rectification, to its erasure, and to receive it in a portable form. Requests are answered within 30
          days. Write to the operator of this server, or start at the{' '}
          <Link to={paths.contact}>contact page</Link>. You may also complain to a supervisory authority; in
          Finland that is the Office of the Data Protection Ombudsman.
        </p>
      </LegalSection>
      <LegalSection title="Minimum age">
        <p>You must be at least 16 years old to use this service.</p>
      </LegalSection>
    </LegalPage>
  );
}
