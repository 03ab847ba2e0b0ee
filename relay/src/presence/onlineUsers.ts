import type { Hub } from '../realtime/hub.ts';

/**
 * The people with at least one online socket. Watchers hear when a person's first one comes or last one goes.
 */
export interface OnlineUsers {
  /** @param socket stands for one tab or device; adding it twice counts once */
  add(userId: string, socket: object): void;
  remove(userId: string, socket: object): void;
  /** Returns those of these people who are online, in their order. */
  among(userIds: readonly string[]): Promise<string[]>;
}

/** The sockets of one process, by person. */
export class SocketCount {
  readonly #sockets = new Map<string, Set<object>>();

  get userIds(): Iterable<string> {
    return this.#sockets.keys();
  }

  has(userId: string): boolean {
    return this.#sockets.has(userId);
  }

  /** True if it is the person's first. */
  add(userId: string, socket: object): boolean {
    const sockets = this.#sockets.get(userId);
    sockets?.add(socket);
    if (sockets === undefined) this.#sockets.set(userId, new Set([socket]));
    return sockets === undefined;
  }

  /** True if it was the person's last. */
  remove(userId: string, socket: object): boolean {
    const sockets = this.#sockets.get(userId);
    if (sockets === undefined || !sockets.delete(socket) || sockets.size > 0) return false;
    this.#sockets.delete(userId);
    return true;
  }
}

/** The online users of a relay on its own. */
export class LocalOnlineUsers implements OnlineUsers {
  readonly #hub: Pick<Hub, 'publishStatus'>;
  readonly #sockets = new SocketCount();

  constructor(hub: Pick<Hub, 'publishStatus'>) {
    this.#hub = hub;
  }

  add(userId: string, socket: object): void {
    if (this.#sockets.add(userId, socket)) this.#hub.publishStatus({ userId, online: true });
  }

  remove(userId: string, socket: object): void {
    if (this.#sockets.remove(userId, socket)) this.#hub.publishStatus({ userId, online: false });
  }

  among(userIds: readonly string[]): Promise<string[]> {
    return Promise.resolve(userIds.filter((userId) => this.#sockets.has(userId)));
  }
}
