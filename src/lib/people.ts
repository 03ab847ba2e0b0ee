/** Marks that draw nothing themselves but can turn or hide what stands beside them. */
const invisibleMarks = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/gu;

/** A name without marks that could make it pass for another; empty when nothing of it would be seen. */
export function visibleName(name: string): string {
  return name.replace(invisibleMarks, '').trim();
}
