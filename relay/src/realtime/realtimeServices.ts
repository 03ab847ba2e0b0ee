import type { Services } from '../services.ts';

/** The use cases that live connections need. */
export interface RealtimeServices
  extends Pick<Services, 'clock' | 'hub' | 'log' | 'onlineUsers' | 'connections' | 'diskReserve'> {
  readonly sessions: Pick<Services['sessions'], 'verify'>;
  readonly contacts: Pick<Services['contacts'], 'areContacts' | 'isBlocked' | 'visibleIdsOf'>;
  readonly rateLimiter: Pick<Services['rateLimiter'], 'take'>;
  readonly groups: Pick<Services['groups'], 'isMember'>;
  readonly messaging: Pick<Services['messaging'], 'send' | 'sendToGroup' | 'tellTyping'>;
}
