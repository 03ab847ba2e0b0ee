import type { Hub } from '../realtime/hub.ts';

/** Who is online: a person with at least one online socket. Tells the hub when a person's first comes or last goes. */
export class OnlineUsers {
  readonly #hub: Pick<Hub, 'publishStatus'>;
  readonly #sockets = new Map<string, Set<object>>();

  constructor(hub: Pick<Hub, 'publishStatus'>) {
    this.#hub = hub;
  }

  has(userId: string): boolean {
    return this.#sockets.has(userId);
  }

  /** @param socket stands for one tab or device; adding it twice counts once */
  add(userId: string, socket: object): void {
    const sockets = this.#sockets.get(userId);
    if (sockets !== undefined) {
      sockets.add(socket);
      return;
    }
    this.#sockets.set(userId, new Set([socket]));
    this.#hub.publishStatus({ userId, online: true });
  }

  remove(userId: string, socket: object): void {
    const sockets = this.#sockets.get(userId);
    if (sockets === undefined || !sockets.delete(socket) || sockets.size > 0) return;
    this.#sockets.delete(userId);
    this.#hub.publishStatus({ userId, online: false });
  }
}
