import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { paths } from '../../lib/paths.ts';
import { Alert } from '../../ui/Alert.tsx';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { TextAreaField, TextField } from '../../ui/Field.tsx';
import { usePageTitle } from '../../ui/usePageTitle.ts';
import { SitePage } from '../site/SitePage.tsx';
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

const supportAddress: unknown = import.meta.env.VITE_SUPPORT_EMAIL;

const footerLinks = [
  { to: paths.landing, label: 'Home' },
  { to: paths.privacyPolicy, label: 'Privacy Policy' },
  { to: paths.terms, label: 'Terms' },
  { to: paths.about, label: 'About' },
];

export function ContactPage() {
  usePageTitle('Contact');
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
          Back to Home
        </ButtonLink>
      }
    >
      <div className={styles.page}>
        <h1 className={styles.title}>Contact</h1>
        <p className={styles.lead}>Questions, remarks, or a request about your data.</p>
        {status === 'error' && <Failure onRetry={() => setStatus('idle')} />}
        {status === 'success' && (
          <Alert kind="success">Thank you. You are being taken back to the home page.</Alert>
        )}
        {(status === 'idle' || status === 'submitting') && (
          <form ref={form} className={styles.form} aria-label="Contact" onSubmit={submit} noValidate>
            <Alert kind="info">
              This form is a demonstration: what you enter stays in this browser and is sent to nobody.
            </Alert>
            <TextField label="Name" autoComplete="name" {...field('name')} />
            <TextField label="Email" type="email" autoComplete="email" {...field('email')} />
            <TextField label="Subject" {...field('subject')} />
            <TextAreaField label="Message" {...field('message')} />
            <Button type="submit" variant="primary" size="large" wide busy={status === 'submitting'}>
              {status === 'submitting' ? 'Sending...' : 'Send Message'}
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
      <h2>Something Went Wrong</h2>
      <p>
        Your message could not be sent.
        {typeof supportAddress === 'string' && supportAddress !== '' && (
          <>
            {' '}
            You can also write to <a href={`mailto:${supportAddress}`}>{supportAddress}</a>.
          </>
        )}
      </p>
      <Button variant="primary" onClick={onRetry}>
        Try Again
      </Button>
    </div>
  );
}
