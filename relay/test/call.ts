import { bytesType, type ErrorBody } from '../contract/index.ts';
import { routeAt, sent, textOf } from './parts.ts';

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Calls below /api. `body` is sent as its call takes it; a string, and bytes, as they are. Bytes are answered as a Buffer. */
export async function call<T = ErrorBody>(
  relay: { readonly url: string },
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer<T>> {
  const { token } = options;
  const content = options.body === undefined ? undefined : sent(method, path, options.body);
  const response = await fetch(`${relay.url}/api${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(content === undefined ? {} : { 'content-type': content.type }),
      ...options.headers,
    },
    ...(content === undefined ? {} : { body: content.body }),
  });
  const { headers, status } = response;
  const type = headers.get('content-type');
  const bytes = Buffer.from(await response.arrayBuffer());
  if (type === bytesType) return { status, headers, body: bytes as T };
  const text = textOf(bytes, type, routeAt(method, path)?.responseParts);
  return { status, headers, body: (text === '' ? undefined : JSON.parse(text)) as T };
}
