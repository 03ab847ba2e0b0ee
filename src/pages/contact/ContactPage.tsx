import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { paths } from '../../lib/paths.ts';
import { operator } from '../../operator/index.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { TextAreaField, TextField } from '../../ui/Field.tsx';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { type FooterLink, SitePage } from '../site/SitePage.tsx';
import styles from './ContactPage.module.css';
import {
  type ContactErrors,
  type ContactField,
  contactFields,
  emptyContactInput,
  validateContact,
} from './validation.ts';

/** Milliseconds (spec section 9). */
const sendDelay = 1500;
const homeDelay = 3000;

const footerLinks: readonly FooterLink[] = [
  { to: paths.landing, label: 'site.homeLink' },
  { to: paths.privacyPolicy, label: 'site.privacyPolicy' },
  { to: paths.terms, label: 'site.terms' },
  { to: paths.about, label: 'site.about' },
];

export function ContactPage() {
  usePageTitle(t('site.contact.title'));
  const navigate = useNavigate();
  const [input, setInput] = useState(emptyContactInput);
  const [errors, setErrors] = useState<ContactErrors>({});
  const [status, setStatus] = useState<'idle' | 'submitting' | 'success' | 'error'>('idle');
  const form = useRef<HTMLFormElement>(null);

  useEffect(() => {
    if (status === 'submitting') {
      // Sending is simulated and calls nothing; without a network it could only have failed.
      const timer = setTimeout(() => {
        setStatus(navigator.onLine ? 'success' : 'error');
        if (navigator.onLine) setInput(emptyContactInput);
      }, sendDelay);
      return () => clearTimeout(timer);
    }
    if (status === 'success') {
      const timer = setTimeout(() => void navigate(paths.landing), homeDelay);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [status, navigate]);

  function submit(event: FormEvent) {
    event.preventDefault();
    const found = validateContact(input);
    setErrors(found);
    const firstWrong = contactFields.find((field) => found[field] !== undefined);
    if (firstWrong === undefined) setStatus('submitting');
    else form.current?.querySelector<HTMLElement>(`[name="${firstWrong}"]`)?.focus();
  }

  function field(name: ContactField) {
    return {
      name,
      value: input[name],
      error: errors[name],
      readOnly: status === 'submitting',
      onValueChange: (value: string) => {
        setInput({ ...input, [name]: value });
        const { [name]: _cleared, ...others } = errors;
        setErrors(others);
      },
    };
  }

  return (
    <SitePage
      links={footerLinks}
      nav={
        <ButtonLink to={paths.landing} variant="quiet">
          {t('site.contact.backToHome')}
        </ButtonLink>
      }
    >
      <div className={styles.page}>
        <h1 className={styles.title}>{t('site.contact.title')}</h1>
        <p className={styles.lead}>{t('site.contact.lead')}</p>
        {status === 'error' && <Failure onRetry={() => setStatus('idle')} />}
        {status === 'success' && <Alert kind="success">{t('site.contact.succeeded')}</Alert>}
        {(status === 'idle' || status === 'submitting') && (
          <form
            ref={form}
            className={styles.form}
            aria-label={t('site.contact.title')}
            onSubmit={submit}
            noValidate
          >
            <Alert kind="info">
              <WithSupportAddress
                text="site.contact.simulated"
                textWithAddress="site.contact.simulatedWrite"
              />
            </Alert>
            <TextField label={t('site.contact.name')} autoComplete="name" {...field('name')} />
            <TextField
              label={t('site.contact.email')}
              type="email"
              autoComplete="email"
              {...field('email')}
            />
            <TextField label={t('site.contact.subject')} {...field('subject')} />
            <TextAreaField label={t('site.contact.message')} {...field('message')} />
            <Button type="submit" variant="primary" size="large" wide busy={status === 'submitting'}>
              {t(status === 'submitting' ? 'site.contact.busy' : 'site.contact.submit')}
            </Button>
          </form>
        )}
      </div>
    </SitePage>
  );
}

function Failure({ onRetry }: { onRetry: () => void }) {
  return (
    <div className={styles.failure} role="alert">
      <h2>{t('site.contact.failedTitle')}</h2>
      <p>
        <WithSupportAddress text="site.contact.failed" textWithAddress="site.contact.failedWrite" />
      </p>
      <Button variant="primary" onClick={onRetry}>
        {t('site.contact.tryAgain')}
      </Button>
    </div>
  );
}

/** A text with the operator's address, or the text without one if the operator has given none. */
function WithSupportAddress({ text, textWithAddress }: { text: MessageId; textWithAddress: MessageId }) {
  const { supportEmail } = operator;
  if (supportEmail === null) return t(text);
  return (
    <RichText
      id={textWithAddress}
      parts={{ address: <a href={`mailto:${supportEmail}`}>{supportEmail}</a> }}
    />
  );
}
