import type { Liar } from '../network.ts';

/** An entry as the relay answers it. */
export interface Entry {
  readonly id: string;
  readonly conversationId: string;
  readonly seq: number;
  readonly kind: 'application' | 'commit';
  readonly epoch: number;
  readonly sender_id: string;
  readonly sender_device_id: string;
  readonly content: string;
  readonly timestamp: string;
  readonly digest?: string | undefined;
  readonly expired?: boolean | undefined;
}

const page = 100;

/** A relay that gives one device another log of one conversation than it gives the others, and is consistent in it. */
export class LogLiar implements Liar {
  readonly #conversationId: string;
  /** The conversation in the paths of the relay, and in its topics. */
  readonly #place: string;
  readonly #at: number;
  readonly #edit: (log: readonly Entry[]) => readonly Entry[];
  /** Entries more than there are, or fewer. */
  readonly #shift: number;

  constructor(
    conversationId: string,
    userId: string,
    at: number,
    shift: number,
    edit: (log: readonly Entry[]) => readonly Entry[],
  ) {
    const [kind, one = '', other = ''] = conversationId.split(':');
    this.#conversationId = conversationId;
    this.#place = kind === 'group' ? `group/${one}` : `user/${one === userId ? other : one}`;
    this.#at = at;
    this.#shift = shift;
    this.#edit = edit;
  }

  async answer(
    method: string,
    url: string,
    body: unknown,
    ask: (url: string) => Promise<unknown>,
  ): Promise<unknown> {
    const { pathname, searchParams } = new URL(url, 'http://relay');
    if (pathname === `/api/messages/${this.#place}`) {
      if (method === 'GET') return this.#list(pathname, searchParams, ask);
      return { ...(body as object), seq: this.#seq((body as Entry).seq) };
    }
    if (pathname === `/api/conversations/${encodeURIComponent(this.#conversationId)}/commits`) {
      return { ...(body as object), seq: this.#seq((body as Entry).seq) };
    }
    if (method === 'GET' && pathname === '/api/conversations') {
      return (body as { conversationId: string; lastSeq: number }[]).map((one) =>
        one.conversationId === this.#conversationId ? { ...one, lastSeq: this.#seq(one.lastSeq) } : one,
      );
    }
    const [kind, id] = this.#place.split('/');
    if (method === 'GET' && kind === 'group' && pathname === `/api/group/${id}`) {
      return { ...(body as object), last_seq: this.#seq((body as { last_seq: number }).last_seq) };
    }
    return body;
  }

  event(event: unknown): unknown {
    const { conversationId, seq } = event as { conversationId?: string; seq?: number };
    if (conversationId !== this.#conversationId || seq === undefined) return event;
    return { ...(event as object), seq: this.#seq(seq) };
  }

  acknowledged(seq: number, topic: string): number {
    return topic.startsWith(this.#place) ? this.#seq(seq) : seq;
  }

  #seq(seq: number): number {
    return seq > this.#at ? seq + this.#shift : seq;
  }

  async #list(
    pathname: string,
    query: URLSearchParams,
    ask: (url: string) => Promise<unknown>,
  ): Promise<Entry[]> {
    const log: Entry[] = [];
    for (;;) {
      const found = (await ask(`${pathname}?after=${log.at(-1)?.seq ?? 0}&limit=${page}`)) as Entry[];
      if (found.length === 0) break;
      log.push(...found);
    }
    const first = log[0]?.seq ?? 1;
    const shown = this.#edit(log).map((entry, i) => ({ ...entry, seq: first + i }));
    const limit = Number(query.get('limit') ?? page);
    const [after, before] = [query.get('after'), query.get('before')];
    if (after !== null) return shown.filter(({ seq }) => seq > Number(after)).slice(0, limit);
    return shown.filter(({ seq }) => before === null || seq < Number(before)).slice(-limit);
  }
}
