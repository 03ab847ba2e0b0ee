/** The payloads of what own devices tell each other, by their type. */
import { type Guard, GuardFailure, object, string } from '../codec/guards.ts';
import { parseJson } from '../codec/json.ts';

const Typed = object({ type: string(64) });

/** Returns what a payload holds; null for one that breaks its rules. */
export function parsePayload<T>(guard: Guard<T>, payload: string): T | null {
  try {
    return parseJson(payload, guard);
  } catch (error) {
    if (error instanceof GuardFailure) return null;
    throw error;
  }
}

export function typeOf(payload: string): string | null {
  return parsePayload(Typed, payload)?.type ?? null;
}
