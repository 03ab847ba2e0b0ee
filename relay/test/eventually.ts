import { vi } from 'vitest';

/** Waits until an expectation holds: long enough for a busy machine, and no longer than it takes. */
export function eventually<T>(expectation: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(expectation, { timeout: 120_000, interval: 20 });
}
