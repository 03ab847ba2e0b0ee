import type { LogEntryInput } from '#workers/api/cryptoApi.ts';
import type { WorldRelay } from './relay.ts';

/** The relay's log of a conversation: the one that everybody should have been given. */
export interface LogOfRelay {
  readonly id: string;
  readonly epoch: number;
  readonly lastSeq: number;
  readonly userIds: readonly string[];
  readonly entries: readonly LogEntryInput[];
}

export async function logsOfRelay({ relay }: WorldRelay): Promise<LogOfRelay[]> {
  const { db } = relay.database;
  const conversations = await db.selectFrom('conversations').selectAll().orderBy('id').execute();
  const participants = await db.selectFrom('participants').selectAll().orderBy('user_id').execute();
  const logs: LogOfRelay[] = [];
  for (const { epoch, id, last_seq: lastSeq } of conversations) {
    const rows = await db
      .selectFrom('entries')
      .selectAll()
      .where('conversation_id', '=', id)
      .orderBy('seq')
      .execute();
    logs.push({
      id,
      epoch,
      lastSeq,
      userIds: participants.filter((one) => one.conversation_id === id).map(({ user_id }) => user_id),
      entries: rows.map((row) => ({
        id: row.id,
        seq: row.seq,
        epoch: row.epoch,
        kind: row.kind,
        sender_id: row.sender_id,
        sender_device_id: row.sender_device_id,
        content: Buffer.from(row.content).toString('base64url'),
        timestamp: new Date(row.created_at).toISOString(),
      })),
    });
  }
  return logs;
}
