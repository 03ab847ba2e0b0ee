/**
 * What makes two usernames or emails the same: case and Unicode encoding don't count.
 * Composed again after lower-casing, because that can decompose.
 */
export function nameKey(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
}
