/** The text of a payload: plain, or Markdown where it is formatted. */
import { DISPOSITION, type SinglePart } from '@sinetti/crypto-core/content';
import type { Words } from '../api/cryptoApi.ts';
import { CryptoApiError } from '../api/errors.ts';
import { GuardFailure } from '../codec/guards.ts';
import { limits } from '../codec/limits.ts';

const PLAIN_TEXT = 'text/plain;charset=utf-8';
const MARKDOWN = 'text/markdown;variant=GFM-MIMI';

/** Marks of Markdown at the beginning of a line: a quote, an item of a list, a fence of code. */
const LINE_MARKS = /^ {0,3}(?:>|(?:[-+*]|\d{1,9}[.)])[ \t]+\S|```|~~~)/m;

/** Marks around words: as they open, and as they close. */
const PAIRS: readonly (readonly [opening: RegExp, closing: RegExp])[] = [
  [/\*(?=\S)/, /\S\*/g],
  // Within a word it is part of a name.
  [/(?<![\p{L}\p{N}_])_(?=\S)/u, /\S_(?![\p{L}\p{N}_])/gu],
  [/~~(?=\S)/, /\S~~/g],
  [/`/, /`/g],
  [/\[/, /\]\(/g],
];

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * @param isMarkdown whether it is Markdown; null for whether it looks like it
 * @throws CryptoApiError `usage` for an empty text, or one beyond 64 KiB of UTF-8
 */
export function textPart(text: string, isMarkdown: boolean | null = null): SinglePart {
  const content = encoder.encode(text);
  if (content.length === 0 || content.length > limits.text) throw new CryptoApiError('usage', 'text length');
  const contentType = (isMarkdown ?? isFormatted(text)) ? MARKDOWN : PLAIN_TEXT;
  return { kind: 'single', disposition: DISPOSITION.render, language: '', contentType, content };
}

/**
 * Returns whether Markdown would show a text otherwise than as it stands, in time that grows with its length alone. It may say so of
 * a text whose marks mean nothing: that one looks the same either way.
 */
function isFormatted(text: string): boolean {
  if (LINE_MARKS.test(text)) return true;
  return PAIRS.some(([opening, closing]) => {
    const from = text.search(opening);
    if (from < 0) return false;
    closing.lastIndex = from + 1;
    return closing.test(text);
  });
}

export function isShownText({ contentType, disposition }: SinglePart): boolean {
  const isShown = disposition === DISPOSITION.render || disposition === DISPOSITION.unspecified;
  return isShown && isTextType(contentType);
}

/** Plain text, or Markdown of any variant. Without a `charset` both are UTF-8 (draft, 7.1). */
export function isTextType(contentType: string): boolean {
  const [essence, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== 'text/plain' && essence !== 'text/markdown') return false;
  return parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-8"?$/.test(parameter),
  );
}

/** @throws GuardFailure as {@link readText} */
export function readWords({ content, contentType }: SinglePart): Words {
  const text = readText(content);
  return /^\s*text\/markdown\b/i.test(contentType) ? { text, isMarkdown: true } : { text };
}

/** @throws GuardFailure for a text that nobody could have sent */
export function readText(content: Uint8Array): string {
  if (content.length === 0 || content.length > limits.text) throw new GuardFailure('text length');
  try {
    return decoder.decode(content);
  } catch {
    throw new GuardFailure('UTF-8');
  }
}
