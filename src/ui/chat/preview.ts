import type { ChatContent } from './message.ts';
import { chatTexts } from './texts.ts';

/** Characters; a list never shows more. */
const previewLength = 140;

/** One line that stands for a message in lists and announcements. */
export function contentPreview(content: ChatContent): string {
  if (content.kind === 'undecryptable') return chatTexts.undecryptable;
  if (content.kind === 'unknown') return chatTexts.unknownKind;
  const line = content.text
    .slice(0, previewLength * 2)
    .replace(/\s+/gu, ' ')
    .trim();
  if (line === '') return chatTexts.noContent;
  return line.length > previewLength ? `${line.slice(0, previewLength)}…` : line;
}
