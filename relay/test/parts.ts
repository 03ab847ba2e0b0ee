import {
  bytesType,
  jsonType,
  mediaTypeOf,
  type PartNames,
  partsType,
  type Route,
} from '../contract/index.ts';
import { servedRoutes as routes } from '../contract/served.ts';
import { readParts, writeParts } from '../src/http/parts.ts';

/** Finds the call of the contract at an address below /api. */
export function routeAt(method: string, address: string): Route | undefined {
  const [pathname = ''] = address.split('?');
  return Object.values(routes).find(
    (route: Route) => route.method === method && route.paths.some((path) => patternOf(path).test(pathname)),
  );
}

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

/** A body in the media type that its call takes: a text and bytes as they are. */
export function sent(
  method: string,
  address: string,
  body: unknown,
): { type: string; body: string | Uint8Array<ArrayBuffer> } {
  if (body instanceof Uint8Array) return { type: bytesType, body: body as Uint8Array<ArrayBuffer> };
  const route = routeAt(method, address);
  const type = mediaTypeOf(route?.body, route?.bodyParts);
  if (typeof body === 'string') return { type, body };
  if (route?.bodyParts === undefined) return { type: jsonType, body: JSON.stringify(body) };
  return { type, body: new Uint8Array(writeParts(body, route.bodyParts)) };
}

/** The bytes or the text of an answer. */
export function answered(method: string, address: string, answer: unknown): string | Uint8Array<ArrayBuffer> {
  const parts = routeAt(method, address.replace(/^\/api/, ''))?.responseParts;
  return parts === undefined ? JSON.stringify(answer) : new Uint8Array(writeParts(answer, parts));
}

/** The JSON of a body or an answer that has parts, with base64url in their places; any other one as text. */
export function textOf(bytes: Uint8Array, type: string | null, parts: PartNames | undefined): string {
  const buffer = Buffer.from(bytes);
  return type === partsType && parts !== undefined
    ? JSON.stringify(readParts(buffer, parts))
    : buffer.toString();
}
