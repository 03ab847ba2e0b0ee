import { Popover } from '@base-ui/react/popover';
import { EmojiPopup } from './EmojiPopup.tsx';

interface ReactionPickerProps {
  open: boolean;
  anchor: Element | { getBoundingClientRect(): DOMRect };
  onPick: (emoji: string) => void;
  onClose: () => void;
  /** Returns the element that gets the focus when it closes. */
  returnFocus: () => HTMLElement | null;
}

/** The picker of emojis beside a message. Escape closes it. */
export function ReactionPicker({ open, anchor, onPick, onClose, returnFocus }: ReactionPickerProps) {
  return (
    <Popover.Root open={open} onOpenChange={onClose}>
      <EmojiPopup
        open={open}
        anchor={anchor}
        onPick={(emoji) => {
          onPick(emoji);
          onClose();
        }}
        finalFocus={returnFocus}
      />
    </Popover.Root>
  );
}
