import { RichText } from '../../i18n/RichText.tsx';
import type { MessageView } from '../../store/chats.ts';
import { messageTime } from '../../store/messageTime.ts';
import { fullTimestamp, momentBeside, timeOfDay } from '../../ui/format.ts';
import styles from './MessageMoment.module.css';

interface MessageMomentProps {
  message: Pick<MessageView, 'clock' | 'timestamp'>;
  /** Name of the sender; null for this person. */
  author: string | null;
}

/** The time of a message, with the sender's clock beside it where the two can't both be right. */
export function MessageMoment({ message, author }: MessageMomentProps) {
  const { byClock, shown } = messageTime(message);
  const time = (
    <time dateTime={shown} title={fullTimestamp(shown)}>
      {timeOfDay(shown)}
    </time>
  );
  if (byClock === null) return time;
  const clock = (
    <time dateTime={byClock} title={fullTimestamp(byClock)}>
      {momentBeside(byClock, shown)}
    </time>
  );
  return (
    <span className={styles.both}>
      {author === null ? (
        <RichText id="chat.twoTimesOwn" parts={{ time, clock }} />
      ) : (
        <RichText id="chat.twoTimes" parts={{ time, clock, name: <bdi>{author}</bdi> }} />
      )}
    </span>
  );
}
