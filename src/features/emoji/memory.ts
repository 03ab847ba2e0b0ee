import { createContext } from 'react';
import type { SkinTone } from './emojis.ts';

/** What a person's picker remembers. */
export interface EmojiMemory {
  /** Characters picked last, the newest first; possibly some that nobody knows any more. */
  readonly recent: readonly string[];
  readonly tone: SkinTone;
  readonly remember: (emoji: string) => void;
  readonly chooseTone: (tone: SkinTone) => void;
}

/** Given by whoever keeps it; without that the picker remembers nothing. */
export const EmojiMemoryContext = createContext<EmojiMemory>({
  recent: [],
  tone: 0,
  remember: () => undefined,
  chooseTone: () => undefined,
});
