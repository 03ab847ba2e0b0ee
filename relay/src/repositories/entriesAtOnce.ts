/**
 * The number of ids that `entriesQuery` takes: one more of them costs a fraction of one more question. It is
 * apart from that query because SQLite's thread needs it too, which loads no query builder.
 */
export const entriesAtOnce = 32;
