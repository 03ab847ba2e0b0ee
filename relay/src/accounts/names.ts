import unhomoglyph from 'unhomoglyph';

/**
 * The key by which two usernames or emails are compared: case and Unicode encoding don't count.
 * It is composed again after lower-casing, because that can decompose.
 */
export function nameKey(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
}

/**
 * The skeleton of a username (UTS 39 section 4, by Unicode's table of confusables): two names that look alike have the same. It is
 * taken of the name as it is shown, because an upper-case i looks like an l, and a lower-case one doesn't.
 */
export function skeletonOf(username: string): string {
  return unhomoglyph(username.trim().normalize('NFKC').normalize('NFD')).normalize('NFKC').toLowerCase();
}

/** The scripts that people write in today (UAX 31, tables 5 and 7), and those that are written together (UTS 39 section 5.2). */
const writings = [
  'Latn Hani Hira Kana',
  'Latn Hani Bopo',
  'Latn Hani Hang',
  ...(
    'Adlm Arab Armn Bali Bamu Batk Beng Cakm Cans Cham Cher Cyrl Deva Ethi Geor Grek Gujr Guru Hebr Hmnp Java Kali ' +
    'Khmr Knda Lana Laoo Lepc Limb Lisu Mand Mlym Mong Mtei Mymr Newa Nkoo Olck Orya Osge Plrd Rohg Saur Sinh Sund ' +
    'Sylo Syrc Tale Talu Taml Tavt Telu Tfng Thaa Thai Tibt Vaii Wcho Yiii'
  ).split(' '),
].map((scripts) => {
  const classes = [...scripts.split(' '), 'Zyyy', 'Zinh'].map((script) => `\\p{scx=${script}}`);
  return new RegExp(`^[${classes.join('')}]*$`, 'u');
});

/** Returns whether all letters are of one writing. Digits and punctuation are of all. */
export function isOfOneScript(username: string): boolean {
  const name = username.normalize('NFKC');
  return writings.some((writing) => writing.test(name));
}
