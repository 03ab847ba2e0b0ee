import { useSetAtom } from 'jotai';
import { useEffect, useEffectEvent } from 'react';
import { shortcutsHelpOpenAtom } from '../../store/shortcutsHelp.ts';
import { isBehindModal } from '../../ui/modal.ts';
import { mainId } from '../../ui/SkipLink.tsx';
import { isMac, type ShortcutName, shortcutOf } from './keys.ts';

/** Handles the shortcut keys while it is mounted; help opens and closes by itself. */
export function useShortcuts(actions: Readonly<Record<Exclude<ShortcutName, 'help'>, () => void>>): void {
  const setHelpOpen = useSetAtom(shortcutsHelpOpenAtom);

  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.repeat) return;
    // Alt and an arrow open these elements.
    if (event.target instanceof Element && event.target.matches('select, [role="combobox"]')) return;
    const name = shortcutOf(event, { mac: isMac(), writing: isWriting(event.target) });
    if (name === null || isBehindModal(document.getElementById(mainId))) return;
    event.preventDefault();
    if (name === 'help') setHelpOpen(true);
    else actions[name]();
  });
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}
