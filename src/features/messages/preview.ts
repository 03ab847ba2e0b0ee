import type { MessageContent } from '../../store/chats.ts';
import { messageTexts } from './texts.ts';

/** Characters; a list never shows more. */
const previewLength = 140;

/** One line that stands for a message in lists and announcements. */
export function contentPreview(content: MessageContent): string {
  if (content.kind === 'undecryptable') return messageTexts.undecryptable;
  if (content.kind === 'unknown') return messageTexts.unknownKind;
  const line = content.text
    .slice(0, previewLength * 2)
    .replace(/\s+/gu, ' ')
    .trim();
  if (line === '') return messageTexts.noContent;
  return line.length > previewLength ? `${line.slice(0, previewLength)}…` : line;
}
