import type { createPair } from './device.ts';

type Relay = Awaited<ReturnType<typeof createPair>>['relay'];

/** Deletes the content of all entries up to a position, as the relay's retention does. */
export function expire(relay: Relay, id: string, upTo = Number.POSITIVE_INFINITY): void {
  const log = relay.log(id).entries;
  const digests = new Map(relay.digests(id, 0).map(({ digest, seq }) => [seq, digest]));
  for (const [at, entry] of log.entries()) {
    const digest = digests.get(entry.seq);
    if (entry.seq <= upTo && digest !== undefined) log[at] = { ...entry, content: '', digest, expired: true };
  }
}
