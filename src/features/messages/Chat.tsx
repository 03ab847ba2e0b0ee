import { useAtomValue } from 'jotai';
import { FileText, MessageCircle } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { useBlocks } from '../../store/blocks.ts';
import { chatEventsAtom } from '../../store/chatEvents.ts';
import type { Chat as ChatState } from '../../store/chats.ts';
import { nameOfAtom } from '../../store/names.ts';
import { preferencesAtom } from '../../store/preferences.ts';
import { type ConversationFailures, useConversation } from '../../store/useConversation.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { onDemand } from '../../ui/onDemand.tsx';
import { Composer } from '../conversation/Composer.tsx';
import { eventNotices } from '../conversation/eventNotices.tsx';
import { MessageList, SealLine } from '../conversation/MessageList.tsx';
import { receiptAt } from '../conversation/messageState.ts';
import type { ChatNotice } from '../conversation/timeline.ts';
import { useFiles } from '../files/useFiles.tsx';
import { DoubtBanner } from './DoubtBanner.tsx';

export { MuteButton } from '../conversation/MuteButton.tsx';
export { TimerButton } from '../conversation/TimerButton.tsx';
export { GalleryButton } from '../files/GalleryButton.tsx';

/** Few chats ever need it. */
const BlockedBanner = onDemand<{ open: boolean; userId: string; name: string }>(
  async () => (await import('./BlockedBanner.tsx')).BlockedBanner,
);

const failures: ConversationFailures = {
  retry: 'messages.retryFailed',
  discard: 'messages.discardFailed',
  loadOlder: 'messages.loadOlderFailed',
  send: 'messages.sendFailed',
};

interface ChatProps {
  userId: string;
  name: string;
  chat: ChatState;
  /** Further lines between the messages. */
  lines?: readonly ChatNotice[] | undefined;
  focusRequest: number;
}

const noNotices: readonly ChatNotice[] = [];

/** The person's notes and the form to write more: own browsers alone read them, so nobody has received or read one. */
export function Notes({ userId, chat, focusRequest }: Pick<ChatProps, 'userId' | 'chat' | 'focusRequest'>) {
  const { list, composer } = useConversation(userId, chat, failures);
  const form = useFiles(userId, composer);
  const ownName = useAtomValue(nameOfAtom)(userId);
  const nameOf = useCallback(() => ownName, [ownName]);
  const events = useAtomValue(chatEventsAtom)[userId];
  const notices = useMemo(
    () => (events === undefined ? noNotices : eventNotices(events, userId, nameOf)),
    [events, nameOf, userId],
  );
  return (
    <>
      <MessageList
        {...list}
        label={t('notes.list')}
        notices={notices}
        nameOf={nameOf}
        receiptOf={() => null}
        isNotes
        beginning={<SealLine>{t('notes.seal')}</SealLine>}
        empty={
          <EmptyState icon={<FileText />} title={t('notes.none')}>
            {t('notes.hint')}
          </EmptyState>
        }
      />
      <Composer {...form} nameOf={nameOf} name="" label={t('notes.write')} focusRequest={focusRequest} />
    </>
  );
}

/** Messages with one person and the form to write more. Give it a key by user id. */
export function Chat({ userId, name, chat, lines, focusRequest }: ChatProps) {
  const { list, composer } = useConversation(userId, chat, failures);
  const form = useFiles(userId, composer);
  const isBlocked = useBlocks()?.some(({ id }) => id === userId) === true;
  const { readReceipts } = useAtomValue(preferencesAtom);
  const receipt = readReceipts ? chat.state?.receipts.find((one) => one.userId === userId) : undefined;
  const nameOf = useCallback(() => name, [name]);
  const events = useAtomValue(chatEventsAtom)[userId];
  const notices = useMemo(
    () => [...eventNotices(events ?? [], list.ownId, nameOf), ...(lines ?? [])],
    [events, lines, nameOf, list.ownId],
  );

  return (
    <>
      {chat.state?.isDoubted === true && (
        <DoubtBanner userId={userId} name={name} conversationId={chat.state.conversationId} />
      )}
      <MessageList
        {...list}
        label={t('messages.messagesWith', { name })}
        notices={notices}
        nameOf={nameOf}
        canWrite={!isBlocked}
        receiptOf={({ seq }) => receiptAt(seq, receipt)}
        beginning={
          <SealLine>
            <RichText id="messages.seal" parts={{ name: <bdi>{name}</bdi> }} />
          </SealLine>
        }
        empty={
          <EmptyState
            icon={<MessageCircle />}
            title={<RichText id="messages.noMessages" parts={{ name: <bdi>{name}</bdi> }} />}
          >
            {t('messages.noMessagesHint')}
          </EmptyState>
        }
      />
      {isBlocked ? (
        <BlockedBanner open userId={userId} name={name} />
      ) : (
        <Composer {...form} nameOf={nameOf} name={name} focusRequest={focusRequest} />
      )}
    </>
  );
}
