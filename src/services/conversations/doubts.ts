import type { ConversationState } from '../../crypto/client.ts';
import { onStates, type SessionEvents } from '../core/sessionEvents.ts';

export interface Doubts {
  /** Returns whether the messages of a conversation in this state wait for the person's word. */
  holds(state: ConversationState | null): boolean;
}

/** Holds messages back while something was found, or somebody whom nobody vouches for, and lets them go once that is over. */
export function createDoubts(sessionEvents: SessionEvents): Doubts {
  const held = new Set<string>();
  const isDoubted = (state: ConversationState) =>
    state.isDoubted || (state.group !== null && state.group.unvouchedIds.length > 0);
  onStates(sessionEvents, (states) => {
    for (const state of states) {
      const { conversationId } = state;
      if (!isDoubted(state) && held.delete(conversationId))
        sessionEvents.emit('holdReleased', { conversationId });
    }
  });
  return {
    holds(state) {
      const isHeld = state !== null && isDoubted(state);
      if (isHeld) held.add(state.conversationId);
      return isHeld;
    },
  };
}
