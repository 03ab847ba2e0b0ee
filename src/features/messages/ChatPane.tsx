import { useAtomValue } from 'jotai';
import { FileText, MessagesSquare } from 'lucide-react';
import { type ReactNode, Suspense } from 'react';
import { t } from '../../i18n/i18n.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { PartBoundary } from '../../ui/PartBoundary.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import { ChatHeader } from '../conversation/ChatHeader.tsx';
import { OrTyping } from '../conversation/OrTyping.tsx';
import { presenceText } from '../conversation/presenceText.ts';
import type { ChatNotice } from '../conversation/timeline.ts';
import { openChatAtom } from './atoms.ts';
import styles from './ChatPane.module.css';
import { chatChunk } from './chatChunk.ts';

const Chat = chatChunk.component(({ Chat }) => Chat);
const GalleryButton = chatChunk.component(({ GalleryButton }) => GalleryButton);
const TimerButton = chatChunk.component(({ TimerButton }) => TimerButton);
const MuteButton = chatChunk.component(({ MuteButton }) => MuteButton);
const Notes = chatChunk.component(({ Notes }) => Notes);

/** Parts that tell how certain the other person's identity is. The page makes them: this room may not import trust. */
export interface ChatVerification {
  /** At the end of the header. */
  readonly action: ReactNode;
  /** Above the messages. */
  readonly notice: ReactNode;
  /** Lines between the messages. */
  readonly lines: readonly ChatNotice[];
}

interface ChatPaneProps {
  verification?: ChatVerification | undefined;
  /** Each new positive number moves the focus to the input. */
  focusRequest: number;
  onClose: () => void;
}

export function ChatPane({ verification, focusRequest, onClose }: ChatPaneProps) {
  const open = useAtomValue(openChatAtom);
  if (open === null) {
    return (
      <div className={styles.nothing}>
        <EmptyState icon={<MessagesSquare />}>{t('messages.nothingOpen')}</EmptyState>
      </div>
    );
  }
  const { userId, name, online, chat, isNotes } = open;
  return (
    <section className={styles.pane} aria-label={isNotes ? name : t('messages.chatWith', { name })}>
      <ChatHeader
        name={name}
        icon={isNotes && <FileText size={18} />}
        online={online}
        detail={
          isNotes ? undefined : (
            <OrTyping conversationKey={userId} live>
              {presenceText(online)}
            </OrTyping>
          )
        }
        backLabel={t('messages.back')}
        onBack={onClose}
        action={
          <>
            <Suspense>
              <GalleryButton key={`gallery ${userId}`} conversationKey={userId} isIcon />
              {!isNotes && (
                <>
                  <TimerButton key={userId} conversationKey={userId} state={chat.state} />
                  <MuteButton key={`mute ${userId}`} conversationKey={userId} />
                </>
              )}
            </Suspense>
            {verification?.action}
          </>
        }
      />
      <PartBoundary part="chat" shows={userId}>
        {verification?.notice}
        <Suspense fallback={<LoadingLine text={t('app.loading')} />}>
          {isNotes ? (
            <Notes key={userId} userId={userId} chat={chat} focusRequest={focusRequest} />
          ) : (
            <Chat
              key={userId}
              userId={userId}
              name={name}
              chat={chat}
              lines={verification?.lines}
              focusRequest={focusRequest}
            />
          )}
        </Suspense>
      </PartBoundary>
    </section>
  );
}
