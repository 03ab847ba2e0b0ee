import { Link } from 'react-router-dom';
import { paths } from '../../lib/paths.ts';
import { LegalPage, LegalSection } from './LegalPage.tsx';

export function AboutPage() {
  return (
    <LegalPage title="About" lead="A messenger that keeps the promise its name makes.">
      <LegalSection title="The name">
        <p>
          Sinetti is the Finnish word for a seal: the wax on a letter that shows it has reached you unopened.
        </p>
      </LegalSection>
      <LegalSection title="The idea">
        <p>
          Many services say “end-to-end encrypted” and leave it at that. Sinetti follows a published standard,
          Messaging Layer Security (RFC 9420), keeps the keys in a closed part of your browser that has no
          network access, and is written to be read: the source is open, and so is the list of what it cannot
          protect.
        </p>
      </LegalSection>
      <LegalSection title="The creator">
        <p>
          Sinetti is made by an independent developer and published under the MIT licence. It carries no
          advertising and sells no data. Whoever hosts it, hosts all of it: there is no central service behind
          it.
        </p>
      </LegalSection>
      <LegalSection title="Questions">
        <p>
          Questions and remarks are welcome: see the <Link to={paths.contact}>contact page</Link>.
        </p>
      </LegalSection>
    </LegalPage>
  );
}
