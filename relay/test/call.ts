import type { ErrorBody } from '../contract/index.ts';

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Calls below /api. `body` is sent as JSON; a string, and bytes, as they are. Bytes are answered as a Buffer. */
export async function call<T = ErrorBody>(
  relay: { readonly url: string },
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer<T>> {
  const { token, body } = options;
  const response = await fetch(`${relay.url}/api${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined
        ? {}
        : { 'content-type': isBytes(body) ? 'application/octet-stream' : 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined
      ? {}
      : { body: typeof body === 'string' || isBytes(body) ? body : JSON.stringify(body) }),
  });
  const { headers, status } = response;
  if (headers.get('content-type') === 'application/octet-stream') {
    return { status, headers, body: Buffer.from(await response.arrayBuffer()) as T };
  }
  const text = await response.text();
  return { status, headers, body: (text === '' ? undefined : JSON.parse(text)) as T };
}

function isBytes(body: unknown): body is Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array;
}
