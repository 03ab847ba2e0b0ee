import type { FormEvent, ReactNode, RefObject } from 'react';
import { Alert } from './Alert.tsx';
import { Button } from './Button.tsx';
import styles from './Form.module.css';
import { bringIntoView } from './focus.ts';

interface BareFormProps {
  /** Its accessible name. */
  label: string;
  /** Refuses another submission while true. */
  busy: boolean;
  /** Said above the fields, of the form as a whole. */
  failure?: string | null | undefined;
  onSubmit: () => Promise<unknown>;
  ref?: RefObject<HTMLFormElement | null>;
  children: ReactNode;
}

/** A form without a look of its own. */
export function Form({
  className,
  label,
  busy,
  failure = null,
  onSubmit,
  ref,
  children,
}: BareFormProps & { className: string | undefined }) {
  return (
    <form
      ref={ref}
      className={className}
      aria-label={label}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        if (!busy) void onSubmit();
      }}
    >
      {failure !== null && (
        <div ref={bringIntoView}>
          <Alert kind="error">{failure}</Alert>
        </div>
      )}
      {children}
    </form>
  );
}

interface FormProps extends BareFormProps {
  submitLabel: string;
}

/** The one form of a page: its button is as wide as the fields. */
export function PageForm({ submitLabel, progress, children, ...form }: FormProps & { progress: ReactNode }) {
  return (
    <Form {...form} className={styles.page}>
      <div className={styles.fields}>{children}</div>
      <Button type="submit" variant="primary" size="large" wide busy={form.busy}>
        {submitLabel}
      </Button>
      {progress}
    </Form>
  );
}

interface CardFormProps extends FormProps {
  cancelLabel: string;
  onCancel: () => void;
}

/** A form in a card, shown while the card's content is being changed. */
export function CardForm({ submitLabel, cancelLabel, onCancel, children, ...form }: CardFormProps) {
  return (
    <Form {...form} className={styles.card}>
      {children}
      <div className={styles.actions}>
        <Button type="submit" variant="primary" busy={form.busy}>
          {submitLabel}
        </Button>
        <Button variant="quiet" disabled={form.busy} onClick={onCancel}>
          {cancelLabel}
        </Button>
      </div>
    </Form>
  );
}
