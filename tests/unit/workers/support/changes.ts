import type { BackupEntry, MessageChange, MessageView, StoredBackupEntry } from '#workers/api/cryptoApi.ts';
import { limits } from '#workers/codec/limits.ts';
import { type TestDevice, textOf } from './device.ts';
import { kept } from './ownDevices.ts';

/** Queues a change and brings it into the log. @returns its own message id */
export async function change(
  device: TestDevice,
  conversationId: string,
  what: MessageChange,
): Promise<string> {
  const messageId = await queueChange(device, conversationId, what);
  await device.flush(messageId);
  return messageId;
}

export async function queueChange(
  device: TestDevice,
  conversationId: string,
  what: MessageChange,
): Promise<string> {
  const messageId = device.relay.uuid();
  await device.api.queueChange({
    conversationId,
    messageId,
    change: what,
    sentAt: '2026-03-01T10:00:00.000Z',
  });
  return messageId;
}

export async function reply(
  device: TestDevice,
  conversationId: string,
  text: string,
  inReplyTo: string,
): Promise<string> {
  const messageId = device.relay.uuid();
  await device.api.queueMessage({
    conversationId,
    messageId,
    text,
    inReplyTo,
    sentAt: '2026-03-01T10:00:00.000Z',
  });
  await device.flush(messageId);
  return messageId;
}

/** A message as a line, with what was changed of it. */
export function lineOf(message: MessageView): string {
  const { isEdited, quote, reactions = [], unsentChanges = [] } = message;
  const quoted =
    quote === undefined
      ? ''
      : ` > ${quote.message === null ? 'nothing' : textOf({ ...message, ...quote.message })}`;
  const reacted = reactions
    .map(({ emoji, userIds }) => ` ${emoji}${userIds.map((id) => id[0]).join('')}`)
    .join('');
  const unsent = unsentChanges.map(({ kind, status }) => ` [${kind} ${status}]`).join('');
  return `${textOf(message)}${isEdited ? ' (edited)' : ''}${quoted}${reacted}${unsent}`;
}

export async function linesOf(device: TestDevice, conversationId: string): Promise<string[]> {
  return (await device.history(conversationId)).map(lineOf);
}

/** The message backup of one person at the relay. */
export class MemoryCopies {
  items: StoredBackupEntry[] = [];
  lastPosition = 0;

  put(entries: readonly BackupEntry[], isReplacing = false): { count: number; lastPosition: number } {
    if (isReplacing) this.items = this.items.filter(({ id }) => !entries.some((entry) => entry.id === id));
    const fresh = entries.filter(({ id }) => !this.items.some((item) => item.id === id));
    for (const entry of fresh) this.items.push({ ...entry, position: ++this.lastPosition });
    return { count: fresh.length, lastPosition: this.lastPosition };
  }

  async upload(device: TestDevice): Promise<void> {
    for (const conversationId of await device.api.conversationsToBackUp()) {
      for (;;) {
        const next = await device.api.nextBackupEntries(conversationId);
        if (next === null) break;
        const { copies, replaces, upTo } = next;
        const stored = copies.length === 0 ? null : this.put(copies, replaces !== undefined);
        const replaced = replaces === undefined ? [] : copies.map(({ id }) => id);
        await device.api.backupEntriesStored({ conversationId, upTo, replaced, stored });
      }
    }
  }

  async download(device: TestDevice): Promise<void> {
    for (;;) {
      const { position } = await device.api.backupState();
      const page = this.items
        .filter((item) => item.position > position)
        .slice(0, limits.backupEntriesPerCall);
      if (page.length === 0) return;
      await device.api.readBackup(page, false, position);
    }
  }
}

/** Counts the messages and changes of which this browser keeps what they say. */
export async function payloadsKept(device: TestDevice): Promise<number> {
  const records = (await kept(device, ['messages', 'outbox'])).split('\n').filter((line) => line !== '');
  return records.filter((line) => (JSON.parse(line) as { payload: string | null }).payload !== null).length;
}

/** Numbers from 0 to 1, the same ones for a seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
