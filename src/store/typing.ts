import type { ConversationKey } from './chats.ts';
import { sessionAtom } from './sessionAtom.ts';

/** Somebody who is writing, by the name of the session from which the relay has it. */
export interface Writer {
  readonly userId: string;
  /** Milliseconds since the Unix epoch, when they were last said to be. */
  readonly since: number;
}

/** The people who are writing, by {@link ConversationKey}, those first who began first: none where nobody is. */
export const typingAtom = sessionAtom<Readonly<Record<ConversationKey, readonly Writer[]>>>({});
