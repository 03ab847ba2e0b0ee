import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { blobHeaders, tusVersion, uploadType } from '../../contract/blobs.ts';
import type { ErrorBody } from '../../contract/index.ts';
import type { TestRelay } from '../helpers.ts';

/** Somebody who calls. */
export interface Caller {
  readonly token: string;
}

const tus = { [blobHeaders.resumable]: tusVersion };

/** Calls as a client of files does: headers and bytes, not JSON. */
export async function callBlobs(
  relay: Pick<TestRelay, 'url'>,
  caller: Caller | null,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: Uint8Array } = {},
): Promise<Response> {
  return fetch(`${relay.url}/api${path}`, {
    method,
    headers: { ...(caller === null ? {} : { authorization: `Bearer ${caller.token}` }), ...headers },
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  });
}

/** The status of a refusal and its code, once the body is known to be the contract's. */
export async function refusalOf(response: Response): Promise<[number, string]> {
  const { code, detail } = (await response.json()) as ErrorBody;
  if (typeof detail !== 'string') throw new Error('a refusal without a sentence');
  return [response.status, code];
}

export const create = (
  relay: Pick<TestRelay, 'url'>,
  caller: Caller,
  length: number | string,
  options: { headers?: Record<string, string>; body?: Uint8Array } = {},
) =>
  callBlobs(relay, caller, 'POST', '/blobs', {
    headers: {
      ...tus,
      [blobHeaders.length]: String(length),
      ...(options.body === undefined ? {} : { 'content-type': uploadType }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: options.body }),
  });

/** Creates an upload. @returns its id */
export async function created(
  relay: Pick<TestRelay, 'url'>,
  caller: Caller,
  length: number,
): Promise<string> {
  const response = await create(relay, caller, length);
  if (response.status !== 201) throw new Error(`creating an upload answered ${response.status}`);
  return response.headers.get('location')?.replace('/api/blobs/', '') ?? '';
}

export const patch = (
  relay: Pick<TestRelay, 'url'>,
  caller: Caller,
  id: string,
  offset: number | string,
  body: Uint8Array,
) =>
  callBlobs(relay, caller, 'PATCH', `/blobs/${id}`, {
    headers: { ...tus, [blobHeaders.offset]: String(offset), 'content-type': uploadType },
    body,
  });

export const look = (relay: Pick<TestRelay, 'url'>, caller: Caller, id: string) =>
  callBlobs(relay, caller, 'HEAD', `/blobs/${id}`, { headers: tus });

/** How far an upload is. */
export const offsetOf = async (relay: Pick<TestRelay, 'url'>, caller: Caller, id: string) =>
  Number((await look(relay, caller, id)).headers.get(blobHeaders.offset));

export const read = (
  relay: Pick<TestRelay, 'url'>,
  caller: Caller | null,
  id: string,
  headers: Record<string, string> = {},
) => callBlobs(relay, caller, 'GET', `/blobs/${id}`, { headers });

export const remove = (relay: Pick<TestRelay, 'url'>, caller: Caller | null, id: string) =>
  callBlobs(relay, caller, 'DELETE', `/blobs/${id}`, { headers: tus });

export const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

/** A whole file of these bytes, or of that many. @returns its id */
export async function uploaded(
  relay: Pick<TestRelay, 'url'>,
  caller: Caller,
  content: Buffer | number,
): Promise<string> {
  const bytes = typeof content === 'number' ? randomBytes(content) : content;
  const id = await created(relay, caller, bytes.length);
  const { status } = await patch(relay, caller, id, 0, bytes);
  if (status !== 204) throw new Error(`an upload answered ${status}`);
  return id;
}

/** Begins a PATCH that announces more than it sends, and leaves its connection open. */
export function beginPatch(
  relay: Pick<TestRelay, 'url'>,
  { token }: Caller,
  id: string,
  { offset, announced, body }: { offset: number; announced: number; body: Uint8Array },
): Socket {
  const socket = connect({ port: Number(new URL(relay.url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  const head = [
    `PATCH /api/blobs/${id} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${token}`,
    `${blobHeaders.resumable}: ${tusVersion}`,
    `${blobHeaders.offset}: ${offset}`,
    `content-type: ${uploadType}`,
    `content-length: ${announced}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return socket;
}
