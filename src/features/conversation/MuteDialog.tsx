import { useAtomValue, useSetAtom } from 'jotai';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { groupIdOfKey } from '../../store/chats.ts';
import { forGood, type Mute, mutesAtom } from '../../store/mutes.ts';
import { Choice } from '../../ui/Choice.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CardForm } from '../../ui/Form.tsx';
import type { MuteDialogProps } from './MuteButton.tsx';

const hour = 60 * 60_000;
/** Milliseconds. */
const spans = { hour, eightHours: 8 * hour, week: 7 * 24 * hour } as const;

type Span = 'off' | keyof typeof spans | 'mentions' | 'always';

/** Asks for how long a conversation is to make no noise. */
export function MuteDialog({ open, onClose, ...form }: MuteDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onClose} title={t('mute.title')}>
      <MuteForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function MuteForm({ conversationKey, onClose }: Omit<MuteDialogProps, 'open'>) {
  const actions = useAtomValue(requiredActionsAtom);
  const attempt = useSetAtom(attemptAtom);
  const mute = useAtomValue(mutesAtom)[conversationKey];
  const isGroup = groupIdOfKey(conversationKey) !== null;
  const [chosen, setChosen] = useState<Span>(spanOf(mute));
  const [busy, setBusy] = useState(false);
  const offered: Span[] = [
    'off',
    'hour',
    'eightHours',
    'week',
    ...(isGroup ? (['mentions'] as const) : []),
    'always',
  ];

  async function save() {
    setBusy(true);
    const isSet = await attempt(() => actions.muteConversation(conversationKey, muteFor(chosen)), {
      failure: t('mute.failed'),
    });
    setBusy(false);
    if (isSet) onClose();
  }

  return (
    <CardForm
      label={t('mute.title')}
      busy={busy}
      onSubmit={save}
      submitLabel={t('mute.save')}
      cancelLabel={t('app.cancel')}
      onCancel={onClose}
    >
      <p>{t('mute.hint')}</p>
      <Choice
        label={t('mute.title')}
        options={offered.map((value) => ({
          value,
          label: t(isGroup && value === 'always' ? 'mute.alwaysWithMentions' : `mute.${value}`),
        }))}
        value={chosen}
        onValueChange={setChosen}
      />
      {isGroup && <p>{t('mute.mentionsHint')}</p>}
    </CardForm>
  );
}

/** Returns what is chosen at first: a mute that ends by itself can only be chosen anew, so that is ending it. */
function spanOf(mute: Mute | undefined): Span {
  if (mute === undefined || mute.until < forGood) return 'off';
  return mute.mentions ? 'mentions' : 'always';
}

/** Returns what a choice means from now on: only for good it takes the mentions in. */
function muteFor(span: Span): Mute {
  if (span === 'off') return { until: 0, mentions: true };
  if (span === 'always' || span === 'mentions') return { until: forGood, mentions: span === 'mentions' };
  return { until: Date.now() + spans[span], mentions: true };
}
