import * as z from 'zod/mini';
import { Hub, Signal } from './hub.ts';

/** Something that the operator's command has changed, which running relays tell sockets of. */
const News = z.union([z.object({ signal: Signal }), z.object({ topic: z.string(), payload: z.string() })]);
type News = z.infer<typeof News>;

/** Takes down what use cases tell, in a process that no socket is connected to. */
export class OperatorHub extends Hub {
  readonly #news: News[] = [];

  constructor() {
    super(() => {});
  }

  /** The news so far, as JSON. */
  get news(): string[] {
    return this.#news.map((news) => JSON.stringify(news));
  }

  override publish(topic: string, payload: string): void {
    this.#news.push({ topic, payload });
  }

  override signal(signal: Signal): void {
    this.#news.push({ signal });
  }
}

/** Tells news of the operator's command as if this relay had done it. @throws if they are of another version */
export function tellNews(hub: Hub, text: string): void {
  const news = News.parse(JSON.parse(text));
  if ('signal' in news) hub.signal(news.signal);
  else hub.publish(news.topic, news.payload);
}
