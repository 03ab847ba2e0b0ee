import type { ConversationState } from '../../crypto/client.ts';
import { onStates, type SessionEvents } from '../core/sessionEvents.ts';
import type { SendPermission } from './outbox.ts';

export interface Doubts {
  /**
   * Answers `held` while the messages of a conversation wait for the person's word, and else what is asked. By what is read for the
   * answer this device may come back to others than it left.
   */
  unlessHeld(
    stateNow: () => ConversationState | null,
    ask: () => Promise<SendPermission>,
  ): Promise<SendPermission>;
}

/** Holds messages back while something was found, or somebody whom nobody vouches for, and lets them go once that is over. */
export function createDoubts(sessionEvents: SessionEvents): Doubts {
  const held = new Set<string>();
  const isDoubted = (state: ConversationState) =>
    state.isDoubted || (state.group !== null && state.group.unvouchedIds.length > 0);
  onStates(sessionEvents, (states) => {
    for (const state of states) {
      const { conversationId } = state;
      // The worker holds messages back as well, which no tab asks about first.
      if (isDoubted(state)) held.add(conversationId);
      else if (held.delete(conversationId)) sessionEvents.emit('holdReleased', { conversationId });
    }
  });
  function holds(state: ConversationState | null): boolean {
    const isHeld = state !== null && isDoubted(state);
    if (isHeld) held.add(state.conversationId);
    return isHeld;
  }

  return {
    async unlessHeld(stateNow, ask) {
      if (holds(stateNow())) return 'held';
      const permission = await ask();
      return holds(stateNow()) ? 'held' : permission;
    },
  };
}
