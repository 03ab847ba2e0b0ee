import { createContext } from 'react';
import type { SkinTone } from './emojis.ts';

/** A person's recent emojis and skin tone. */
export interface EmojiMemory {
  /** Characters picked last, the newest first; some may be missing from the present set of emojis. */
  readonly recent: readonly string[];
  readonly tone: SkinTone;
  readonly remember: (emoji: string) => void;
  readonly chooseTone: (tone: SkinTone) => void;
}

/** A provider gives it; without one the picker remembers nothing. */
export const EmojiMemoryContext = createContext<EmojiMemory>({
  recent: [],
  tone: 0,
  remember: () => undefined,
  chooseTone: () => undefined,
});
