import { useAtomValue } from 'jotai';
import { MessagesSquare } from 'lucide-react';
import { useMemo } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { chatEventsAtom } from '../../store/chatEvents.ts';
import { type Chat, groupKeyOf } from '../../store/chats.ts';
import { groupName } from '../../store/conversationNames.ts';
import type { Group } from '../../store/groups.ts';
import { mentionablesAtom } from '../../store/mentions.ts';
import { nameOfAtom } from '../../store/names.ts';
import { type ConversationFailures, useConversation } from '../../store/useConversation.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { Composer } from '../conversation/Composer.tsx';
import { eventNotices } from '../conversation/eventNotices.tsx';
import { MessageList, SealLine } from '../conversation/MessageList.tsx';
import { MentionableContext } from '../conversation/mentionable.ts';
import type { EmojiCategory } from '../emoji/data.ts';
import { useFiles } from '../files/useFiles.tsx';
import { useMentions } from './useMentions.tsx';

/** The categories of the spec's group picker. */
const groupEmojiCategories: readonly EmojiCategory[] = ['all', 'smileys', 'people', 'symbols'];

const failures: ConversationFailures = {
  retry: 'groups.retryFailed',
  discard: 'groups.discardFailed',
  loadOlder: 'groups.loadOlderFailed',
  send: 'groups.sendFailed',
};

interface GroupChatProps {
  group: Group;
  chat: Chat;
  focusRequest: number;
}

/** A group's messages and the form to write more. */
export function GroupChat({ group, chat, focusRequest }: GroupChatProps) {
  const key = groupKeyOf(group.id);
  const { list, composer } = useConversation(key, chat, failures);
  const form = useFiles(key, composer);
  const mentionables = useAtomValue(mentionablesAtom);
  const people = useMemo(() => mentionables(key), [key, mentionables]);
  const mentionable = useMemo(() => new Set(people.map(({ id }) => id)), [people]);
  const others = people.filter(({ id }) => id !== list.ownId);
  const mentions = useMentions(composer, others);
  const nameOf = useAtomValue(nameOfAtom);
  const events = useAtomValue(chatEventsAtom)[key];
  const notices = useMemo(() => eventNotices(events ?? [], list.ownId, nameOf), [events, nameOf, list.ownId]);
  const name = groupName(group);
  const since = <ReadableSince state={chat.state} />;

  return (
    <MentionableContext value={mentionable}>
      <MessageList
        {...list}
        label={t('groups.messagesIn', { name })}
        notices={notices}
        nameOf={nameOf}
        receiptOf={() => null}
        canWrite={!group.ended}
        showAuthors
        beginning={
          <SealLine>
            {t('groups.seal')} {since}
          </SealLine>
        }
        empty={
          <EmptyState icon={<MessagesSquare />} title={t('groups.noMessages')}>
            {t('groups.noMessagesHint')} {since}
          </EmptyState>
        }
      />
      {!group.ended && (
        <Composer
          {...form}
          mentions={mentions}
          nameOf={nameOf}
          name={name}
          focusRequest={focusRequest}
          emojiCategories={groupEmojiCategories}
        />
      )}
    </MentionableContext>
  );
}

/** Tells a device that joined later since when it can read. */
function ReadableSince({ state }: Pick<Chat, 'state'>) {
  if (state === null || state.joinedSeq === 0 || state.joinedAt === null) return null;
  return (
    <RichText
      id="groups.readableSince"
      parts={{ time: <time dateTime={state.joinedAt}>{fullTimestamp(state.joinedAt)}</time> }}
    />
  );
}
