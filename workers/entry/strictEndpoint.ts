import { limits } from '../codec/limits.ts';

/** The part of a worker's scope or of a MessagePort that Comlink speaks through. */
export interface Channel {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject): void;
  start?(): void;
}

/** Arguments are records in lists in records; nothing that the api takes is nested deeper. */
const maxDepth = 8;
/** Bytes of a file that a message brings at most: one piece, sealed. */
const maxBytes = limits.sealedPiece;
/**
 * More values than any message has that the api takes. A list without limit could be all holes, and four thousand million
 * of them; and one that is in many places of a message is copied for each.
 */
const maxValues = 1_000_000;

/**
 * Puts itself between a channel to the page and Comlink, which follows any property path from what it exposes, sets
 * properties, hands out ports and calls back into the page. One kind of message gets through: the application of `call`
 * to a name and a list of plain arguments, and both are built anew. Whatever else has an id is answered `usage`; the rest
 * gets no answer.
 */
export function strictEndpoint(channel: Channel): Channel {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's has one
  const post = (message: unknown) => channel.postMessage(message);
  const filters = new Map<EventListenerOrEventListenerObject, EventListener>();
  return {
    postMessage(message) {
      post(isPlainAnswer(message) ? message : refusal(idOf(message), 'internal'));
    },
    addEventListener(type, listener) {
      const deliver = typeof listener === 'function' ? listener : listener.handleEvent.bind(listener);
      const filter: EventListener = (event) => {
        const { data, ports } = event as MessageEvent<unknown>;
        const call = ports.length === 0 ? readCall(data) : null;
        if (call !== null) return deliver({ data: call } as MessageEvent);
        const id = idOf(data);
        if (id !== null) post(refusal(id, 'usage'));
      };
      filters.set(listener, filter);
      channel.addEventListener(type, filter);
    },
    removeEventListener(type, listener) {
      const filter = filters.get(listener);
      filters.delete(listener);
      if (filter !== undefined) channel.removeEventListener(type, filter);
    },
    start: () => channel.start?.(),
  };
}

/** Comlink's message that applies `call`; null for any other. */
function readCall(data: unknown): object | null {
  if (!isPlainObject(data) || typeof data.id !== 'string' || data.type !== 'APPLY') return null;
  if (!hasOnly(data, ['id', 'type', 'path', 'argumentList'])) return null;
  const { path, argumentList } = data;
  if (!Array.isArray(path) || path.length !== 1 || path[0] !== 'call') return null;
  if (!Array.isArray(argumentList) || argumentList.length !== 2) return null;
  const [method, args] = argumentList.map(rawValue);
  if (typeof method !== 'string' || !Array.isArray(args)) return null;
  try {
    const plain = copyPlain(args, 0, { left: maxValues, bytes: maxBytes });
    return {
      id: data.id,
      type: 'APPLY',
      path: ['call'],
      argumentList: [
        { type: 'RAW', value: method },
        { type: 'RAW', value: plain },
      ],
    };
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

function rawValue(wire: unknown): unknown {
  return isPlainObject(wire) && wire.type === 'RAW' && hasOnly(wire, ['type', 'value'])
    ? wire.value
    : undefined;
}

class NotPlain extends Error {}

/**
 * Copies what JSON could say, `undefined` and one piece of bytes, into lists and objects without a prototype, whose fields nobody can have
 * put a setter in the way of.
 * @throws NotPlain for anything else
 */
function copyPlain(value: unknown, depth: number, values: { left: number; bytes: number }): unknown {
  values.left -= 1;
  if (values.left < 0) throw new NotPlain();
  if (value === null || value === undefined) return value;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (depth === maxDepth) throw new NotPlain();
  // The structured clone made it: nobody else has it, and nobody can have given it a prototype or fields of its own.
  if (value instanceof ArrayBuffer) {
    values.bytes -= value.byteLength;
    if (values.bytes < 0) throw new NotPlain();
    return value;
  }
  if (Array.isArray(value)) {
    if (value.length > values.left) throw new NotPlain();
    return Array.from(value, (item: unknown) => copyPlain(item, depth + 1, values));
  }
  if (!isPlainObject(value)) throw new NotPlain();
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, field] of Object.entries(value)) copy[key] = copyPlain(field, depth + 1, values);
  return copy;
}

/** A structured clone makes no other objects with this prototype than those that were written as `{ … }`. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function hasOnly(value: object, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

/** Returns whether Comlink answers with a value as it is, not with a port to something or an error with its stack. */
function isPlainAnswer(message: unknown): boolean {
  return isPlainObject(message) && message.type === 'RAW';
}

function idOf(message: unknown): string | null {
  return isPlainObject(message) && typeof message.id === 'string' ? message.id : null;
}

/** Comlink's answer to a call that isn't made. */
function refusal(id: string | null, code: 'usage' | 'internal'): object {
  return { id, type: 'RAW', value: { ok: false, code, detail: 'message' } };
}
