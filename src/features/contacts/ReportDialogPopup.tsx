import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { RichText } from '../../i18n/RichText.tsx';
import { clip } from '../../lib/clip.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { chatsAtom } from '../../store/chats.ts';
import { displayName } from '../../store/people.ts';
import { type PersonReport, reportReasons } from '../../store/reports.ts';
import { CheckboxField } from '../../ui/Checkbox.tsx';
import { Choice } from '../../ui/Choice.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextAreaField } from '../../ui/Field.tsx';
import { CardForm } from '../../ui/Form.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import type { ReportDialogProps } from './ReportDialog.tsx';
import styles from './ReportDialogPopup.module.css';

/** How many of their last messages are offered: with few, somebody could write past what they are reported for. */
const offered = 50;
/** How many can be sent, and the code units of each: what is shown is what is sent. */
const sent = { messages: 10, length: 4000 };

export function ReportDialogPopup({ person, open, onOpenChange }: ReportDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('reports.title')}>
      <ReportForm person={person} onDone={() => onOpenChange(false)} />
    </Dialog>
  );
}

/** Sends no more than it shows: a reason, words, and the messages that are ticked. */
function ReportForm({ person, onDone }: Pick<ReportDialogProps, 'person'> & { onDone: () => void }) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const { isHere, last } = useMessagesOf(person.id);
  const [reason, setReason] = useState<PersonReport['reason']>('spam');
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<readonly Offered[]>([]);
  const [busy, setBusy] = useState(false);

  const isChosen = ({ messageId }: Offered) => chosen.some((one) => one.messageId === messageId);
  // Ticked messages stay, however much they write or delete meanwhile, until their time is over.
  const past = chosen.filter(
    (one) => isHere(one) && last.every(({ messageId }) => messageId !== one.messageId),
  );
  const messages = [...last, ...past];
  const ticked = messages.filter(isChosen);

  async function send() {
    setBusy(true);
    const report = { userId: person.id, reason, text: text.trim(), messages: ticked };
    const isSent = await attempt(() => actions.report(report), {
      success: t('reports.sent'),
      failure: t('reports.failed'),
    });
    setBusy(false);
    if (isSent) onDone();
  }

  function tick(message: Offered, isTicked: boolean) {
    const others = chosen.filter(({ messageId }) => messageId !== message.messageId);
    setChosen(isTicked ? [...others, message] : others);
  }

  return (
    <CardForm
      label={t('reports.title')}
      busy={busy}
      onSubmit={send}
      submitLabel={t('reports.submit')}
      cancelLabel={t('reports.cancel')}
      onCancel={onDone}
    >
      <p>
        <RichText id="reports.body" parts={{ name: <bdi>{displayName(person)}</bdi> }} />
      </p>
      <Choice
        label={t('reports.reason')}
        options={reportReasons.map((value) => ({ value, label: t(`reports.reason.${value}`) }))}
        value={reason}
        onValueChange={setReason}
      />
      <TextAreaField
        label={t('reports.words')}
        name="words"
        rows={3}
        maxLength={1000}
        value={text}
        onValueChange={setText}
        readOnly={busy}
      />
      <fieldset className={styles.messages}>
        <legend>{t('reports.attach')}</legend>
        <p className={styles.muted}>
          {t(messages.length === 0 ? 'reports.attachNone' : 'reports.attachHint')}
        </p>
        <div className={styles.list}>
          {messages.map((message) => (
            <CheckboxField
              key={message.messageId}
              name={message.messageId}
              required={false}
              label={t('reports.message', {
                time: fullTimestamp(message.timestamp),
                text: clip(message.text, sent.length),
              })}
              checked={isChosen(message)}
              onCheckedChange={(isTicked) => tick(message, isTicked)}
              disabled={busy || (ticked.length >= sent.messages && !isChosen(message))}
            />
          ))}
        </div>
      </fieldset>
    </CardForm>
  );
}

interface Offered {
  readonly messageId: string;
  readonly timestamp: string;
  readonly text: string;
}

/** Their last messages that this page has, the newest first, and whether it still has one. */
function useMessagesOf(userId: string) {
  const messages = useAtomValue(chatsAtom)[userId]?.messages ?? [];
  const last = messages
    .flatMap(({ content, messageId, senderId, timestamp }): Offered[] =>
      senderId === userId && content.kind === 'text' ? [{ messageId, timestamp, text: content.text }] : [],
    )
    .slice(-offered)
    .toReversed();
  const isHere = (one: Offered) => messages.some(({ messageId }) => messageId === one.messageId);
  return { isHere, last };
}
