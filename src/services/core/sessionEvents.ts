import type { ConversationEvent, ConversationState, MessageView } from '../../crypto/client.ts';

/** What happens in a session, each said once by the service that knows of it; whoever needs to know listens. */
export interface SessionEventMap {
  /** States that a conversation has now; of several at once where a session starts. */
  conversationsChanged: { readonly states: readonly ConversationState[] };
  /** Entries of a conversation's log that have been processed, with the state that they led to. */
  entriesProcessed: {
    readonly state: ConversationState;
    readonly messages: readonly MessageView[];
    readonly events: readonly ConversationEvent[];
  };
  /** This device refuses to enter a group, by the code that its tree or commit was refused with. */
  groupRefused: { readonly conversationId: string; readonly code: string };
  /** A group and what this browser had of it are gone. */
  groupForgotten: { readonly groupId: string };
  /** The person has left or deleted a group: nothing of it is to be kept anywhere. */
  groupGivenUp: { readonly groupId: string };
  /** A doubt about who is in a conversation is over: messages that waited may go. */
  holdReleased: { readonly conversationId: string };
}

type Listener<Event> = (event: Event) => void;

export interface SessionEvents {
  on<Name extends keyof SessionEventMap>(name: Name, listener: Listener<SessionEventMap[Name]>): void;
  /** Calls the listeners in the order in which they were added. */
  emit<Name extends keyof SessionEventMap>(name: Name, event: SessionEventMap[Name]): void;
}

export function createSessionEvents(): SessionEvents {
  const listeners: { [Name in keyof SessionEventMap]: Listener<SessionEventMap[Name]>[] } = {
    conversationsChanged: [],
    entriesProcessed: [],
    groupRefused: [],
    groupForgotten: [],
    groupGivenUp: [],
    holdReleased: [],
  };
  return {
    on: (name, listener) => void listeners[name].push(listener),
    emit(name, event) {
      for (const listener of listeners[name]) listener(event);
    },
  };
}
