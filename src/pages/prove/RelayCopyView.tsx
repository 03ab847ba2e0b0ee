import { useAtomValue } from 'jotai';
import type { ReactNode } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { type ConversationKey, groupIdOfKey } from '../../store/chats.ts';
import { nameOfAtom } from '../../store/names.ts';
import type { RelayCopy, RelayEntry, SentEvidence, SentText } from '../../store/proof.ts';
import { currentUserAtom } from '../../store/session.ts';
import { Alert, type AlertKind } from '../../ui/Alert.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { EntryBytes } from './EntryBytes.tsx';
import styles from './LastMessageSection.module.css';

/** Characters of a device's id that tell a person's few devices apart. */
const shortId = 8;

type Match = SentEvidence['match'];

const matchKinds: Readonly<Record<Match, AlertKind>> = {
  same: 'success',
  different: 'error',
  unknown: 'info',
};
const matchTexts: Readonly<Record<'bytes' | 'digest', Record<Match, MessageId>>> = {
  bytes: {
    same: 'prove.last.match.same',
    different: 'prove.last.match.different',
    unknown: 'prove.last.match.unknown',
  },
  digest: {
    same: 'prove.last.matchDigest.same',
    different: 'prove.last.match.different',
    unknown: 'prove.last.match.unknown',
  },
};

/** Tells the kinds of conversations apart by those who are in them. */
export function kindOfKey(key: ConversationKey, ownId: string | undefined): 'group' | 'self' | 'person' {
  if (groupIdOfKey(key) !== null) return 'group';
  return key === ownId ? 'self' : 'person';
}

interface RelayCopyProps {
  copy: RelayCopy;
  text: SentText;
}

/** Shows a message as the relay has it, and says how this browser judges it. */
export function RelayCopyView({ copy, text }: RelayCopyProps) {
  return (
    <section className={styles.relay}>
      <h3 className={styles.heading}>{t('prove.last.server')}</h3>
      <Found copy={copy} text={text} />
    </section>
  );
}

function Found({ copy, text }: RelayCopyProps): ReactNode {
  switch (copy.kind) {
    case 'missing':
      return <Alert kind="warning">{t('prove.last.missing')}</Alert>;
    case 'refused':
      return <Alert kind="info">{t('prove.last.refused')}</Alert>;
    case 'unreachable':
      return <Alert kind="info">{t(navigator.onLine ? 'prove.last.unreachable' : 'prove.offline')}</Alert>;
    case 'digest':
      return (
        <>
          <p>{t('prove.last.digest')}</p>
          <p className={styles.digest}>{copy.digest}</p>
          <Alert kind={matchKinds[copy.match]}>{t(matchTexts.digest[copy.match])}</Alert>
          <Known entry={copy.entry} text={text} length={null} />
        </>
      );
    case 'bytes':
      return (
        <>
          <EntryBytes bytes={copy.bytes} fields={copy.fields} />
          <Alert kind={matchKinds[copy.match]}>{t(matchTexts.bytes[copy.match])}</Alert>
          <TextSought hasText={copy.hasText} />
          <Known entry={copy.entry} text={text} length={copy.bytes.length} />
        </>
      );
    default:
      throw copy satisfies never;
  }
}

function TextSought({ hasText }: Pick<Extract<RelayCopy, { kind: 'bytes' }>, 'hasText'>) {
  if (hasText === null) return <Alert kind="info">{t('prove.last.text.short')}</Alert>;
  return (
    <Alert kind={hasText ? 'error' : 'success'}>
      {t(hasText ? 'prove.last.text.found' : 'prove.last.text.absent')}
    </Alert>
  );
}

interface KnownProps {
  entry: RelayEntry;
  text: SentText;
  /** Bytes; null where they are gone. */
  length: number | null;
}

/** Facts that the relay needs to deliver a message, and so knows. */
function Known({ entry: { epoch, senderDeviceId, senderId, seq, timestamp }, length, text }: KnownProps) {
  const user = useAtomValue(currentUserAtom);
  const isOwn = senderId === user?.id && senderDeviceId === text.deviceId;
  const id = <code>{senderDeviceId.slice(0, shortId)}</code>;
  return (
    <>
      <h4 className={styles.subheading}>{t('prove.last.knows')}</h4>
      <dl className={styles.facts}>
        <dt>{t('prove.last.fact.from')}</dt>
        <dd>
          {isOwn ? (
            <RichText id="prove.last.fromYou" parts={{ id, name: <bdi>{user.username}</bdi> }} />
          ) : (
            <code>{`${senderId} ${senderDeviceId}`}</code>
          )}
        </dd>
        <dt>{t('prove.last.fact.to')}</dt>
        <dd>
          <Recipient conversation={text.key} />
        </dd>
        <dt>{t('prove.last.fact.time')}</dt>
        <dd>
          <time dateTime={timestamp}>{fullTimestamp(timestamp)}</time>
        </dd>
        <dt>{t('prove.last.fact.place')}</dt>
        <dd>{t('chat.detailsPosition', { seq })}</dd>
        {length === null ? (
          <>
            <dt>{t('prove.last.fact.epoch')}</dt>
            <dd>{epoch}</dd>
          </>
        ) : (
          <>
            <dt>{t('prove.last.fact.length')}</dt>
            <dd>
              {t('prove.last.length', { length, text: new TextEncoder().encode(text.text).length })}
              <p className={styles.note}>{t('prove.last.padded')}</p>
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

/** The recipients as the relay knows them: a group's name is sealed. */
function Recipient({ conversation }: { conversation: ConversationKey }) {
  const ownId = useAtomValue(currentUserAtom)?.id;
  const nameOf = useAtomValue(nameOfAtom);
  const kind = kindOfKey(conversation, ownId);
  if (kind === 'person') return <bdi>{nameOf(conversation)}</bdi>;
  return t(kind === 'group' ? 'prove.last.toGroup' : 'prove.last.toSelf');
}
