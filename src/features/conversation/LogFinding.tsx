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

/** Says that messages are missing, or that logs differ. */
export function LogFindingLine(props: EventLineProps) {
  const { change } = props.event;
  if (change.kind !== 'missing' && change.kind !== 'diverged') return null;
  const { parts, whose } = wordsOf(props);
  const values = change.kind === 'missing' ? { count: change.count } : {};
  return <RichText id={`events.${change.kind}${whose}`} parts={parts} values={values} />;
}

/** The line of a finding in a chat, and why it is there. */
export function LogFinding(props: EventLineProps) {
  const { change } = props.event;
  if (change.kind !== 'missing' && change.kind !== 'diverged') return null;
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
