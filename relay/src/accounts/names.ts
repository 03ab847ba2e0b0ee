/**
 * The key by which two usernames or emails are compared: case and Unicode encoding don't count.
 * It is composed again after lower-casing, because that can decompose.
 */
export function nameKey(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
}
