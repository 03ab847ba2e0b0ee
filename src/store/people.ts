import { t } from '../i18n/i18n.ts';
import { visibleName } from '../lib/people.ts';

/** Spec section 3: the username, else the part of the email before @, else "User". Without marks that could make it pass for another. */
export function displayName(person: { readonly username: string; readonly email?: string }): string {
  return visibleName(person.username) || visibleName(person.email?.split('@')[0] ?? '') || t('app.user');
}

/** Returns the name of anybody, this person's own too. @param nameOf says it of others */
export function withOwnName(
  user: { readonly id: string; readonly username: string; readonly email?: string } | null,
  nameOf: (userId: string) => string,
): (userId: string) => string {
  return (userId) => (userId === user?.id ? displayName(user) : nameOf(userId));
}

/** The name for people who are no contacts (any more). */
export function unknownPersonName(): string {
  return t('app.unknownUser');
}
