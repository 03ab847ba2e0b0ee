import type { IncomingEvent } from '../../net/contract.ts';
import { activeConversationAtom } from '../../store/chats.ts';
import { keyOf, takesPart } from '../core/conversationIds.ts';
import type { SessionDeps } from '../core/deps.ts';
import { startTold } from '../core/place.ts';
import { updateGroupInvitations } from '../groups/invitationsOnDemand.ts';
import type { Services } from './services.ts';

export interface IncomingEventsOptions {
  readonly deps: Pick<SessionDeps, 'api' | 'crypto' | 'events' | 'store'>;
  readonly ownUserId: string;
  readonly services: Pick<Services, 'contacts' | 'groupList' | 'joiner' | 'receipts' | 'security' | 'sync'>;
  /** Uploads KeyPackages in place of those that have been used up: others need them to reach this device. */
  readonly topUpKeyPackages: () => Promise<void>;
}

/** Returns the handler of what the relay sends in real time. */
export function createIncomingEventHandler(
  options: IncomingEventsOptions,
): (event: IncomingEvent) => Promise<void> {
  const { ownUserId, services } = options;
  const { contacts, groupList, joiner, receipts, security, sync } = services;
  const { store } = options.deps;

  function isActive(conversationId: string): boolean {
    const key = keyOf(conversationId, ownUserId);
    return key !== null && key === store.get(activeConversationAtom);
  }

  return async (event) => {
    switch (event.type) {
      case 'message':
      case 'commit':
        return sync.onEntry(event);
      case 'available':
        return sync.onAvailable(event, isActive(event.conversationId));
      case 'welcome':
        if (!takesPart(event.conversationId, ownUserId)) return;
        await joiner.refreshMailbox();
        // One that has not been used yet may be the only way in.
        if ((await sync.catchUp(event.conversationId)).status === 'joined')
          await joiner.dropWelcomes(event.conversationId);
        return options.topUpKeyPackages();
      case 'delivered':
        return sync.onDelivered(event);
      case 'receipt':
        return receipts.onReceipt(event);
      case 'contacts':
        return contacts.onChanged(event.lists);
      case 'groups':
        return groupList.refresh();
      case 'group-invitations':
        return updateGroupInvitations(options.deps);
      case 'account':
        return security.onChanged();
      case 'devices':
        return security.devices.onRevoked(event);
      case 'start':
        return startTold(options.deps, event);
    }
  };
}
