import { clsx } from 'clsx';
import { CircleAlert, ShieldAlert } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { undecryptableTexts } from '../../i18n/undecryptable.ts';
import type { PlayerName, PlayerScreen } from '../../store/proof.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import styles from './PlaySection.module.css';

/** The same in every language. */
export const playerNames: Readonly<Record<PlayerName, string>> = { anna: 'Anna', bert: 'Bert' };

type Message = PlayerScreen['messages'][number];
type Event = PlayerScreen['events'][number];

interface PlayScreenProps {
  name: PlayerName;
  screen: PlayerScreen;
}

/** A chat as somebody in the play sees it, in the sentences of the product. */
export function PlayScreen({ name, screen }: PlayScreenProps) {
  const id = useId();
  const { events, isDoubted, keyOffered, messages, userId } = screen;
  const peerName = playerNames[name === 'anna' ? 'bert' : 'anna'];
  // A message that waits has no place in the log yet.
  const lines: { key: string; seq: number; line: ReactNode }[] = [
    ...messages.map((message) => ({
      key: message.messageId,
      seq: message.seq ?? Number.POSITIVE_INFINITY,
      line: (
        <MessageLine
          message={message}
          isOwn={message.senderId === userId}
          author={message.senderId === userId ? playerNames[name] : peerName}
          waits={keyOffered && message.status === 'sending'}
        />
      ),
    })),
    ...events.map((event) => ({
      key: `event ${event.seq}`,
      seq: event.seq,
      line: <EventLine event={event} name={peerName} />,
    })),
  ];
  return (
    <section className={styles.screen} aria-labelledby={id}>
      <h3 className={styles.heading} id={id}>
        {t('prove.play.screen', { name: playerNames[name] })}
      </h3>
      {keyOffered && (
        <Notice icon={<ShieldAlert />}>
          <p className={styles.noticed}>
            <RichText id="safetyNumber.change.title" parts={{ name: <bdi>{peerName}</bdi> }} />
          </p>
          <p>
            <RichText id="safetyNumber.change.text" parts={{ name: <bdi>{peerName}</bdi> }} />
          </p>
        </Notice>
      )}
      <ul className={styles.lines}>
        {lines
          .toSorted((one, other) => one.seq - other.seq)
          .map(({ key, line }) => (
            <li key={key} className={styles.item}>
              {line}
            </li>
          ))}
      </ul>
      {isDoubted && (
        <Notice icon={<CircleAlert />}>
          <p>
            <RichText id="messages.doubt.text" parts={{ name: <bdi>{peerName}</bdi> }} />
          </p>
        </Notice>
      )}
    </section>
  );
}

function Notice({ children, icon }: { children: ReactNode; icon: ReactNode }) {
  return (
    <div className={styles.notice}>
      <span className={styles.noticeIcon} aria-hidden="true">
        {icon}
      </span>
      <div className={styles.words}>{children}</div>
    </div>
  );
}

interface MessageLineProps {
  message: Message;
  isOwn: boolean;
  author: string;
  /** It is not sent, since another key was shown. */
  waits: boolean;
}

function MessageLine({ author, isOwn, message: { content }, waits }: MessageLineProps) {
  return (
    <div className={clsx(styles.bubble, isOwn && styles.own)}>
      <VisuallyHidden>
        <bdi>{author}</bdi>:{' '}
      </VisuallyHidden>
      {content.kind === 'text' && <p>{content.text}</p>}
      {content.kind === 'undecryptable' && (
        <>
          <p className={styles.unread}>{t('messages.undecryptable')}</p>
          <p className={styles.reason}>{t(undecryptableTexts[content.reason])}</p>
        </>
      )}
      {waits && <p className={styles.reason}>{t('prove.play.waits')}</p>}
    </div>
  );
}

/** A line of the log beside messages; in the play that is something that was found. */
function EventLine({ event: { change }, name }: { event: Event; name: string }) {
  const parts = { name: <bdi>{name}</bdi> };
  if (change.kind === 'missing') {
    return (
      <Notice icon={<CircleAlert />}>
        <p>
          <RichText id="events.missing" parts={parts} values={{ count: change.count }} />
        </p>
      </Notice>
    );
  }
  if (change.kind === 'diverged') {
    return (
      <Notice icon={<CircleAlert />}>
        <p>
          <RichText id="events.diverged" parts={parts} />
        </p>
      </Notice>
    );
  }
  if (change.kind !== 'refused') return null;
  return (
    <Notice icon={<CircleAlert />}>
      <p>{t('events.refused')}</p>
      <p>{t('events.refused.damaged')}</p>
    </Notice>
  );
}
