import { useAtomValue } from 'jotai';
import { useEffect } from 'react';
import { unreadTotalAtom } from '../../store/chats.ts';
import { groupUnreadTotalAtom } from '../../store/groups.ts';

const icons = { plain: '/favicon.svg', marked: '/favicon-unread.svg' } as const;

/** Marks the icon of the browser's tab, and of the installed application, while something is unread. */
export function useUnreadMark(): void {
  const unread = useAtomValue(unreadTotalAtom) + useAtomValue(groupUnreadTotalAtom);
  const marked = unread > 0;

  useEffect(() => {
    if (!marked) return undefined;
    setIcon(icons.marked);
    return () => setIcon(icons.plain);
  }, [marked]);

  useEffect(() => {
    if (!('setAppBadge' in navigator) || unread === 0) return undefined;
    void navigator.setAppBadge(unread).catch(() => undefined);
    return () => void navigator.clearAppBadge().catch(() => undefined);
  }, [unread]);
}

function setIcon(href: string): void {
  document.querySelector('link[rel="icon"]')?.setAttribute('href', href);
}
