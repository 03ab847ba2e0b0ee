/** Marks that draw nothing themselves but can turn or hide what stands beside them. */
const invisibleMarks = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/gu;

/** Spec section 3: the username, else the part of the email before @, else "User". Without marks that could make it pass for another. */
export function displayName(person: { readonly username: string; readonly email?: string }): string {
  return visibleName(person.username) || visibleName(person.email?.split('@')[0] ?? '') || 'User';
}

/** A name without marks that could make it pass for another; empty when nothing of it would be seen. */
export function visibleName(name: string): string {
  return name.replace(invisibleMarks, '').trim();
}

/** Who is no contact (any more). */
export const unknownPersonName = 'Unknown User';
