import { t } from '../../i18n/i18n.ts';
import { clip } from '../../lib/clip.ts';
import type { MessageContent, Words } from '../../store/chats.ts';
import { withMentionNames } from '../../store/mentions.ts';
import { unknownPersonName } from '../../store/people.ts';

/** Characters; a list never shows more. */
const previewLength = 140;

type NameOf = (userId: string) => string;
type FilesContent = Extract<MessageContent, { kind: 'files' }>;

interface PreviewOptions {
  readonly own?: boolean;
  /** The current names of those who are mentioned. */
  readonly nameOf?: NameOf;
}

/** One line that stands for a message in lists, quotes and announcements. */
export function contentPreview(
  content: MessageContent,
  { own = false, nameOf = unknownPersonName }: PreviewOptions = {},
): string {
  if (content.kind === 'deleted') return t(own ? 'messages.deletedOwn' : 'messages.deleted');
  if (content.kind === 'undecryptable') return t('messages.undecryptable');
  if (content.kind === 'unknown') return t('messages.unknownKind');
  if (content.kind === 'files') return filesPreview(content, nameOf);
  return wordsPreview(content, nameOf) || t('messages.noContent');
}

function filesPreview({ files, ...words }: FilesContent, nameOf: NameOf): string {
  const [first] = files;
  const count = files.length;
  const kind =
    (['picture', 'voice'] as const).find((one) => files.every((file) => file.kind === one)) ?? 'file';
  const isName = count === 1 && kind === 'file' && first !== undefined && first.name !== '';
  const what = isName ? `📎 ${first.name}` : t(`messages.filesPreview.${kind}`, { count });
  return linePreview(words.text === '' ? what : `${what} · ${wordsPreview(words, nameOf)}`);
}

/** Marks of Markdown: at the beginning of a line, of a link, of an escaped character, and around words. */
const marks =
  /^ {0,3}(?:(?:> ?)+|[-+*][ \t]+|(?:```|~~~).*)|\[([^\]]*)\]\([^\s)]+\)|\\([!-/:-@[-`{-~])|\*+(?=\S)|(?<=\S)\*+|~~|`+|(?<![\p{L}\p{N}])_+(?=\S)|(?<=\S)_+(?![\p{L}\p{N}])/gmu;

function wordsPreview({ isMarkdown, text }: Words, nameOf: NameOf): string {
  if (isMarkdown !== true) return linePreview(text);
  // Good enough for one line, where the parser isn't there.
  const plain = withMentionNames(clip(text, previewLength * 4), nameOf).replace(
    marks,
    (_mark, words = '', sign = '') => words + sign,
  );
  return linePreview(plain);
}

/** The beginning of a text on one line; empty for a blank one. */
export function linePreview(text: string): string {
  const line = clip(text, previewLength * 2)
    .replace(/\s+/gu, ' ')
    .trim();
  return line.length > previewLength ? `${clip(line, previewLength)}…` : line;
}
