export type PasswordStrength = 'weak' | 'fair' | 'strong';

/** Rates a password by its length: repeated characters count half. It advises and forbids nothing. */
export function passwordStrength(password: string): PasswordStrength {
  const characters = Array.from(password.normalize('NFKC'));
  const different = new Set(characters).size;
  const worth = (characters.length + different) / 2;
  if (worth < 9 || different < 5) return 'weak';
  return worth < 14 ? 'fair' : 'strong';
}
