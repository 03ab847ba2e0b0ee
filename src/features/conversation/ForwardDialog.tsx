import { useAtomValue, useSetAtom } from 'jotai';
import { useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { useBlocks } from '../../store/blocks.ts';
import type { ConversationKey, MessageView } from '../../store/chats.ts';
import { destinationsAtom } from '../../store/conversationNames.ts';
import { ownOrOtherNameAtom, withMentionNames } from '../../store/mentions.ts';
import { showToastAtom } from '../../store/toasts.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { CardForm } from '../../ui/Form.tsx';
import { MultiCombobox } from '../../ui/MultiCombobox.tsx';
import { Names } from '../../ui/Names.tsx';
import { contentPreview } from './preview.ts';

/** More at once is how rumours spread. */
const most = 5;

interface ForwardDialogProps {
  open: boolean;
  message: MessageView;
  onClose: () => void;
}

/** Asks to which conversations a text, or files with their caption, go on. */
export function ForwardDialog({ open, message, onClose }: ForwardDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onClose} title={t('forward.title')}>
      <ForwardForm message={message} onClose={onClose} />
    </Dialog>
  );
}

function ForwardForm({ message, onClose }: Omit<ForwardDialogProps, 'open'>) {
  const { content } = message;
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const showToast = useSetAtom(showToastAtom);
  const destinations = useAtomValue(destinationsAtom);
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  useBlocks();
  const options = useMemo(
    () => destinations.map(({ key, name }) => ({ value: key, label: name })),
    [destinations],
  );
  const wanted = options.filter(({ value }) => chosen.has(value));

  // Null once this is closed: by the person, or because the message is gone.
  const current = useRef<MessageView['content'] | null>(null);
  useEffect(() => {
    current.current = content;
    return () => {
      current.current = null;
    };
  }, [content]);

  /** Passes the message on as it is by now; null where it is gone. */
  function forwardTo(key: ConversationKey): Promise<void> | null {
    const now = current.current;
    if (now?.kind !== 'text' && now?.kind !== 'files') return null;
    // People there may know nobody by these ids. In a name that its owner has chosen brackets make no link, nor another mention.
    const nameIn = (userId: string) => nameOf(userId).replace(/[\\[\]]/g, '\\$&');
    const { isMarkdown, text } = now;
    const words = isMarkdown ? { text: withMentionNames(text, nameIn), isMarkdown } : { text };
    if (now.kind === 'text') return actions.forwardMessage(key, words);
    return actions.files().then((files) => files.forward(key, message, words));
  }

  async function forward() {
    if (wanted.length === 0) return;
    setBusy(true);
    const left = new Set<string>();
    for (const { label: name, value: key } of wanted) {
      const sending = forwardTo(key);
      if (sending === null) return;
      const failure = t('forward.failed', { name });
      if (!(await attempt(() => sending, { failure }))) left.add(key);
    }
    setBusy(false);
    setChosen(left);
    if (left.size > 0) return;
    showToast('success', t('forward.done', { count: wanted.length }));
    onClose();
  }

  return (
    <CardForm
      label={t('forward.title')}
      busy={busy}
      onSubmit={forward}
      submitLabel={t('forward.forward')}
      cancelLabel={t('app.cancel')}
      onCancel={onClose}
    >
      <bdi>{contentPreview(content, { nameOf })}</bdi>
      <MultiCombobox
        label={t('forward.to')}
        placeholder={t('forward.choose')}
        options={options}
        chosen={chosen}
        onChosenChange={(next) => next.size <= most && setChosen(next)}
        disabled={busy}
        noMatches={t('forward.noMatches')}
        close={t('app.close')}
        moreThan={(shown) => t('forward.shown', { shown, total: options.length })}
      />
      <output>
        {wanted.length === most ? t('forward.full') : t('forward.hint')}{' '}
        {wanted.length > 0 && <Names names={wanted.map(({ label }) => label)} />}
      </output>
    </CardForm>
  );
}
