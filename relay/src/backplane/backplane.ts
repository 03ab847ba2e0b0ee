import type { OnlineUsers } from '../presence/onlineUsers.ts';
import type { RateLimitStore } from '../rateLimits/store.ts';
import type { Hub } from '../realtime/hub.ts';

/** The state, beside the database, that several relays share to serve their clients as one. */
export interface Backplane {
  readonly hub: Hub;
  readonly onlineUsers: OnlineUsers;
  readonly rateLimitStore: RateLimitStore;
  /** @throws if this relay has to be kept from clients until the operator has mended something */
  check(): void;
  /** Call it when the sockets are closed. */
  close(): Promise<void>;
}
