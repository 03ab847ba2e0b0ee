import type { ConversationEvent } from '../crypto/client.ts';
import type { ConversationKey } from './chats.ts';
import { sessionAtom } from './sessionAtom.ts';

export type { ConversationEvent } from '../crypto/client.ts';

/** The events beside messages in the chats that were opened in this session; ascending by position. */
export const chatEventsAtom = sessionAtom<Readonly<Record<ConversationKey, readonly ConversationEvent[]>>>(
  {},
);
