import { useAtomValue } from 'jotai';
import { Bell, BellOff } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { forGood, mutesAtom } from '../../store/mutes.ts';
import { IconButton } from '../../ui/Button.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { onDemand } from '../../ui/onDemand.tsx';

export interface MuteDialogProps {
  conversationKey: ConversationKey;
  open: boolean;
  onClose: () => void;
}

const MuteDialog = onDemand<MuteDialogProps>(async () => (await import('./MuteDialog.tsx')).MuteDialog);

/** The bell in the header of a conversation: says whether it is muted, and lets the person choose. */
export function MuteButton({ conversationKey }: Pick<MuteDialogProps, 'conversationKey'>) {
  const [open, setOpen] = useState(false);
  const mute = useAtomValue(mutesAtom)[conversationKey];
  const close = () => setOpen(false);
  return (
    <>
      <IconButton
        label={labelOf(mute?.until)}
        icon={mute ? <BellOff /> : <Bell />}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      />
      <MuteDialog conversationKey={conversationKey} open={open} onClose={close} />
    </>
  );
}

function labelOf(until: number | undefined): string {
  if (until === undefined) return t('mute.button');
  if (until >= forGood) return t('mute.muted');
  return t('mute.mutedUntil', { time: fullTimestamp(new Date(until).toISOString()) });
}
