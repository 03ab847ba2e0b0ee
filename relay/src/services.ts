import type { FastifyBaseLogger } from 'fastify';
import type { Sessions } from './auth/sessions.ts';
import type { Config } from './config.ts';
import type { Contacts } from './contacts/contacts.ts';
import type { Messaging } from './messaging/messaging.ts';
import type { Hub } from './realtime/hub.ts';

/** What the HTTP routes, the MQTT gateway and the presence socket share. */
export interface Services {
  readonly config: Config;
  readonly hub: Hub;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: FastifyBaseLogger;
  readonly sessions: Sessions;
  readonly contacts: Contacts;
  readonly messaging: Messaging;
}
