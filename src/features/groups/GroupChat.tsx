import { useAtomValue, useSetAtom } from 'jotai';
import { MessagesSquare } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { type Chat, groupKeyOf } from '../../store/chats.ts';
import { draftsAtom, sendDraftAtom } from '../../store/drafts.ts';
import type { Group } from '../../store/groups.ts';
import { nameOfAtom } from '../../store/names.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Composer } from '../../ui/chat/Composer.tsx';
import { MessageList, SealLine } from '../../ui/chat/MessageList.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { changeNotices } from './changeNotices.tsx';
import { groupName } from './names.ts';
import { groupTexts } from './texts.ts';

interface GroupChatProps {
  group: Group;
  chat: Chat;
  focusRequest: number;
}

/** A group's messages and the form to write more. */
export function GroupChat({ group, chat, focusRequest }: GroupChatProps) {
  const key = groupKeyOf(group.id);
  const actions = useAtomValue(requiredActionsAtom);
  const ownId = useAtomValue(currentUserAtom)?.id;
  const nameOf = useAtomValue(nameOfAtom);
  const draft = useAtomValue(draftsAtom)[key] ?? '';
  const setDrafts = useSetAtom(draftsAtom);
  const sendDraft = useSetAtom(sendDraftAtom);
  const attempt = useSetAtom(attemptAtom);
  const retry = useCallback(
    (messageId: string) =>
      void attempt(() => actions.retryMessage(messageId), { failure: groupTexts.retryFailed }),
    [actions, attempt],
  );
  const discard = useCallback(
    (messageId: string) =>
      void attempt(() => actions.discardMessage(messageId), { failure: groupTexts.discardFailed }),
    [actions, attempt],
  );
  const notices = useMemo(
    () => changeNotices(group.changes, { nameOf, ownId }),
    [group.changes, nameOf, ownId],
  );
  const name = groupName(group);
  const since = <ReadableSince state={chat.state} />;

  return (
    <>
      <MessageList
        label={groupTexts.messagesIn(name)}
        messages={chat.messages}
        notices={notices}
        ownId={ownId}
        nameOf={nameOf}
        isRead={() => false}
        showAuthors
        loading={chat.loading}
        hasOlder={chat.hasOlder}
        onLoadOlder={() =>
          attempt(() => actions.loadOlderMessages(key), { failure: groupTexts.loadOlderFailed })
        }
        onRetry={retry}
        onDiscard={discard}
        beginning={
          <SealLine>
            {groupTexts.seal} {since}
          </SealLine>
        }
        empty={
          <EmptyState icon={<MessagesSquare />} title={groupTexts.noMessages}>
            {groupTexts.noMessagesHint} {since}
          </EmptyState>
        }
      />
      <Composer
        name={name}
        draft={draft}
        onDraftChange={(text) => setDrafts((drafts) => ({ ...drafts, [key]: text }))}
        onSend={() => void sendDraft(key, groupTexts.sendFailed)}
        focusRequest={focusRequest}
      />
    </>
  );
}

/** For a device that was let in later: what it can read. */
function ReadableSince({ state }: Pick<Chat, 'state'>) {
  if (state === null || state.joinedSeq === 0 || state.joinedAt === null) return null;
  return (
    <>
      {groupTexts.readableSince} <time dateTime={state.joinedAt}>{fullTimestamp(state.joinedAt)}</time>.
    </>
  );
}
