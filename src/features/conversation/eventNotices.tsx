import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import type { FailureCode } from '../../lib/errorCode.ts';
import type { ConversationEvent } from '../../store/chatEvents.ts';
import { Disclosure } from '../../ui/Disclosure.tsx';
import { Names } from '../../ui/Names.tsx';
import { type EventLineProps, isFinding, LogFinding } from './LogFinding.tsx';
import type { ChatNotice } from './timeline.ts';
import { timerText } from './timerText.ts';

/**
 * Notices of events: joins and leaves, refused changes, this browser losing its place or being added again, what members agree
 * on, and logs that differ.
 */
export function eventNotices(
  events: readonly ConversationEvent[],
  ownId: string | undefined,
  nameOf: (userId: string) => string,
): ChatNotice[] {
  return events.map((event) => ({
    id: `event-${event.seq}`,
    timestamp: event.timestamp,
    seq: event.seq,
    text: <EventLines event={event} ownId={ownId} nameOf={nameOf} />,
  }));
}

function EventLines({ event, ownId, nameOf }: EventLineProps) {
  const { change, senderId } = event;
  if (change.kind === 'refused') return <Refused code={change.code} name={nameOf(senderId)} />;
  if (change.kind === 'expired') return <p>{t('events.expired', { count: change.count })}</p>;
  if (change.kind === 'returned') return <p>{t('events.returned')}</p>;
  if (change.kind === 'timer')
    return <TimerLine seconds={change.seconds} name={senderId === ownId ? null : nameOf(senderId)} />;
  if (change.kind === 'pinned')
    return <PinLine isPinned={change.isPinned} name={senderId === ownId ? null : nameOf(senderId)} />;
  if (isFinding(change)) return <LogFinding event={event} ownId={ownId} nameOf={nameOf} />;
  const { added, removed } = change;
  return (
    <>
      {change.kind === 'rejoined' && <p>{t('events.rejoined')}</p>}
      {added.length > 0 && <People id="events.joined" names={added.map(nameOf)} />}
      {/* No member removes another: a removed person has left. */}
      {removed.length > 0 && <People id="events.left" names={removed.map(nameOf)} />}
    </>
  );
}

/** @param props.name null for this person */
function TimerLine({ seconds, name }: { seconds: number; name: string | null }) {
  const timer = timerText(seconds);
  const isOff = seconds === 0;
  if (name === null) return <p>{isOff ? t('events.timerOwnOff') : t('events.timerOwn', { timer })}</p>;
  const parts = { name: <bdi>{name}</bdi>, timer: <span>{timer}</span> };
  return (
    <p>
      <RichText id={isOff ? 'events.timerOff' : 'events.timer'} parts={parts} />
    </p>
  );
}

/** @param props.name null for this person */
function PinLine({ isPinned, name }: { isPinned: boolean; name: string | null }) {
  if (name === null) return <p>{t(isPinned ? 'events.pinnedOwn' : 'events.unpinnedOwn')}</p>;
  const id = isPinned ? 'events.pinned' : 'events.unpinned';
  return (
    <p>
      <RichText id={id} parts={{ name: <bdi>{name}</bdi> }} />
    </p>
  );
}

function People({ id, names }: { id: MessageId; names: readonly string[] }) {
  return (
    <p>
      <RichText id={id} parts={{ names: <Names names={names} /> }} values={{ count: names.length }} />
    </p>
  );
}

function Refused({ code, name }: { code: FailureCode; name: string }) {
  return (
    <>
      <p>{t('events.refused')}</p>
      <Disclosure summary={t('events.why')}>
        <p>{t(reasons[code] ?? 'events.refused.damaged')}</p>
        <p>
          <RichText id="events.by" parts={{ name: <bdi>{name}</bdi> }} />
        </p>
        <p>{t('events.refused.todo')}</p>
        <p>
          <RichText id="events.code" parts={{ code: <code>{code}</code> }} />
        </p>
      </Disclosure>
    </>
  );
}

/** Texts by the code of a refusal; any other code means that the change was damaged, invented or altered. */
const reasons: Readonly<Partial<Record<FailureCode, MessageId>>> = {
  policy: 'events.refused.rules',
  'invalid-leaf': 'events.refused.rules',
  'invalid-tree': 'events.refused.rules',
  'invalid-proposal': 'events.refused.rules',
  'invalid-commit': 'events.refused.rules',
  'invalid-key-package': 'events.refused.rules',
  'invalid-credential': 'events.refused.identity',
  'identity-changed': 'events.refused.identity',
  'unknown-sender': 'events.refused.identity',
  'wrong-epoch': 'events.refused.repeated',
};
