import { useStore } from 'jotai';
import { useEffect, useState } from 'react';
import { notificationsAtom } from '../../store/notifications.ts';
import { VisuallyHidden } from '../../ui/VisuallyHidden.tsx';
import { notificationSentence } from './sentence.ts';

/** Announces notifications to screen readers, except for messages, which MessageAnnouncer announces with their text. */
export function NotificationAnnouncer() {
  const store = useStore();
  const [announcement, setAnnouncement] = useState('');

  useEffect(() => {
    let known: ReadonlySet<string> | null = null;
    const follow = () => {
      const { items, loaded } = store.get(notificationsAtom);
      if (!loaded) return;
      const before = known;
      known = new Set(items.map(({ id }) => id));
      // Notifications of the first load are not news.
      const news = before === null ? [] : items.filter(({ id, read }) => !read && !before.has(id));
      const [newest] = news.filter(({ type }) => type !== 'message');
      if (newest !== undefined) setAnnouncement(notificationSentence(newest));
    };
    follow();
    return store.sub(notificationsAtom, follow);
  }, [store]);

  return <VisuallyHidden as="output">{announcement}</VisuallyHidden>;
}
