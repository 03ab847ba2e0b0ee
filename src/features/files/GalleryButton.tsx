import { useSetAtom } from 'jotai';
import { Images } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { type ConversationKey, soughtAtom } from '../../store/chats.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { onDemand } from '../../ui/onDemand.tsx';
import type { GalleryDialogProps } from './GalleryDialog.tsx';

const GalleryDialog = onDemand<GalleryDialogProps>(
  async () => (await import('./GalleryDialog.tsx')).GalleryDialog,
);

interface GalleryButtonProps {
  conversationKey: ConversationKey;
  /** An icon for a header; else a button with its words. */
  isIcon?: boolean;
  /** Leads to a message whose chat isn't in sight, in place of the chat that is. */
  onGoTo?: ((messageId: string) => void) | undefined;
}

/** Opens the gallery of a conversation: its pictures, films, files and sounds. */
export function GalleryButton({ conversationKey, isIcon = false, onGoTo }: GalleryButtonProps) {
  const [open, setOpen] = useState(false);
  const seek = useSetAtom(soughtAtom);
  const label = t('gallery.title');
  const opens = { 'aria-haspopup': 'dialog', onClick: () => setOpen(true) } as const;
  return (
    <>
      {isIcon ? (
        <IconButton label={label} icon={<Images />} {...opens} />
      ) : (
        <Button {...opens}>
          <Images size={16} aria-hidden="true" />
          {label}
        </Button>
      )}
      <GalleryDialog
        conversationKey={conversationKey}
        open={open}
        onClose={() => setOpen(false)}
        onGoTo={onGoTo ?? ((messageId) => seek({ key: conversationKey, messageId }))}
      />
    </>
  );
}
