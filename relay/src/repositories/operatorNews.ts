import { randomUUID } from 'node:crypto';
import type { Db } from '../db/tables.ts';

/** Leaves news, as JSON, for the relay that comes for it first. */
export async function insertNews(db: Db, news: readonly string[], now: number): Promise<void> {
  const rows = news.map((text, position) => ({ id: randomUUID(), position, news: text, created_at: now }));
  // Each takes four parameters, of which one statement may have so many.
  for (let start = 0; start < rows.length; start += 200) {
    await db
      .insertInto('operator_news')
      .values(rows.slice(start, start + 200))
      .execute();
  }
}

/** Takes all of the news that there are, as JSON in their order. No two relays get the same. */
export async function takeNews(db: Db): Promise<string[]> {
  // Reading alone costs the disk nothing, and there are news on few days.
  const first = await db.selectFrom('operator_news').select('id').limit(1).execute();
  if (first.length === 0) return [];
  const rows = await db.deleteFrom('operator_news').returning(['position', 'news', 'created_at']).execute();
  return rows
    .toSorted((one, other) => one.created_at - other.created_at || one.position - other.position)
    .map(({ news }) => news);
}
