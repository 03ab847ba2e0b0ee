import type { AppendOutcome, AppendRefused, NewEntry } from './append.ts';

// Structured cloning writes the name of each property of each object, and reading the names costs several times what
// the values do. What crosses with every message therefore crosses as one list of values.

type EntryValue = NewEntry[keyof NewEntry];

/** A batch of entries as one flat list of values. */
export type PackedEntries = readonly EntryValue[];

const valuesOfEntry = 8;

export function packEntries(batch: readonly NewEntry[]): PackedEntries {
  const packed: EntryValue[] = [];
  for (const entry of batch) {
    packed.push(
      entry.conversationId,
      entry.recipientId,
      entry.messageId,
      entry.epoch,
      entry.content,
      entry.senderId,
      entry.sessionId,
      entry.start,
    );
  }
  return packed;
}

export function unpackEntries(packed: PackedEntries): NewEntry[] {
  const batch: NewEntry[] = [];
  for (let at = 0; at < packed.length; at += valuesOfEntry) {
    batch.push({
      conversationId: packed[at] as string,
      recipientId: packed[at + 1] as string | null,
      messageId: packed[at + 2] as string,
      epoch: packed[at + 3] as number,
      content: packed[at + 4] as string,
      senderId: packed[at + 5] as string,
      sessionId: packed[at + 6] as string,
      start: packed[at + 7] as string | null,
    });
  }
  return batch;
}

/** The outcomes of a batch as one flat list of values. A refusal, which is rare, is one value. */
export type PackedOutcomes = readonly (AppendRefused | string | number | null | readonly string[])[];

const valuesOfAppended = 5;

export function packOutcomes(outcomes: readonly AppendOutcome[]): PackedOutcomes {
  const packed: PackedOutcomes[number][] = [];
  for (const outcome of outcomes) {
    if (outcome.type === 'refused') {
      packed.push(outcome);
      continue;
    }
    const { seq, epoch, createdAt, delivery } = outcome;
    // Outcomes of one conversation share one array of user ids, and cloning sends a shared array once.
    packed.push(seq, epoch, createdAt, delivery?.senderDeviceId ?? null, delivery?.userIds ?? null);
  }
  return packed;
}

export function unpackOutcomes(packed: PackedOutcomes): AppendOutcome[] {
  const outcomes: AppendOutcome[] = [];
  for (let at = 0; at < packed.length; ) {
    const seq = packed[at];
    if (typeof seq !== 'number') {
      outcomes.push(seq as AppendRefused);
      at += 1;
      continue;
    }
    const senderDeviceId = packed[at + 3] as string | null;
    outcomes.push({
      type: 'appended',
      seq,
      epoch: packed[at + 1] as number,
      createdAt: packed[at + 2] as number,
      delivery:
        senderDeviceId === null ? null : { senderDeviceId, userIds: packed[at + 4] as readonly string[] },
    });
    at += valuesOfAppended;
  }
  return outcomes;
}
