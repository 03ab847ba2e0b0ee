import { atom } from 'jotai';
import type { ConversationEvent } from '../crypto/client.ts';
import type { ConversationKey } from './chats.ts';

export type { ConversationEvent } from '../crypto/client.ts';

/** What happened beside messages in the chats that were opened in this session; ascending by position. */
export const chatEventsAtom = atom<Readonly<Record<ConversationKey, readonly ConversationEvent[]>>>({});
