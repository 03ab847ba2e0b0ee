import type { Chat, ConversationKey, MessageView } from './chats.ts';

/** A message of somebody else that has just come. */
export interface Arrival {
  readonly key: ConversationKey;
  readonly message: MessageView;
}

/**
 * Compares the chats with those it was given before, and answers what has come: of each chat the newest. What was there
 * when this began is history, not an arrival.
 *
 * @param beganAt milliseconds since the Unix epoch
 */
export function createArrivals(beganAt: number) {
  const heard = new Map<ConversationKey, number>();

  return (chats: Readonly<Record<ConversationKey, Chat>>, ownId: string | undefined): Arrival[] => {
    const arrivals: Arrival[] = [];
    for (const [key, { state }] of Object.entries(chats)) {
      const message = state?.lastMessage;
      if (message === undefined || message?.seq === null) continue;
      const heardSeq = heard.get(key);
      // A message that was deleted here leaves an older one as the newest, which is no arrival.
      heard.set(key, Math.max(heardSeq ?? 0, message?.seq ?? 0));
      if (message === null || message.senderId === ownId) continue;
      const isNew =
        heardSeq === undefined ? Date.parse(message.timestamp) >= beganAt : (message.seq ?? 0) > heardSeq;
      if (isNew) arrivals.push({ key, message });
    }
    return arrivals;
  };
}
