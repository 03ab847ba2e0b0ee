/** The objects of the language that a program reaches by name: ECMA-262, section 19, whose functions and namespaces they are. */
const names = [
  'AggregateError',
  'Array',
  'ArrayBuffer',
  'Atomics',
  'BigInt',
  'BigInt64Array',
  'BigUint64Array',
  'Boolean',
  'DataView',
  'Date',
  'Error',
  'EvalError',
  'FinalizationRegistry',
  'Float32Array',
  'Float64Array',
  'Function',
  'Int16Array',
  'Int32Array',
  'Int8Array',
  'Intl',
  'Iterator',
  'JSON',
  'Map',
  'Math',
  'Number',
  'Object',
  'Promise',
  'Proxy',
  'RangeError',
  'ReferenceError',
  'Reflect',
  'RegExp',
  'Set',
  'SharedArrayBuffer',
  'String',
  'Symbol',
  'SyntaxError',
  'TypeError',
  'URIError',
  'Uint16Array',
  'Uint32Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'WeakMap',
  'WeakRef',
  'WeakSet',
  'WebAssembly',
];

/** Objects of the language that have no name: the prototypes of iterators and of functions that pause. */
const nameless = (): object[] => [
  function* () {},
  async () => {},
  async function* () {},
  [][Symbol.iterator](),
  ''[Symbol.iterator](),
  new Map()[Symbol.iterator](),
  new Set()[Symbol.iterator](),
  ''.matchAll(/x/g),
];

/**
 * Freezes what every program of this thread is made of, so that no message that reaches it can change what a method
 * means or put a setter in the way of a field. Run it once, when all modules are loaded and before anything is received.
 */
export function freezeIntrinsics(): void {
  const globals = globalThis as unknown as Record<string, unknown>;
  const seen = new Set<unknown>();
  const waiting: unknown[] = [
    ...names.map((name) => globals[name]),
    ...nameless().map(Object.getPrototypeOf),
  ];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      continue;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      // A descriptor holds what the property holds, or its getter and setter.
      waiting.push(...Object.values(Object.getOwnPropertyDescriptor(value, key) ?? {}));
    }
    waiting.push(Object.getPrototypeOf(value));
    Object.freeze(value);
  }
}
