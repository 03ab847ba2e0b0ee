export const contactFields = ['name', 'email', 'subject', 'message'] as const;

export type ContactField = (typeof contactFields)[number];
export type ContactInput = Readonly<Record<ContactField, string>>;
export type ContactErrors = Readonly<Partial<Record<ContactField, string>>>;

export const emptyContactInput: ContactInput = { name: '', email: '', subject: '', message: '' };

const emailShape = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/u;

/** The first broken rule of each field (spec section 5); lengths are counted after trimming. */
export function validateContact(input: ContactInput): ContactErrors {
  const errors: Partial<Record<ContactField, string>> = {};
  const rule = (field: ContactField, holds: boolean, message: string) => {
    if (!holds) errors[field] ??= message;
  };
  const name = input.name.trim();
  const email = input.email.trim();
  const subject = input.subject.trim();
  const message = input.message.trim();
  rule('name', name !== '', 'Name is required');
  rule('name', name.length >= 2, 'Name must be at least 2 characters');
  rule('email', email !== '', 'Email is required');
  rule('email', emailShape.test(email), 'Please enter a valid email address');
  rule('subject', subject !== '', 'Subject is required');
  rule('subject', subject.length >= 3, 'Subject must be at least 3 characters');
  rule('message', message !== '', 'Message is required');
  rule('message', message.length >= 10, 'Message must be at least 10 characters');
  return errors;
}
