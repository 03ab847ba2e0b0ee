/** The sole source of nondeterminism. With the same Env, the same calls give the same bytes. */
export interface Env {
  /** `length` bytes from a cryptographically secure generator, in an array that nothing else refers to. */
  random(length: number): Uint8Array;
  /** Milliseconds since the Unix epoch. */
  now(): number;
}
