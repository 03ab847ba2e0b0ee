/** Spec section 3: the username, else the part of the email before @, else "User". */
export function displayName(person: { readonly username: string; readonly email?: string }): string {
  return person.username.trim() || person.email?.split('@')[0]?.trim() || 'User';
}

/** Who is no contact (any more). */
export const unknownPersonName = 'Unknown User';
