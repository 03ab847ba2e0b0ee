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

/** How many of their last messages are offered. */
const offered = 10;
/** Code units of a message that its line shows. */
const shown = 200;

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
  const messages = useMessagesOf(person.id);
  const [reason, setReason] = useState<PersonReport['reason']>('spam');
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);

  async function send() {
    setBusy(true);
    const attached = messages.filter(({ messageId }) => chosen.has(messageId));
    const report = { userId: person.id, reason, text: text.trim(), messages: attached };
    const isSent = await attempt(() => actions.report(report), {
      success: t('reports.sent'),
      failure: t('reports.failed'),
    });
    setBusy(false);
    if (isSent) onDone();
  }

  function tick(messageId: string, isTicked: boolean) {
    const next = new Set(chosen);
    if (isTicked) next.add(messageId);
    else next.delete(messageId);
    setChosen(next);
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
        {messages.map((message) => (
          <CheckboxField
            key={message.messageId}
            name={message.messageId}
            required={false}
            label={t('reports.message', {
              time: fullTimestamp(message.timestamp),
              text: clip(message.text, shown),
            })}
            checked={chosen.has(message.messageId)}
            onCheckedChange={(isTicked) => tick(message.messageId, isTicked)}
            disabled={busy}
          />
        ))}
      </fieldset>
    </CardForm>
  );
}

/** Their last messages that this page has, the newest first. */
function useMessagesOf(userId: string) {
  const chats = useAtomValue(chatsAtom);
  return (chats[userId]?.messages ?? [])
    .flatMap(({ content, messageId, senderId, timestamp }) =>
      senderId === userId && content.kind === 'text' ? [{ messageId, timestamp, text: content.text }] : [],
    )
    .slice(-offered)
    .toReversed();
}
