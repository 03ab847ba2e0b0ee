import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import type { ConversationEvent } from '../../store/chatEvents.ts';
import { Disclosure } from '../../ui/Disclosure.tsx';

import { ViewsButton } from './Views.tsx';

export interface EventLineProps {
  readonly event: ConversationEvent;
  readonly ownId: string | undefined;
  readonly nameOf: (userId: string) => string;
}

type Finding = Extract<ConversationEvent['change'], { kind: 'missing' | 'withheld' | 'diverged' }>;

/** Returns whether an event says that the relay has given this browser another log than it should have. */
export function isFinding(change: ConversationEvent['change']): change is Finding {
  return change.kind === 'missing' || change.kind === 'withheld' || change.kind === 'diverged';
}

/** Says that messages are missing, or that logs differ. */
export function LogFindingLine(props: EventLineProps) {
  const { change } = props.event;
  if (!isFinding(change)) return null;
  // Messages that are kept back may be of both people.
  if (change.kind === 'withheld') return t('events.withheld', { count: change.count });
  const { parts, whose } = wordsOf(props);
  const values = change.kind === 'missing' ? { count: change.count } : {};
  return <RichText id={`events.${change.kind}${whose}`} parts={parts} values={values} />;
}

/** The line of a finding in a chat, and why it is there. */
export function LogFinding(props: EventLineProps) {
  const { change } = props.event;
  if (!isFinding(change)) return null;
  const { parts, whose } = wordsOf(props);
  return (
    <>
      <p>
        <LogFindingLine {...props} />
      </p>
      <Disclosure summary={t('events.why')}>
        <p>{t(`events.${change.kind}.why`)}</p>
        <p>
          <RichText id={`events.finding.todo${whose}`} parts={parts} />
        </p>
        <ViewsButton conversationId={props.event.conversationId} ownId={props.ownId} nameOf={props.nameOf} />
      </Disclosure>
    </>
  );
}

/** There are words of their own for another browser of this person. */
function wordsOf({ event: { senderId }, nameOf, ownId }: EventLineProps) {
  return senderId === ownId
    ? { whose: 'Own' as const, parts: {} }
    : { whose: '' as const, parts: { name: <bdi>{nameOf(senderId)}</bdi> } };
}
