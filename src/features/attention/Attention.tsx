import { useStore } from 'jotai';
import { useEffect, useEffectEvent } from 'react';
import { type ConversationKey, groupIdOfKey } from '../../store/chats.ts';
import { startAlerts } from './alerts.ts';
import { useUnreadMark } from './useUnreadMark.ts';

interface AttentionProps {
  onOpenChat: (userId: string) => void;
  onOpenGroup: (groupId: string) => void;
}

/** Alerts a person who is elsewhere to new messages. It shows nothing in the page. */
export function Attention({ onOpenChat, onOpenGroup }: AttentionProps) {
  const store = useStore();
  const open = useEffectEvent((key: ConversationKey) => {
    const groupId = groupIdOfKey(key);
    if (groupId === null) onOpenChat(key);
    else onOpenGroup(groupId);
  });
  useEffect(() => startAlerts(store, (key) => open(key)), [store]);
  useUnreadMark();
  return null;
}
