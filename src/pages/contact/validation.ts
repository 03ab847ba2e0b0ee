import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';

export const contactFields = ['name', 'email', 'subject', 'message'] as const;

export type ContactField = (typeof contactFields)[number];
export type ContactInput = Readonly<Record<ContactField, string>>;
export type ContactErrors = Readonly<Partial<Record<ContactField, string>>>;

export const emptyContactInput: ContactInput = { name: '', email: '', subject: '', message: '' };

const emailShape = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/u;

/** The first broken rule of each field (spec section 5); lengths are counted after trimming. */
export function validateContact(input: ContactInput): ContactErrors {
  const errors: Partial<Record<ContactField, string>> = {};
  const rule = (field: ContactField, holds: boolean, text: MessageId) => {
    if (!holds) errors[field] ??= t(text);
  };
  const name = input.name.trim();
  const email = input.email.trim();
  const subject = input.subject.trim();
  const message = input.message.trim();
  rule('name', name !== '', 'site.contact.nameRequired');
  rule('name', name.length >= 2, 'site.contact.nameShort');
  rule('email', email !== '', 'site.contact.emailRequired');
  rule('email', emailShape.test(email), 'site.contact.emailInvalid');
  rule('subject', subject !== '', 'site.contact.subjectRequired');
  rule('subject', subject.length >= 3, 'site.contact.subjectShort');
  rule('message', message !== '', 'site.contact.messageRequired');
  rule('message', message.length >= 10, 'site.contact.messageShort');
  return errors;
}
