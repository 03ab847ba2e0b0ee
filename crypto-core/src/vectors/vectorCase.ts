import { toHex } from '../bytes.ts';
import { CryptoError } from '../errors.ts';

/** The fields of a published case, each read as what its format says it is. */
export class VectorCase {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @throws CryptoError 'malformed' for anything but an object */
  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null) throw new CryptoError('malformed', 'a case');
    this.#fields = value as Readonly<Record<string, unknown>>;
  }

  /** @throws CryptoError 'malformed' where the field is no text */
  text(name: string): string {
    const value = this.#fields[name];
    if (typeof value !== 'string') throw new CryptoError('malformed', name);
    return value;
  }

  /** @throws CryptoError 'malformed' where the field isn't hexadecimal */
  bytes(name: string): Uint8Array {
    return fromHex(this.#fields[name], name);
  }

  /** @throws CryptoError 'malformed' where the field is no list of hexadecimal texts */
  bytesOf(name: string): Uint8Array[] {
    return this.list(name).map((value) => fromHex(value, name));
  }

  /** @throws CryptoError 'malformed' where the field is no whole number from 0 */
  number(name: string): number {
    const value = this.#fields[name];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
      throw new CryptoError('malformed', name);
    return value;
  }

  /** @throws CryptoError 'malformed' where the field is no list */
  list(name: string): readonly unknown[] {
    const value = this.#fields[name];
    if (!Array.isArray(value)) throw new CryptoError('malformed', name);
    return value;
  }

  /** @throws CryptoError 'malformed' where the field is no list of objects */
  cases(name: string): VectorCase[] {
    return this.list(name).map((value) => new VectorCase(value));
  }

  /** @throws CryptoError 'malformed' where the field is no list of lists of objects */
  rows(name: string): VectorCase[][] {
    return this.list(name).map((row) => {
      if (!Array.isArray(row)) throw new CryptoError('malformed', name);
      return row.map((value) => new VectorCase(value));
    });
  }

  /** @throws CryptoError 'malformed' where the field is no object */
  case(name: string): VectorCase {
    return new VectorCase(this.#fields[name]);
  }

  /** Returns whether the case has the field, and not as null. */
  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }
}

function fromHex(value: unknown, name: string): Uint8Array {
  if (typeof value !== 'string' || !/^(?:[0-9a-f]{2})*$/i.test(value))
    throw new CryptoError('malformed', name);
  return Uint8Array.from(value.match(/../g) ?? [], (octet) => Number.parseInt(octet, 16));
}

/** Something came out otherwise than it was published. */
export class Differs extends Error {
  override readonly name = 'Differs';
}

/** Compares bytes with a field of the case. @throws Differs */
export function same(bytes: Uint8Array, vector: VectorCase, field: string): void {
  holds(toHex(bytes) === vector.text(field).toLowerCase(), field);
}

/** @throws Differs naming the field */
export function holds(condition: boolean, field: string): asserts condition {
  if (!condition) throw new Differs(field);
}

/** Expects a refusal with this code. @throws Differs where the call is answered, or refused otherwise */
export function refused(code: CryptoError['code'], call: () => unknown): void {
  try {
    call();
  } catch (error) {
    if (error instanceof CryptoError && error.code === code) return;
    throw error;
  }
  throw new Differs('refusal');
}
