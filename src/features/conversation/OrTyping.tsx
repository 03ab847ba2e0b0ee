import { useAtomValue } from 'jotai';
import type { ReactNode } from 'react';
import { withTexts } from '../../i18n/i18n.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { typingAtom } from '../../store/typing.ts';
import { useOnDemand } from '../../ui/onDemand.tsx';

const loadText = async () => (await withTexts('tabs', import('./TypingText.tsx'))).TypingText;

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
  const Text = useOnDemand(loadText, writers !== undefined);
  const text = writers && Text && <Text writers={writers} />;
  return (
    <>
      {live ? <span role="status">{text}</span> : text}
      {!text && children}
    </>
  );
}
