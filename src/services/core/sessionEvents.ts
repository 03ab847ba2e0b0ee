import type { ConversationState, ProcessResult } from '../../crypto/client.ts';
import type { FailureCode } from '../../lib/errorCode.ts';
import type { ErrorCode, IncomingEvent } from '../../net/contract.ts';
import type { ConversationKey } from '../../store/chats.ts';
import type { RealtimeStatus } from '../../store/connection.ts';

/** The events of a session. Each is emitted by the service that knows of it, and by no other. */
export interface SessionEventMap {
  /** New states of conversations: of all at once when a session starts. */
  conversationsChanged: { readonly states: readonly ConversationState[] };
  /** Entries of a conversation's log were processed, which led to the state that comes with them. */
  entriesProcessed: ProcessResult;
  /** Receipts of others were checked, which led to the state, and to what was found where logs differ. */
  receiptsTaken: Pick<ProcessResult, 'events' | 'state'>;
  /** The person has read further on this device than on any before. */
  readHere: { readonly conversationId: string; readonly seq: number };
  /** Another tab has written these drafts, and tells the person's other devices. */
  draftsTaken: { readonly drafts: Readonly<Record<ConversationKey, string>> };
  /** Other conversations are muted than before: by the person here, or by another device's word. */
  mutesChanged: { readonly isHere: boolean };
  /** Copies of messages have taken the place of what could not be read. */
  copiesShown: Record<string, never>;
  /** Messages that disappear have come or were read, here or on another device: the next may be over sooner. */
  clocksStarted: Record<string, never>;
  /** This device refuses to enter a group, by the code that its tree or commit was refused with. */
  groupRefused: { readonly conversationId: string; readonly code: FailureCode };
  /** A group is being erased from this browser. */
  groupForgotten: { readonly groupId: string };
  /** The relay lists a group again that had been erased here. */
  groupReturned: { readonly groupId: string };
  /** The person has left or deleted a group, so nothing of it is to be kept anywhere. */
  groupGivenUp: { readonly groupId: string };
  /** This device has renewed the keys that the person's devices share. */
  keysRenewed: { readonly vaultVersion: number };
  /** This device has taken over the keys that another one renewed. */
  keysTakenOver: { readonly vaultVersion: number };
  /** A doubt about who is in a conversation is over, so messages that waited may go. */
  holdReleased: { readonly conversationId: string };
  /** The real-time connection is in another state. */
  realtimeChanged: { readonly status: RealtimeStatus };
  /** The relay has sent an event in real time. */
  realtimeReceived: { readonly event: IncomingEvent };
  /** The relay refuses the token in real time; the code is null where it has not said why. */
  tokenRefused: { readonly token: string; readonly code: ErrorCode | null };
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
    receiptsTaken: [],
    readHere: [],
    draftsTaken: [],
    mutesChanged: [],
    copiesShown: [],
    clocksStarted: [],
    groupRefused: [],
    groupForgotten: [],
    groupReturned: [],
    groupGivenUp: [],
    keysRenewed: [],
    keysTakenOver: [],
    holdReleased: [],
    realtimeChanged: [],
    realtimeReceived: [],
    tokenRefused: [],
  };
  return {
    on: (name, listener) => void listeners[name].push(listener),
    emit(name, event) {
      for (const listener of listeners[name]) listener(event);
    },
  };
}

/** Calls the listener with every new state of a conversation, whether or not entries led to it. */
export function onStates(events: SessionEvents, listener: Listener<readonly ConversationState[]>): void {
  events.on('conversationsChanged', ({ states }) => listener(states));
  events.on('entriesProcessed', ({ state }) => listener([state]));
}
