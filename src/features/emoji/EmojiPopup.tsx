import { Popover } from '@base-ui/react/popover';
import { TriangleAlert } from 'lucide-react';
import type { ComponentProps } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { type EmojiCategory, emojiCategories } from './data.ts';
import styles from './EmojiPopup.module.css';
import { LoadingGrid } from './LoadingGrid.tsx';
import { usePicker } from './usePicker.ts';

interface EmojiPopupProps extends Pick<ComponentProps<typeof Popover.Popup>, 'finalFocus'> {
  open: boolean;
  categories?: readonly EmojiCategory[] | undefined;
  /** The place beside which it opens; its trigger when absent. */
  anchor?: ComponentProps<typeof Popover.Positioner>['anchor'];
  onPick: (emoji: string) => void;
}

/** The picker of emojis as the panel of a popover. */
export function EmojiPopup(props: EmojiPopupProps) {
  const { open, categories = emojiCategories, anchor, onPick, finalFocus } = props;
  const { picker, retry } = usePicker(open);
  return (
    <Popover.Portal>
      <Popover.Positioner
        className={styles.positioner}
        anchor={anchor}
        side="top"
        align="start"
        sideOffset={8}
        collisionPadding={8}
      >
        <Popover.Popup className={styles.popup} finalFocus={finalFocus}>
          <VisuallyHidden>
            <Popover.Title>{t('emoji.title')}</Popover.Title>
          </VisuallyHidden>
          {picker === 'loading' && <LoadingGrid />}
          {picker === 'failed' && (
            <EmptyState icon={<TriangleAlert />} action={<Button onClick={retry}>{t('emoji.retry')}</Button>}>
              {t('emoji.loadFailed')}
            </EmptyState>
          )}
          {typeof picker === 'object' && (
            <picker.EmojiPicker emojis={picker.emojis} categories={categories} onPick={onPick} />
          )}
        </Popover.Popup>
      </Popover.Positioner>
    </Popover.Portal>
  );
}
