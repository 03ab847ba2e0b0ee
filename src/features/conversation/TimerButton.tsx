import { Timer, TimerOff } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { ConversationKey, ConversationState } from '../../store/chats.ts';
import { IconButton } from '../../ui/Button.tsx';
import { onDemand } from '../../ui/onDemand.tsx';
import { timerText } from './timerText.ts';

export interface TimerDialogProps {
  conversationKey: ConversationKey;
  /** Seconds; 0 for off. */
  timer: number;
  open: boolean;
  onClose: () => void;
}

const TimerDialog = onDemand<TimerDialogProps>(async () => (await import('./TimerDialog.tsx')).TimerDialog);

interface TimerButtonProps {
  conversationKey: ConversationKey;
  state: ConversationState | null;
}

/** The clock in the header of a conversation: says after which time messages disappear, and lets the person choose. */
export function TimerButton({ conversationKey, state }: TimerButtonProps) {
  const [open, setOpen] = useState(false);
  if (state?.status !== 'joined') return null;
  const { timer } = state;
  return (
    <>
      <IconButton
        label={t('timer.button', { timer: timerText(timer) })}
        icon={timer === 0 ? <TimerOff /> : <Timer />}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      />
      <TimerDialog {...{ conversationKey, open, timer }} onClose={() => setOpen(false)} />
    </>
  );
}
