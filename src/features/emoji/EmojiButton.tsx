import { Popover } from '@base-ui/react/popover';
import { Smile, TriangleAlert } from 'lucide-react';
import type { RefObject } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Button, iconButtonClass } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { type EmojiCategory, emojiCategories } from './data.ts';
import styles from './EmojiButton.module.css';
import { LoadingGrid } from './LoadingGrid.tsx';
import { preloadPicker, usePicker } from './usePicker.ts';

interface EmojiButtonProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  categories?: readonly EmojiCategory[];
  /** The picker closes after it. */
  onPick: (emoji: string) => void;
  /** Gets the focus when the picker closes. */
  returnFocusTo: RefObject<HTMLElement | null>;
}

/** Opens the picker of emojis. Escape closes it. */
export function EmojiButton({
  open,
  onOpenChange,
  categories = emojiCategories,
  onPick,
  returnFocusTo,
}: EmojiButtonProps) {
  const { picker, retry } = usePicker(open);

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
      <Popover.Portal>
        <Popover.Positioner
          className={styles.positioner}
          side="top"
          align="start"
          sideOffset={8}
          collisionPadding={8}
        >
          <Popover.Popup className={styles.popup} finalFocus={returnFocusTo}>
            <VisuallyHidden>
              <Popover.Title>{t('emoji.title')}</Popover.Title>
            </VisuallyHidden>
            {picker === 'loading' && <LoadingGrid />}
            {picker === 'failed' && (
              <EmptyState
                icon={<TriangleAlert />}
                action={<Button onClick={retry}>{t('emoji.retry')}</Button>}
              >
                {t('emoji.loadFailed')}
              </EmptyState>
            )}
            {typeof picker === 'object' && (
              <picker.EmojiPicker emojis={picker.emojis} categories={categories} onPick={pick} />
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
