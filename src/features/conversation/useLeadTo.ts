import { useCallback, useEffect, useEffectEvent, useState } from 'react';
import type { MessageView } from '../../store/chats.ts';
import type { useOlderMessages } from './useOlderMessages.ts';

interface LeadToInput {
  messages: readonly MessageView[];
  hasOlder: boolean;
  older: ReturnType<typeof useOlderMessages>;
  /** Brings the row of a message into sight, and the focus to it. */
  reach: (row: number) => void;
  /** It isn't here, however far back this device goes. */
  onMissing: () => void;
}

/** A way to a message that somebody has asked for; the same one may be asked for again. */
interface Way {
  readonly messageId: string;
  readonly end: 'open' | 'reached' | 'missing' | 'failed';
}

/** Leads to a message, through as many older pages as it takes. */
export function useLeadTo({ messages, hasOlder, older, reach, onMissing }: LeadToInput) {
  const [way, setWay] = useState<Way | null>(null);
  const isOpen = way?.end === 'open';
  const row = isOpen ? messages.findLastIndex(({ messageId }) => messageId === way.messageId) + 1 : 0;

  if (isOpen && row > 0) setWay({ ...way, end: 'reached' });
  else if (isOpen && !hasOlder) setWay({ ...way, end: 'missing' });

  const goBack = useEffectEvent(() => older.load());
  useEffect(() => {
    if (way?.end !== 'open' || older.loading) return;
    // A failure has been said, where it can be tried again.
    const end = () => setWay((before) => (before === way ? { ...way, end: 'failed' } : before));
    void goBack().then((succeeded) => succeeded || end());
  }, [way, older.loading]);

  const arrive = useEffectEvent(({ messageId, end }: Way) => {
    if (end === 'missing') onMissing();
    if (end === 'reached') reach(messages.findLastIndex((one) => one.messageId === messageId) + 1);
  });
  useEffect(() => {
    if (way !== null) arrive(way);
  }, [way]);

  return {
    seeking: isOpen,
    /** The one that was reached last, until its mark has faded. */
    marked: way?.end === 'reached' ? way.messageId : null,
    leadTo: useCallback((messageId: string) => setWay({ messageId, end: 'open' }), []),
    unmark: () => setWay((before) => (before?.end === 'open' ? before : null)),
  };
}
