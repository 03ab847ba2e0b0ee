import {
  BinaryReader,
  type IExportEntry,
  type IImportEntry,
  type IOperatorInformation,
  type IStartEntry,
} from 'wasmparser';

/** Ids of sections (WebAssembly Core Specification 2.0, 5.5.2). */
const section = { export: 7, code: 10 } as const;
/** The kind of what is imported or exported (5.5.5). */
const functionKind = 0;
/** States of the reader, whose names its types alone have. */
const state = {
  end: 2,
  import: 12,
  export: 17,
  start: 22,
  initOperator: 26,
  beginFunction: 28,
  operator: 30,
  endFunction: 31,
  offsetOperator: 45,
} as const;
/** A function without locals that traps, as the code section holds it: its size, no locals, `unreachable`, `end`. */
const trap = Uint8Array.of(3, 0, 0x00, 0x0b);
const headerLength = 8;

/**
 * Returns a WebAssembly module with no exports but these, in which each function that neither they nor a table can reach is
 * one that traps. Nothing is numbered anew or written otherwise: what is left has the bytes that were published.
 * @param keeps says of each export by its name whether it stays
 * @throws Error if the module can't be read
 */
export function withExportsAlone(module: Uint8Array, keeps: (name: string) => boolean): Uint8Array {
  const { exports, imported, roots, callsOf } = referencesIn(module);
  const kept = exports.filter(({ name }) => keeps(name));
  const reached = new Set<number>();
  const left = [...roots, ...kept.filter(({ isFunction }) => isFunction).map(({ index }) => index)];
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    left.push(...(callsOf.get(index) ?? []));
  }
  const parts: Uint8Array[] = [module.subarray(0, headerLength)];
  for (let at = headerLength; at < module.length; ) {
    const id = module[at] ?? 0;
    const [length, from] = readLength(module, at + 1);
    const content = module.subarray(from, from + length);
    let written = content;
    if (id === section.export) written = vectorOf(kept.map(({ bytes }) => bytes));
    if (id === section.code)
      written = vectorOf(
        bodiesOf(content).map((body, index) => (reached.has(imported + index) ? body : trap)),
      );
    parts.push(
      Uint8Array.of(id),
      written === content ? module.subarray(at + 1, from) : lengthOf(written),
      written,
    );
    at = from + length;
  }
  return Uint8Array.from(Buffer.concat(parts));
}

interface Exported {
  readonly name: string;
  readonly index: number;
  readonly isFunction: boolean;
  /** As the section holds it. */
  readonly bytes: Uint8Array;
}

interface References {
  readonly exports: readonly Exported[];
  /** The number of functions that are imported: the first indices are theirs. */
  readonly imported: number;
  /** Indices of functions that a table, a global or the start names. */
  readonly roots: ReadonlySet<number>;
  /** Indices of functions that each function names. */
  readonly callsOf: ReadonlyMap<number, ReadonlySet<number>>;
}

function referencesIn(module: Uint8Array): References {
  const reader = new BinaryReader();
  reader.setData(Uint8Array.from(module).buffer, 0, module.length);
  const exports: Exported[] = [];
  const roots = new Set<number>();
  const callsOf = new Map<number, Set<number>>();
  let imported = 0;
  let named = roots;
  let isRead = false;
  // It goes on reading after an error.
  while (reader.read() && !reader.error) {
    const { result } = reader;
    const reached: number = reader.state;
    switch (reached) {
      case state.end:
        isRead = true;
        break;
      case state.import: {
        const kind: number = (result as IImportEntry).kind;
        if (kind === functionKind) imported += 1;
        break;
      }
      case state.start:
        roots.add((result as IStartEntry).index);
        break;
      case state.export: {
        const { field, index } = result as IExportEntry;
        const kind: number = (result as IExportEntry).kind;
        const bytes = Buffer.concat([lengthOf(field), field, Uint8Array.of(kind), lengthBytes(index)]);
        const isFunction = kind === functionKind;
        exports.push({ name: Buffer.from(field).toString(), index, isFunction, bytes });
        break;
      }
      case state.beginFunction:
        named = new Set();
        callsOf.set(imported + callsOf.size, named);
        break;
      case state.endFunction:
        named = roots;
        break;
      case state.operator:
      case state.initOperator:
      case state.offsetOperator: {
        const { funcIndex } = result as IOperatorInformation;
        if (funcIndex !== undefined) named.add(funcIndex);
        break;
      }
    }
  }
  if (!isRead) throw new Error('The WebAssembly can’t be read.', { cause: reader.error });
  return { exports, imported, roots, callsOf };
}

/** Returns the functions of a code section, each with its length before it. */
function bodiesOf(content: Uint8Array): Uint8Array[] {
  const bodies: Uint8Array[] = [];
  let [, at] = readLength(content, 0);
  while (at < content.length) {
    const [length, from] = readLength(content, at);
    bodies.push(content.subarray(at, from + length));
    at = from + length;
  }
  return bodies;
}

function vectorOf(items: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([lengthBytes(items.length), ...items]);
}

function lengthOf(bytes: Uint8Array): Uint8Array {
  return lengthBytes(bytes.length);
}

/** Returns an unsigned number in LEB128 (5.2.2). */
function lengthBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return Uint8Array.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

/** Returns the unsigned number in LEB128 that stands there, and where what follows begins. */
function readLength(bytes: Uint8Array, start: number): [value: number, next: number] {
  let value = 0;
  for (let at = start; ; at += 1) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 0x7f) << (7 * (at - start));
    if (byte < 0x80) return [value >>> 0, at + 1];
  }
}
