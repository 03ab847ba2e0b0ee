import { useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { onDemand } from '../../ui/onDemand.tsx';
import type { ViewsProps } from './ViewsDialog.tsx';

/** A dialog that saves what this browser was given of a conversation, and puts somebody else's file beside it. */
const Views = onDemand(async () => (await import('./ViewsDialog.tsx')).ViewsDialog);

/** Opens that dialog, where logs were found to differ. */
export function ViewsButton(props: Pick<ViewsProps, 'conversationId' | 'nameOf' | 'ownId'>) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="small" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t('chat.compareViews')}
      </Button>
      <Views {...props} open={open} onClose={() => setOpen(false)} />
    </>
  );
}
