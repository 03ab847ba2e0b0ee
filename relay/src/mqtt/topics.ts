import { ReasonCode } from './reasonCodes.ts';

/** A topic that exists here, taken apart. */
export type Topic =
  | { readonly kind: 'messages'; readonly userId: string }
  | { readonly kind: 'status'; readonly userId: string }
  | { readonly kind: 'group'; readonly groupId: string }
  | { readonly kind: 'typing'; readonly userId: string }
  | { readonly kind: 'group-typing'; readonly groupId: string }
  | { readonly kind: 'ping' };

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const userTopic = new RegExp(`^user/(${uuid})/(messages|status|typing)$`);
const groupTopic = new RegExp(`^group/(${uuid})/(messages|typing)$`);

/** @returns null for a topic that doesn't exist */
export function parseTopic(name: string): Topic | null {
  if (name === 'ping') return { kind: 'ping' };
  const [, groupId, what] = groupTopic.exec(name) ?? [];
  if (groupId !== undefined) return { kind: what === 'typing' ? 'group-typing' : 'group', groupId };
  const [, userId, kind] = userTopic.exec(name) ?? [];
  if (userId === undefined) return null;
  return kind === 'messages' || kind === 'typing' ? { kind, userId } : { kind: 'status', userId };
}

/**
 * Checks that a topic filter is one that this gateway could ever grant (MQTT 5 sections 4.7 and 4.8).
 * @returns the SUBACK reason code that refuses it, or null
 */
export function filterProblem(filter: string): ReasonCode | null {
  if (filter.startsWith('$share/')) return ReasonCode.SharedSubscriptionsNotSupported;
  if (filter === '') return ReasonCode.TopicFilterInvalid;
  if (!/[+#]/.test(filter)) return null;
  const levels = filter.split('/');
  const isValid = levels.every(
    (level, index) => level === '+' || (level === '#' && index === levels.length - 1) || !/[+#]/.test(level),
  );
  return isValid ? ReasonCode.WildcardSubscriptionsNotSupported : ReasonCode.TopicFilterInvalid;
}
