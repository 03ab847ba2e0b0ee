import { useAtom } from 'jotai';
import { withTexts } from '../../i18n/i18n.ts';
import { shortcutsHelpOpenAtom } from '../../store/shortcutsHelp.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import type { ShortcutsHelpProps } from './ShortcutsHelp.tsx';

const ShortcutsHelp = onDemand<ShortcutsHelpProps>(
  async () => (await withTexts('tabs', import('./ShortcutsHelp.tsx'))).ShortcutsHelp,
);

/** Loads the list of all keys once somebody asks for it. */
export function ShortcutsHelpOnDemand() {
  const [open, setOpen] = useAtom(shortcutsHelpOpenAtom);
  return <ShortcutsHelp open={open} onOpenChange={setOpen} />;
}
