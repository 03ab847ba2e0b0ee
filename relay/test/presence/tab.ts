import { WebSocket } from 'ws';
import { PresenceServerMessage } from '../../contract/index.ts';

/** One tab. */
export class Tab {
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  /** The text beside the code that the socket was closed with. */
  readonly closeReason: Promise<string>;
  readonly #received: unknown[] = [];
  readonly #waiting: ((message: unknown) => void)[] = [];

  private constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data: Buffer) => {
      const message: unknown = JSON.parse(data.toString());
      const waiter = this.#waiting.shift();
      if (waiter === undefined) this.#received.push(message);
      else waiter(message);
    });
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code) => resolve(code));
    });
    this.closeReason = new Promise((resolve) => {
      this.socket.once('close', (_code, reason) => resolve(reason.toString()));
    });
  }

  static async open(relay: { readonly presenceUrl: string }): Promise<Tab> {
    const tab = new Tab(relay.presenceUrl);
    await new Promise((resolve, reject) => {
      tab.socket.once('open', resolve);
      tab.socket.once('error', reject);
    });
    tab.socket.on('error', () => {});
    return tab;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  next(): Promise<unknown> {
    if (this.#received.length > 0) return Promise.resolve(this.#received.shift());
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Proves that nothing else is on its way. */
  async expectNothing(): Promise<void> {
    this.send({ type: 'ping' });
    const answer = await this.next();
    if (JSON.stringify(answer) !== '{"type":"pong"}') throw new Error(`got ${JSON.stringify(answer)}`);
  }

  async leave(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

export interface Arrival {
  readonly tab: Tab;
  /** The user ids of the contacts who were online. */
  readonly online: readonly string[];
}

interface SignedIn {
  readonly id: string;
  readonly token: string;
}

/** The message that authenticates a socket. */
export function hello(person: SignedIn) {
  return { userId: person.id, online: true, token: person.token };
}

/** A tab whose person is online, and the contacts it found online. */
export async function arriveAt(relay: { readonly presenceUrl: string }, person: SignedIn): Promise<Arrival> {
  const tab = await Tab.open(relay);
  tab.send(hello(person));
  const first = PresenceServerMessage.parse(await tab.next());
  if (!('userIds' in first)) throw new Error('the list of contacts did not come first');
  return { tab, online: first.userIds };
}
