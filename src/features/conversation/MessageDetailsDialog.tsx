import { useAtomValue } from 'jotai';
import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { visibleName } from '../../lib/people.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import type { MessageEvidence, MessageView } from '../../store/chats.ts';
import { devicesAtom } from '../../store/devices.ts';
import { preferencesAtom } from '../../store/preferences.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { LogFindingLine } from './LogFinding.tsx';
import styles from './MessageDetailsDialog.module.css';
import { type MessageState, stateText } from './messageState.ts';
import { ViewsButton } from './Views.tsx';

interface MessageDetailsProps {
  message: MessageView;
  author: string;
  /** Undefined while it isn't known. */
  ownId: string | undefined;
  nameOf: (userId: string) => string;
  state: MessageState;
  open: boolean;
  onClose: () => void;
}

/** The suite of conversations that was the default before X-Wing. */
const suiteWithoutPostQuantum = 3;
/** Characters of a device's id that tell a person's few devices apart. */
const shortId = 8;

export function MessageDetailsDialog(props: MessageDetailsProps) {
  const { author, message, onClose, open, state } = props;
  const evidence = useEvidence(message, open);
  const isRead = message.content.kind !== 'undecryptable';
  return (
    <Dialog open={open} onOpenChange={onClose} title={t('chat.detailsTitle')}>
      <dl className={styles.facts}>
        <Fact label={t('chat.detailsAuthor')}>
          <bdi>{author}</bdi>
        </Fact>
        {evidence !== null && isRead && (
          <Fact label={t('chat.detailsDevice')}>
            <DeviceName {...props} evidence={evidence} />
          </Fact>
        )}
        <Times {...props} />
        <Fact label={t('chat.detailsState')}>{stateText(state)}</Fact>
        {evidence !== null && evidence.pinned !== null && (
          <Fact label={t('pinned.mark')}>
            <Pinning {...props} pinned={evidence.pinned} />
          </Fact>
        )}
        {evidence !== null && (
          <>
            <Fact label={t('chat.detailsPlace')}>{t('chat.detailsPosition', { seq: evidence.seq })}</Fact>
            <Fact label={t('chat.detailsLog')}>
              <LogEvidence {...props} evidence={evidence} />
            </Fact>
          </>
        )}
        {evidence !== null && isRead && (
          <Fact label={t('chat.detailsEncryption')}>{encryptionText(evidence)}</Fact>
        )}
      </dl>
      {evidence !== null && (
        <div className={styles.actions}>
          <ViewsButton conversationId={message.conversationId} ownId={props.ownId} nameOf={props.nameOf} />
        </div>
      )}
    </Dialog>
  );
}

/** Asks for the evidence that this browser has of a message; null until it is there, and where there is none. */
function useEvidence({ conversationId, seq }: MessageView, open: boolean): MessageEvidence | null {
  const actions = useAtomValue(requiredActionsAtom);
  const [evidence, setEvidence] = useState<MessageEvidence | null>(null);
  useEffect(() => {
    if (!open || seq === null) return undefined;
    let isWanted = true;
    actions.messageEvidence(conversationId, seq).then(
      (found) => isWanted && setEvidence(found),
      // A message that this browser does not keep has no more to it than the log's entry.
      () => isWanted && setEvidence(null),
    );
    return () => {
      isWanted = false;
    };
  }, [actions, conversationId, open, seq]);
  return evidence;
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Times({ author, message, ownId }: MessageDetailsProps) {
  const { clock, senderId, timestamp } = message;
  const atServer = <time dateTime={timestamp}>{fullTimestamp(timestamp)}</time>;
  if (clock === undefined) return <Fact label={t('chat.detailsTime')}>{atServer}</Fact>;
  const time = <time dateTime={clock.sentAt}>{fullTimestamp(clock.sentAt)}</time>;
  return (
    <>
      <Fact label={t('chat.detailsWritten')}>
        {senderId === ownId ? (
          <RichText id="chat.detailsByOwnClock" parts={{ time }} />
        ) : (
          <RichText id="chat.detailsByClock" parts={{ time, name: <bdi>{author}</bdi> }} />
        )}
      </Fact>
      <Fact label={t('chat.detailsArrived')}>{atServer}</Fact>
    </>
  );
}

function Pinning({
  nameOf,
  ownId,
  pinned: { timestamp, userId },
}: Pick<MessageDetailsProps, 'nameOf' | 'ownId'> & {
  readonly pinned: NonNullable<MessageEvidence['pinned']>;
}) {
  const time = <time dateTime={timestamp}>{fullTimestamp(timestamp)}</time>;
  if (userId === ownId) return <RichText id="chat.detailsPinnedOwn" parts={{ time }} />;
  return <RichText id="chat.detailsPinned" parts={{ time, name: <bdi>{nameOf(userId)}</bdi> }} />;
}

type EvidenceProps = MessageDetailsProps & { evidence: MessageEvidence };

function DeviceName({ author, evidence, ownId }: EvidenceProps) {
  const { isThisDevice, senderDeviceId, senderId } = evidence;
  const own = useAtomValue(devicesAtom)?.find(({ id }) => id === senderDeviceId);
  const id = <code>{senderDeviceId.slice(0, shortId)}</code>;
  if (isThisDevice) return <RichText id="chat.detailsThisBrowser" parts={{ id }} />;
  if (own !== undefined) {
    return (
      <RichText id="chat.detailsNamedBrowser" parts={{ id, name: <bdi>{visibleName(own.name)}</bdi> }} />
    );
  }
  if (senderId === ownId) return <RichText id="chat.detailsOwnBrowser" parts={{ id }} />;
  return <RichText id="chat.detailsBrowserOf" parts={{ id, name: <bdi>{author}</bdi> }} />;
}

function LogEvidence({ evidence: { log }, nameOf, ownId }: EvidenceProps) {
  const { readReceipts } = useAtomValue(preferencesAtom);
  if (log.kind === 'finding') return <LogFindingLine event={log.event} ownId={ownId} nameOf={nameOf} />;
  // How many have confirmed is what their receipts say, of which who hides theirs sees nothing.
  if (log.kind === 'agreed') return agreedText(readReceipts ? log : { ...log, confirmed: 0 });
  return t(`chat.detailsLog.${log.kind}`);
}

function agreedText({ confirmed, others }: Extract<MessageEvidence['log'], { kind: 'agreed' }>): string {
  if (confirmed === 0) return t('chat.detailsLog.agreed');
  return confirmed === others
    ? t('chat.detailsLog.agreedAll', { count: others })
    : t('chat.detailsLog.agreedSome', { confirmed, others });
}

function encryptionText({ epoch, suite }: MessageEvidence): string {
  const strength = suite === null || suite === suiteWithoutPostQuantum ? 'plain' : 'postQuantum';
  const sealed = t(`chat.detailsSealed.${strength}`);
  return epoch === null ? sealed : `${sealed} ${t('chat.detailsEpoch', { epoch })}`;
}
