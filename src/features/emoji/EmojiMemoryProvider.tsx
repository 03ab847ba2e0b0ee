import { useAtomValue, useSetAtom } from 'jotai';
import { type ReactNode, useEffect, useMemo } from 'react';
import {
  chooseSkinToneAtom,
  emojiMemoryAtom,
  loadEmojiMemoryAtom,
  rememberEmojiAtom,
} from '../../store/emoji.ts';
import { EmojiMemoryContext } from './memory.ts';

/** Gives the emoji pickers inside it this person's recent emojis and skin tone. */
export function EmojiMemoryProvider({ children }: { children: ReactNode }) {
  const kept = useAtomValue(emojiMemoryAtom);
  const load = useSetAtom(loadEmojiMemoryAtom);
  const remember = useSetAtom(rememberEmojiAtom);
  const chooseTone = useSetAtom(chooseSkinToneAtom);
  useEffect(() => void load(), [load]);

  const memory = useMemo(
    () => ({
      ...kept,
      remember: (emoji: string) => void remember(emoji),
      chooseTone: (tone: typeof kept.tone) => void chooseTone(tone),
    }),
    [kept, remember, chooseTone],
  );
  return <EmojiMemoryContext value={memory}>{children}</EmojiMemoryContext>;
}
