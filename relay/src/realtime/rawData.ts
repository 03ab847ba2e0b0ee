import type { RawData } from 'ws';

/** A WebSocket message as one byte string, whichever form `ws` hands it over in. */
export function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}
