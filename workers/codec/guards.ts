/**
 * Strict checks of values from outside: arguments from the page, JSON read back from storage, payloads from a
 * peer. A guard returns the value as its type, copying only the fields it knows, or throws {@link
 * GuardFailure}.
 */
export type Guard<T> = (value: unknown) => T;
export type Guarded<G> = G extends Guard<infer T> ? T : never;

/** The failure of a guard. It names the field that was wrong, never its value. */
export class GuardFailure extends Error {
  override readonly name = 'GuardFailure';
}

/** @param expected the only text that an error shows, so that it never quotes the value */
function refine<T>(expected: string, fits: (value: unknown) => value is T): Guard<T> {
  return (value) => {
    if (!fits(value)) throw new GuardFailure(expected);
    return value;
  };
}

export function string(maxLength: number, pattern?: RegExp): Guard<string> {
  return refine(
    'string',
    (value): value is string =>
      typeof value === 'string' &&
      value.length <= maxLength &&
      (pattern === undefined || pattern.test(value)),
  );
}

/** Accepts a safe integer within both bounds. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Guard<number> {
  return refine(
    'integer',
    (value): value is number =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max,
  );
}

export const boolean: Guard<boolean> = refine('boolean', (value) => typeof value === 'boolean');

export function oneOf<const T extends string | number>(...literals: readonly T[]): Guard<T> {
  return refine(literals.join(' or '), (value): value is T =>
    (literals as readonly unknown[]).includes(value),
  );
}

/** Reads any other text as `other`. */
export function oneOfOr<T extends string>(other: NoInfer<T>, literals: readonly T[]): Guard<T> {
  return (value) => {
    if (typeof value !== 'string') throw new GuardFailure('string');
    return (literals as readonly string[]).includes(value) ? (value as T) : other;
  };
}

export function nullable<T>(guard: Guard<T>): Guard<T | null> {
  return (value) => (value === null ? null : guard(value));
}

/** Fills in a field that records of earlier versions don't have. */
export function withDefault<T>(guard: Guard<T>, absent: T): Guard<T> {
  return (value) => (value === undefined ? absent : guard(value));
}

export function array<T>(guard: Guard<T>, maxLength: number): Guard<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > maxLength) throw new GuardFailure('array');
    return value.map(guard);
  };
}

export function object<S extends Record<string, Guard<unknown>>>(
  shape: S,
): Guard<{ [K in keyof S]: Guarded<S[K]> }> {
  const fields = Object.entries(shape);
  return (value) => {
    if (typeof value !== 'object' || value === null) throw new GuardFailure('object');
    const source = value as Record<string, unknown>;
    // Without a prototype there is no setter of it that a field's name could reach.
    const copy = Object.create(null) as Record<string, unknown>;
    for (const [key, guard] of fields) {
      try {
        copy[key] = guard(source[key]);
      } catch (error) {
        if (error instanceof GuardFailure) throw new GuardFailure(`${key}: ${error.message}`);
        throw error;
      }
    }
    return copy as { [K in keyof S]: Guarded<S[K]> };
  };
}
