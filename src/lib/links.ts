import { LinkifyIt } from 'linkify-it';

export interface TextPart {
  readonly text: string;
  /** The part's link, if it is one. */
  readonly link?: TextLink;
}

export interface TextLink {
  readonly href: string;
  /** The host that it leads to, if its text does not show it. */
  readonly hiddenHost: string | null;
}

/** Code units in which links are looked for: nobody types more, and a pasted text need not be searched to its end. */
const searchedLength = 16 * 1024;

const linkify = new LinkifyIt({ fuzzyLink: true, urlAuth: true }).add('ftp:', null).add('//', null);

/** Splits a text into links and plain parts. Links lead to http, https and mailto only. */
export function linkParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of linkify.match(text.slice(0, searchedLength)) ?? []) {
    // The search may have cut the address, and half of it leads elsewhere.
    if (match.lastIndex === searchedLength && text.length > searchedLength) break;
    const link = linkOf(match);
    if (link === null) continue;
    if (match.index > end) parts.push({ text: text.slice(end, match.index) });
    parts.push({ text: match.raw, link });
    end = match.lastIndex;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

function linkOf({ schema, raw, url }: { schema: string; raw: string; url: string }): TextLink | null {
  // Marks that draw nothing or turn the direction could make an address read like another.
  if (/\p{C}/u.test(raw)) return null;
  // Without a scheme, too much that is no address looks like one: "readme.md", "etc.so".
  if (schema === '' && !/^www\./i.test(raw)) return null;
  const target = parseUrl(schema === '' ? `https://${raw}` : url);
  if (target === null) return null;
  const { hostname, href, protocol } = target;
  if (protocol === 'mailto:') return { href, hiddenHost: null };
  if (protocol !== 'http:' && protocol !== 'https:') return null;
  // "https://bank.example@evil.example" leads to the second host.
  if (target.username !== '' || target.password !== '') return null;
  // The browser's own reading of the host: Punycode for letters that may look like others, plain numbers for odd ones.
  return { href, hiddenHost: raw.toLowerCase().includes(hostname) ? null : hostname };
}

/**
 * Returns the link that other words lead to; null where it must not be one. Its host, or address of a mail, counts as hidden unless
 * the words are that themselves: words may look like another address.
 */
export function namedLink(words: string, url: string): TextLink | null {
  const link = linkOf({ schema: 'named', raw: url, url });
  if (link === null) return null;
  const { host, pathname, protocol } = new URL(link.href);
  const [only, ...others] = linkParts(words);
  const isSaid = others.length === 0 && only?.link && new URL(only.link.href).host === host;
  if (protocol === 'mailto:') return { ...link, hiddenHost: words === pathname ? null : pathname };
  return { ...link, hiddenHost: isSaid ? null : host };
}

function parseUrl(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null;
}

/** The first `length` code units of parts. A link across the cut becomes text. */
export function clipParts(parts: readonly TextPart[], length: number): readonly TextPart[] {
  const clipped: TextPart[] = [];
  let left = length;
  for (const part of parts) {
    if (left <= 0) break;
    clipped.push(part.text.length <= left ? part : { text: part.text.slice(0, left) });
    left -= part.text.length;
  }
  return clipped;
}
