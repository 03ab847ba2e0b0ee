import { Popover } from '@base-ui/react/popover';
import { Smile } from 'lucide-react';
import type { RefObject } from 'react';
import { t } from '../../i18n/i18n.ts';
import { iconButtonClass } from '../../ui/Button.tsx';
import type { EmojiCategory } from './data.ts';
import { EmojiPopup } from './EmojiPopup.tsx';
import { preloadPicker } from './usePicker.ts';

interface EmojiButtonProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  categories?: readonly EmojiCategory[] | undefined;
  /** The picker closes after it. */
  onPick: (emoji: string) => void;
  /** Gets the focus when the picker closes. */
  returnFocusTo: RefObject<HTMLElement | null>;
}

/** Opens the picker of emojis. Escape closes it. */
export function EmojiButton({ open, onOpenChange, categories, onPick, returnFocusTo }: EmojiButtonProps) {
  function pick(emoji: string) {
    onPick(emoji);
    onOpenChange(false);
  }

  return (
    <Popover.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Popover.Trigger
        className={iconButtonClass}
        aria-label={t('emoji.button')}
        aria-keyshortcuts="Control+E"
        title={t('emoji.buttonHint')}
        onPointerEnter={preloadPicker}
        onFocus={preloadPicker}
      >
        <Smile aria-hidden="true" />
      </Popover.Trigger>
      <EmojiPopup open={open} categories={categories} onPick={pick} finalFocus={returnFocusTo} />
    </Popover.Root>
  );
}
