/** Data of application components (draft-ietf-mls-extensions-10, sections 4 and 5). */
import type { Reader } from '../codec/reader.ts';
import type { Writer } from '../codec/writer.ts';
import { CryptoError } from '../errors.ts';

/** Components that the draft itself defines. 0x8000 and above are for private use. */
export const ComponentId = {
  appComponents: 0x0001,
  safeAad: 0x0002,
  lastResortKeyPackage: 0x0004,
} as const;

/** The data of one component: an entry of an AppDataDictionary, or an item of a SafeAAD. */
export interface ComponentData {
  /** u16, given out by the application. */
  readonly componentId: number;
  readonly data: Uint8Array;
}

function readComponentData(r: Reader): ComponentData {
  return { componentId: r.u16(), data: r.opaque() };
}

function writeComponentData(w: Writer, { componentId, data }: ComponentData): void {
  w.u16(componentId);
  w.opaque(data);
}

/**
 * Reads a list in which each component has one entry, by ascending number: AppDataDictionary, SafeAAD.
 * COMP-01 (section 4.6): the entries ascend, so that none occurs twice.
 * @throws CryptoError 'malformed'
 */
export function readComponents(r: Reader): readonly ComponentData[] {
  const entries = r.vector('components', readComponentData);
  for (const [at, { componentId }] of entries.entries()) {
    if (componentId <= (entries[at - 1]?.componentId ?? -1)) {
      throw new CryptoError('malformed', `COMP-01: component ${componentId} is out of order`);
    }
  }
  return entries;
}

export function writeComponents(w: Writer, entries: readonly ComponentData[]): void {
  w.vector(entries, writeComponentData);
}
