import { vi } from 'vitest';
import { partsType } from '#relay/contract/index.ts';
import { writeParts } from '#relay/src/http/parts.ts';
import { routeAt, textOf } from '#relay/test/parts.ts';
import { createApi } from '#src/net/api.ts';
import { createHttp, type HttpOptions } from '#src/net/http.ts';
import { capturedLog } from './capturedLog.ts';
import { FakeClock } from './fakeClock.ts';

export const userId = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const profile = {
  id: userId,
  username: 'anna',
  email: 'anna@example.org',
  full_name: 'Anna',
  created_at: '2026-03-01T12:00:00.000Z',
};
export const authKey = 'A'.repeat(43);

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | null;
  readonly type: string | null;
  readonly proof: string | null;
  readonly credentials: RequestCredentials;
  readonly ifNoneMatch?: string;
  readonly body: unknown;
}

export type Answer = Response | 'unreachable' | 'never';

export function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

/** An answer whose fields of these names are bytes beside its JSON. */
export function withParts(names: readonly string[], body: unknown): Response {
  return new Response(new Uint8Array(writeParts(body, names)), { headers: { 'content-type': partsType } });
}

/** An answer with an entity tag; without a body it says that the one before is still the present one. */
export function tagged(etag: string, body?: unknown): Response {
  if (body === undefined) return new Response(null, { status: 304, headers: { etag } });
  return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json', etag } });
}

export function refusal(status: number, code: string, detail = 'A sentence.', extra: object = {}): Response {
  return json(status, { detail, code, ...extra });
}

/** An API whose requests are answered one after the other from the list given. */
export function setUp(...answers: Answer[]) {
  const seen: Seen[] = [];
  const clock = new FakeClock();
  const { lines, log } = capturedLog();
  const onUnauthenticated = vi.fn<HttpOptions['onUnauthenticated']>();
  let token: string | null = 'header.payload.signature';
  const api = createApi(
    createHttp({
      host: 'https://relay.example',
      token: () => token,
      onUnauthenticated,
      clock,
      log,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const type = request.headers.get('content-type');
        const address = new URL(request.url).pathname.replace('/api', '');
        const parts = routeAt(request.method, address)?.bodyParts;
        const text = textOf(new Uint8Array(await request.clone().arrayBuffer()), type, parts);
        seen.push({
          method: request.method,
          url: request.url,
          authorization: request.headers.get('authorization'),
          type,
          proof: request.headers.get('x-proof'),
          credentials: request.credentials,
          ...(request.headers.has('if-none-match')
            ? { ifNoneMatch: request.headers.get('if-none-match') ?? '' }
            : {}),
          body: text === '' ? undefined : JSON.parse(text),
        });
        const answer = answers.shift();
        if (answer === undefined) throw new Error('an unexpected request');
        if (answer === 'unreachable') throw new TypeError('Failed to fetch');
        if (answer !== 'never') return answer;
        return new Promise((_resolve, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason));
        });
      },
    }),
  );
  return {
    api,
    clock,
    lines,
    onUnauthenticated,
    seen,
    setToken: (value: string | null) => {
      token = value;
    },
  };
}

export function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: unknown) => error,
  );
}
