/**
 * [Note: one ratchet step at a time]
 *
 * Two tabs of one device share its ratchets, and a key that both used would be used twice. Every ratchet step
 * therefore runs under a Web Lock named after the conversation, which reaches across the tabs of an origin,
 * and inside one IndexedDB transaction, so that a tab which is killed in the middle leaves either the whole
 * step or none of it.
 */

/** The part of `navigator.locks` that the worker uses. */
export interface Locks {
  request<T>(name: string, callback: () => Promise<T>): Promise<T>;
}

export function conversationLock(userId: string, conversationId: string): string {
  return `sinetti:${userId}:${conversationId}`;
}
