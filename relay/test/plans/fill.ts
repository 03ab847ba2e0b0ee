import Database from 'libsql';
import { Client } from 'pg';

/** A spread of messages over conversations: a tenth of them in one, the others evenly. */
export interface Population {
  readonly messages: number;
  readonly conversations: number;
  readonly perConversation: number;
  readonly inLargest: number;
}

export function populationOf(messages: number): Population {
  const inLargest = Math.round(messages / 10);
  const conversations = 5000;
  return {
    messages,
    conversations,
    inLargest,
    perConversation: Math.round((messages - inLargest) / conversations),
  };
}

export const largest = 'direct:largest';
export const conversationName = (index: number) => `direct:${String(index).padStart(8, '0')}`;
export const userName = (index: number) => `user-${String(index).padStart(8, '0')}`;

const contentBytes = 208;
/** Rows of one statement. */
const chunk = 500_000;

/** The same in both dialects: who is in which conversation, ten conversations each. */
const users = (conversations: number) => Math.ceil(conversations / 5);

/** Fills the relay's tables without what would only take time: the disk is not waited for, references not checked. */
export async function fillPostgres(url: string, population: Population): Promise<void> {
  const client = new Client(url);
  await client.connect();
  const run = (text: string, values: unknown[] = []) => client.query(text, values);
  const { conversations, perConversation, inLargest } = population;
  try {
    await run(
      'set session_replication_role = replica; set synchronous_commit = off; set statement_timeout = 0',
    );
    await run(
      `insert into conversations (id, epoch, last_seq, group_info, created_at)
       select 'direct:' || lpad(i::text, 8, '0'), 1, $2::bigint, ''::bytea, 0 from generate_series(0, $1::int - 1) i
       union all select '${largest}', 1, $3::bigint, ''::bytea, 0`,
      [conversations, perConversation, inLargest],
    );
    await run(
      `insert into participants (conversation_id, user_id, read_seq)
       select 'direct:' || lpad(i::text, 8, '0'), 'user-' || lpad(((i * side) % $2::int)::text, 8, '0') || side, 0
       from generate_series(0, $1::int - 1) i, generate_series(1, 2) side`,
      [conversations, users(conversations)],
    );
    const entries = `insert into entries (conversation_id, seq, id, kind, epoch, sender_id, sender_device_id, content, created_at)
      select $1::text || case when $1 = '${largest}' then '' else lpad((i / $2::bigint)::text, 8, '0') end,
        1 + i % $2::bigint, gen_random_uuid()::text, 'application', 1, gen_random_uuid()::text, gen_random_uuid()::text,
        decode(repeat(md5(i::text), ${contentBytes / 16}), 'hex'), i
      from generate_series($3::bigint, $4::bigint - 1) i`;
    for (const [name, each, total] of [
      ['direct:', perConversation, perConversation * conversations],
      [largest, inLargest, inLargest],
    ] as const) {
      for (let start = 0; start < total; start += chunk) {
        await run(entries, [name, each, start, Math.min(start + chunk, total)]);
      }
    }
    await run('vacuum (analyze) entries');
    await run('analyze');
  } finally {
    await client.end();
  }
}

/** Does the same as fillPostgres, to a file that the relay has made. */
export function fillSqlite(file: string, population: Population): void {
  const database = new Database(file);
  const { conversations, perConversation, inLargest } = population;
  const series = 'with recursive series(i) as (select ? union all select i + 1 from series where i + 1 < ?)';
  try {
    for (const setting of ['foreign_keys = OFF', 'synchronous = OFF', 'cache_size = -2000000']) {
      database.pragma(setting);
    }
    const run = (text: string, ...values: (string | number)[]) => database.prepare(text).run(values);
    run(
      `${series} insert into conversations (id, epoch, last_seq, group_info, created_at)
       select printf('direct:%08d', i), 1, ?, x'', 0 from series union all select '${largest}', 1, ?, x'', 0`,
      0,
      conversations,
      perConversation,
      inLargest,
    );
    run(
      `${series} insert into participants (conversation_id, user_id, read_seq)
       select printf('direct:%08d', i), printf('user-%08d%d', (i * side) % ?, side), 0
       from series, (select 1 as side union all select 2)`,
      0,
      conversations,
      users(conversations),
    );
    for (const [name, each, total] of [
      ["printf('direct:%08d', i / ?)", perConversation, perConversation * conversations],
      [`iif(?, '${largest}', '')`, inLargest, inLargest],
    ] as const) {
      for (let start = 0; start < total; start += chunk) {
        run(
          `${series} insert into entries (conversation_id, seq, id, kind, epoch, sender_id, sender_device_id, content, created_at)
           select ${name}, 1 + i % ?, lower(hex(randomblob(18))), 'application', 1, lower(hex(randomblob(18))),
             lower(hex(randomblob(18))), randomblob(${contentBytes}), i from series`,
          start,
          Math.min(start + chunk, total),
          each,
          each,
        );
      }
    }
    database.exec('analyze');
  } finally {
    database.close();
  }
}
