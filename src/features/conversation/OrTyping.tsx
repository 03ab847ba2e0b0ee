import { useAtomValue } from 'jotai';
import type { ReactNode } from 'react';
import { withTexts } from '../../i18n/i18n.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { nameOfAtom } from '../../store/names.ts';
import { typingAtom } from '../../store/typing.ts';
import { useOnDemand } from '../../ui/onDemand.tsx';

const loadText = async () => (await withTexts('tabs', import('./typingText.tsx'))).typingText;

interface OrTypingProps {
  conversationKey: ConversationKey;
  /** True where screen readers are told as somebody begins. */
  live?: boolean;
  /** Shown while nobody is writing. */
  children: ReactNode;
}

/** Says who is writing in a conversation, in the place of something else. */
export function OrTyping({ conversationKey, live, children }: OrTypingProps) {
  const writers = useAtomValue(typingAtom)[conversationKey];
  const nameOf = useAtomValue(nameOfAtom);
  const textOf = useOnDemand(loadText, writers !== undefined);
  const text = writers && textOf?.(writers, nameOf);
  return (
    <>
      {live ? <output>{text}</output> : text}
      {!text && children}
    </>
  );
}
