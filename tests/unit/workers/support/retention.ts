import type { ConversationState, LogEntryInput } from '#workers/api/cryptoApi.ts';
import { type TestDevice, textOf } from './device.ts';
import type { MemoryRelay } from './relay.ts';

/** Deletes the content of all entries up to a position, as the relay's retention does, or of those from another one on. */
export function expire(relay: MemoryRelay, id: string, upTo = Number.POSITIVE_INFINITY, from = 1): void {
  const log = relay.log(id).entries;
  const digests = new Map(relay.digests(id, 0).map(({ digest, seq }) => [seq, digest]));
  for (const [at, entry] of log.entries()) {
    const digest = digests.get(entry.seq);
    if (entry.seq >= from && entry.seq <= upTo && digest !== undefined)
      log[at] = { ...entry, content: '', digest, expired: true };
  }
}

/**
 * Deletes what is old, as a relay does whose days of retention are over: up to a position drawn from those before the first commit that
 * a device has not processed. A message that somebody has not read yet may be among it.
 * @param devices all that take part
 * @returns whether there was something
 */
export async function expireOld(
  relay: MemoryRelay,
  id: string,
  devices: readonly Pick<TestDevice, 'api'>[],
  below: (limit: number) => number,
): Promise<boolean> {
  const states = await Promise.all(devices.map(({ api }) => api.conversation(id)));
  if (states.some(({ status }) => status !== 'joined')) return false;
  const processed = Math.min(...states.map(({ lastSeq }) => lastSeq));
  const { entries } = relay.log(id);
  const firstUnread = entries.find(({ kind, seq }) => kind === 'commit' && seq > processed);
  const last = firstUnread === undefined ? entries.length : firstUnread.seq - 1;
  if (last === 0) return false;
  const upTo = 1 + below(last);
  const isAny = entries.some(
    ({ content, kind, seq }) => kind === 'application' && seq <= upTo && content !== '',
  );
  expire(relay, id, upTo);
  return isAny;
}

/**
 * Compares the messages that a device shows with the log: each that came after it had joined, once and in order, but for those that were
 * deleted before it read them, which the chat counts.
 * @param written the texts by message id
 */
export async function faultsInHistory(
  device: TestDevice,
  id: string,
  entries: readonly LogEntryInput[],
  { joinedSeq }: ConversationState,
  written: ReadonlyMap<string, string>,
): Promise<string[]> {
  const wrong: string[] = [];
  const expected = entries.filter(({ kind, seq }) => kind === 'application' && seq > joinedSeq);
  const gone = new Set(expected.flatMap((entry) => (entry.content === '' ? [entry.id] : [])));
  const shown = await device.history(id);
  const isShown = new Set(shown.map(({ messageId }) => messageId));
  const missed = expected.filter((entry) => !isShown.has(entry.id));
  const present = expected.filter((entry) => isShown.has(entry.id));
  if (shown.map(({ messageId }) => messageId).join() !== present.map((entry) => entry.id).join())
    wrong.push('shows messages twice, or out of order');
  let counted = 0;
  for (const { change } of await device.api.events(id))
    if (change.kind === 'expired') counted += change.count;
  if (missed.length !== counted || missed.some((entry) => !gone.has(entry.id)))
    wrong.push(`shows ${shown.length} of ${expected.length}, and counts ${counted} as deleted`);
  for (const message of shown) {
    const text = textOf(message);
    if (text !== written.get(message.messageId) && !(gone.has(message.messageId) && text === '(deleted)'))
      wrong.push(`shows ${text} at ${message.seq}`);
  }
  return wrong;
}
