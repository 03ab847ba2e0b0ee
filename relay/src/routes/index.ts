import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { accountHandlers } from './account.ts';
import { accountStateHandlers } from './accountStates.ts';
import { blobHandlers } from './blobs.ts';
import { contactHandlers } from './contacts.ts';
import { conversationHandlers } from './conversations.ts';
import { deviceHandlers } from './devices.ts';
import { groupInvitationHandlers } from './groupInvitations.ts';
import { groupHandlers } from './groups.ts';
import { historyHandlers } from './history.ts';
import { notificationHandlers } from './notifications.ts';
import { sessionHandlers } from './sessions.ts';
import { storageHandlers } from './storage.ts';

export function createHandlers(services: Services): Handlers {
  return {
    ...accountHandlers(services),
    ...accountStateHandlers(services),
    ...sessionHandlers(services),
    ...deviceHandlers(services),
    ...contactHandlers(services),
    ...conversationHandlers(services),
    ...groupHandlers(services),
    ...groupInvitationHandlers(services),
    ...historyHandlers(services),
    ...notificationHandlers(services),
    ...storageHandlers(services),
    ...blobHandlers(services),
  };
}
