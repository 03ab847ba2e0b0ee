/**
 * How many ids `entriesQuery` takes: one more of them costs a fraction of one more question. Apart from that query
 * because the thread of SQLite needs it too, which loads no query builder.
 */
export const entriesAtOnce = 32;
